#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs show 2b000004-0000-4000-8000-000000000001 | has "bettong list done" show
bs show 2b000004-0000-4000-8000-000000000001 | has "quokka plan" show
end
