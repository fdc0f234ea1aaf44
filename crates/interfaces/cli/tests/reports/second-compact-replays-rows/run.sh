#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
is "$(bs show 2b000008-0000-4000-8000-000000000001 | grep -c "alpha koala")" 2 "alpha shown (title and text)"
is "$(bs show 2b000008-0000-4000-8000-000000000001 --prompts --json | json "len(d.get('messages',d.get('prompts',d)))")" 4 prompts
bs show 2b000008-0000-4000-8000-000000000001 | has "gamma koala" show
is "$(total | cut -d" " -f1)" 400/40/0/0 tokens
end
