import { shellWord } from '#core';
import { DEADLINE_MS, HOOK_VARIABLES, SERVE, START } from './hook-folder.ts';

/**
 * The script that agents start on each prompt. It asks the resident process with curl, because starting Node takes longer than the whole
 * answer; without curl or without the process it starts Node. It always exits with 0: some agents block a prompt whose hook fails.
 */
export function hookScript({ node, program }: { readonly node: string; readonly program: string }): string {
  const headers = HOOK_VARIABLES.map((name) => `-H "X-${name.replaceAll('_', '-')}: $${name}"`).join(' ');
  return `# Written by skillwright activate; skillwright activate --remove deletes it.
# Reads the prompt of an agent and prints skills that fit it. If anything fails, it prints nothing.
exec 2>/dev/null
folder=\${0%/*} socket=\${0%/*}/socket agent=$1
[ -n "$HOME" ] && [ -O "$folder" ] || exit 0
# Node reads certificates and preloads modules before anything else, and nothing here needs them.
unset NODE_EXTRA_CA_CERTS NODE_OPTIONS
node=${shellWord(node)}
[ -x "$node" ] || node=node
program=${shellWord(program)}
answer() { "$node" "$program" "$agent" "$folder"; }
if [ -S "$socket" ] && [ -O "$socket" ] && command -v curl >/dev/null; then
  input=$(cat)
  output=$(printf %s "$input" | curl -qsf --max-time ${String(DEADLINE_MS / 1000)} --noproxy '*' --unix-socket "$socket" -H 'Expect:' \\
    ${headers} \\
    --data-binary @- "http://localhost/$agent")
  case $? in
    0) printf %s "$output"; exit 0 ;;
    7 | 52 | 56) ;; # No process listens, or it ended.
    28) echo "$agent: the resident process gave no answer within ${String(DEADLINE_MS)} ms" >"$folder/last-failure"; exit 0 ;;
    *) exit 0 ;;
  esac
  printf %s "$input" | answer
else answer; fi
status=$?
case $status in
  0) ;;
  ${String(START)}) "$node" "$program" ${SERVE} "$folder" "$agent" "$PWD" </dev/null >/dev/null 2>&1 & ;;
  *) rm -f "$folder/compiled.bin" ;; # It must not start from the same compiled code again.
esac
exit 0
`;
}
