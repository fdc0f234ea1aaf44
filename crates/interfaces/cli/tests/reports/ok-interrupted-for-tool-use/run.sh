#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
is "$(bs prompts | grep -c "Request interrupted")" 0 prompts
bs list --json | json "d['sessions'][0].get('last_prompt')" | hasnot interrupted last_prompt
end
