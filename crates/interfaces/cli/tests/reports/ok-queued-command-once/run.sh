#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
is "$(bs show 2b00000d-0000-4000-8000-000000000001 | grep -c "also add the lemur tests")" 1 show
is "$(bs prompts | grep -c "lemur tests")" 1 prompts
end
