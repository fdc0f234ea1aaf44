#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs show 2b000001-0000-4000-8000-000000000001 | has "build the numbat form" show
bs search numbat 2>&1 | has 2b search
bs prompts | has "numbat form" prompts
end
