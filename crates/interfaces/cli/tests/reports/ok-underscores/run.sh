#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
mkdir -p "$H/feat_ana_1"; cd "$H/feat_ana_1"
is "$(bs list --here --json 2>/dev/null | json "len(d['sessions'])")" 1 "list --here"
end
