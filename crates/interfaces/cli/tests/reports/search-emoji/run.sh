#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs search --json --mode lexical "⭐️" 2>/dev/null | json "len(d['hits'])>0" | has True "search"
end
