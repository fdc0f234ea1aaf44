#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs show 2b000009-0000-4000-8000-000000000001 | has "quokka plan written" show
bs show 2b000009-0000-4000-8000-000000000001 | has "cassowary map done" show
end
