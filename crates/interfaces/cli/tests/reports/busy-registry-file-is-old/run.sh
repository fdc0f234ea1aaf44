#!/bin/bash
. "$(dirname "$0")/../lib.sh" "$@"
sleep 60 & P=$!; trap 'kill $P; rm -rf "$TOP"' EXIT
S="$(cut -d" " -f22 /proc/$P/stat)"; mkdir -p "$H/.claude/sessions"
T=$(( ($(date +%s)-840)*1000 ))
echo '{"pid":'$P',"sessionId":"2b000025-0000-4000-8000-000000000001","cwd":"/home/ana/shop","startedAt":'$T',"procStart":"'$S'","version":"2.1.300","kind":"interactive","entrypoint":"cli","status":"busy","updatedAt":'$T',"statusUpdatedAt":'$T'}' > "$H/.claude/sessions/$P.json"
touch -d @$((T/1000)) "$H/.claude/sessions/$P.json"
bs list --json | json "(d['sessions'][0]['is_running'])" | has True is_running
bs list --json | json "str(d['sessions'][0].get('activity'))" | hasnot idle activity
end
