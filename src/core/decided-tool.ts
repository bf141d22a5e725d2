import type { ActionFailed } from './observation.ts';

/** Parts of a call that rules name and no vocabulary has as a tool. */
const RULE_WORDS: ReadonlyMap<string, string> = new Map([
  ['host_input', 'a host:// input'],
  ['mount_write', 'a writable folder of the host'],
  ['use_network', 'network access'],
  ['use_secret', 'a secret'],
  ['unsafe_local', 'running without isolation'],
  ['install_packages', 'installing packages'],
  ['unlisted_packages', 'installing packages that the skill does not declare'],
]);
const RULE_NAME =
  /^(a person refused )?([a-z]+(?:_[a-z]+)*)(?= is allowed| is not allowed| was not approved| needs approval|: |$)/;

/** A decision names the tool as rules do; the model called it by the name of its vocabulary (absent: the same). */
export function withToolName<Named extends Pick<ActionFailed, 'code' | 'message'>>(
  tool: string | undefined,
  failed: Named,
): Named {
  if (tool === undefined || !/^(?:policy|approval)\//.test(failed.code)) return failed;
  const rename = (_: string, start = '', name = ''): string => {
    const words = RULE_WORDS.get(name);
    return `${start}${words === undefined ? tool : `${words} of ${tool}`}`;
  };
  return { ...failed, message: failed.message.replace(RULE_NAME, rename) };
}

/** The name of the tool in a question; a part of a call keeps the name that rules have for it. */
export function shownTool(tool: string | undefined, decided: string): string {
  return tool === undefined || RULE_WORDS.has(decided) ? decided : tool;
}
