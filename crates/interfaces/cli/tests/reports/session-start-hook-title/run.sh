#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
is "$(bs list --json | json "d['sessions'][0]['title']")" "draw the ocelot logo" title
bs prompts | hasnot EXTREMELY_IMPORTANT prompts
end
