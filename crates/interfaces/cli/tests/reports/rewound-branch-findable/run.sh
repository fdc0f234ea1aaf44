#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs show 2b00000a-0000-4000-8000-000000000001 | has "glider way tried" show
bs search pademelon 2>&1 | hasnot "No matches" search
bs prompts | has "pademelon way" prompts
end
