#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
bs prompts | hasnot gibbon prompts
bs list | hasnot "<teammate" title
end
