#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
mkdir -p "$H/dot"; mv "$H/.claude/projects/-home-ana-shop" "$H/dot/p"; ln -s "$H/dot/p" "$H/.claude/projects/-home-ana-shop"
is "$(bs list --json | json "len(d['sessions'])")" 1 list
bs search quokka 2>&1 | hasnot "No matches" search
end
