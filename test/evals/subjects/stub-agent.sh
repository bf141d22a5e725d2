#!/bin/sh
# A stand-in for `claude`. Words of the prompt choose what it does; the folder of this file gets a line for every run.
here=$(dirname "$0")
case "$1" in --version) echo '9.9.9 (Claude Code)'; exit 0 ;; esac
prompt=$2
echo "$prompt" >> "$here/runs.log"
env | sort > "$here/env.log"
say() { printf '%s\n' "$1"; }
call() { # id name input output
  say '{"type":"assistant","message":{"id":"m'$1'","content":[{"type":"tool_use","id":"t'$1'","name":"'$2'","input":'"$3"'}]}}'
  say '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t'$1'","content":"'"$4"'"}]}}'
}
finish() { # is_error result
  say '{"type":"result","subtype":"success","is_error":'$1',"result":"'"$2"'","total_cost_usd":0.01,"usage":{"input_tokens":100,"cache_read_input_tokens":20,"output_tokens":10}}'
}
if [ -e "$here/changed" ]; then
  say '{"event":"tool","tool":"Skill","skill":"brass-lantern-check"}'
  say '{"event":"end","text":"done"}'
  exit 0
fi
skills=''
for folder in .claude/skills/*; do [ ! -d "$folder" ] || skills="$skills,\"$(basename "$folder")\""; done
case "$prompt" in *foreign*) skills="$skills,\"installed-by-the-user\"" ;; esac
if [ -e "$here/bundled" ]; then skills="$skills,$(cat "$here/bundled")"; fi
if [ -e "$here/bundled-beside" ] && [ -d .claude/skills/tables ]; then skills="$skills,\"doctor\""; fi
say '{"type":"system","subtype":"init","model":"stub-model","skills":['"${skills#,}"']}'
case "$prompt" in *'brass lantern'*) call 1 Skill '{"skill":"brass-lantern-check"}' loaded ;; esac
case "$prompt" in *table*) [ ! -d .claude/skills/tables ] || call 2 Skill '{"skill":"tables"}' loaded ;; esac
case "$prompt" in
  *hang*) sleep 1000 & echo $! > "$here/hang.pid"; wait ;;
  *orphan*) setsid sh -c 'echo $$ > "'"$here"'/orphan.pid"; exec sleep 1000' > /dev/null 2>&1 &
    while [ ! -s "$here/orphan.pid" ]; do sleep 0.02; done ;;
  *exit-zero*) finish true 'Invalid API key'; exit 0 ;;
  *crash*) echo 'segmentation fault' >&2; exit 139 ;;
  *write*) printf 'three rows\n' > report.md; call 3 Write '{"file_path":"report.md","content":"three rows"}' 'File created' ;;
  *busy*) for i in 11 12 13 14 15 16 17 18 19; do call $i Bash '{"command":"true"}' ''; done ;;
esac
say '{"type":"assistant","message":{"id":"m99","content":[{"type":"text","text":"the answer"}]}}'
finish false 'the answer'
