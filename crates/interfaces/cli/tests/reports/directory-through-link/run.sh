#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
mkdir -p "$H/real"; ln -s "$H/real" "$H/link"
for d in real link; do cd "$H/$d"; is "$(bs list --here --json 2>/dev/null | json "len(d['sessions'])")" 2 "list --here in $d"; done
end
