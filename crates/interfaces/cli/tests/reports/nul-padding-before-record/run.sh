#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs show 2b000002-0000-4000-8000-000000000001 | has "build the potoroo form" show
bs prompts | has "potoroo form" prompts
end
