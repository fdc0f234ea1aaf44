#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs show 2b000006-0000-4000-8000-000000000001 | has "add the bandicoot filter" show
end
