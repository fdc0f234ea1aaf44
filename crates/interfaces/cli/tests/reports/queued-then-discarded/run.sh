#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs search tamarin 2>&1 | hasnot "No matches" search
bs prompts | has "tamarin build" prompts
bs show 2b00000b-0000-4000-8000-000000000001 | has "tamarin build" show
end
