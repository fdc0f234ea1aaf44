#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
is "$(bs list --json | json "d['sessions'][0]['title']")" "fix the tapir login" title
is "$(bs prompts | grep -c Caveat)" 0 prompts
end
