#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
ZONE=America/Los_Angeles
bs cost --by day --json | has "2026-01-24" day
bs cost --by day --json | json "[r for r in d.get('rows',d.get('groups',[]))]" | hasnot "2026-01-25" day
end
