#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs show 2b000005-0000-4000-8000-000000000001 | has "add the wombat filter" show
bs prompts | has "wombat filter" prompts
end
