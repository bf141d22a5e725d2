/** Which actions a tool name in a rule means. A name means the same under every vocabulary. */
import type { compileGlob, Decision } from '#core';

export type PatternKind = 'packages' | 'command' | 'path' | 'host' | 'skill' | 'script' | 'none';

/** The kind of pattern that each tool takes in parentheses. */
export const PATTERN_KINDS: ReadonlyMap<string, PatternKind> = new Map([
  ['run_command', 'command'],
  ['run_script', 'script'],
  ['read_file', 'path'],
  ['list_dir', 'path'],
  ['grep', 'path'],
  ['write_file', 'path'],
  ['delete_file', 'path'],
  ['host_input', 'path'],
  ['mount_write', 'path'],
  ['network_request', 'host'],
  ['use_network', 'host'],
  ['use_secret', 'skill'],
  ['load_skill', 'skill'],
  ['read_resource', 'path'],
  ['list_resources', 'path'],
  ['install_packages', 'packages'],
  ['unlisted_packages', 'packages'],
]);

/**
 * Tool names of other systems. `Bash` also runs scripts there, so it covers both tools; `Read` covers everything that reads, as in Claude
 * Code.
 */
const OTHER_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['Bash', ['run_command', 'run_script']],
  ['Shell', ['run_command', 'run_script']],
  ['Read', ['read_file', 'list_dir', 'grep']],
  ['Glob', ['list_dir']],
  ['LS', ['list_dir']],
  ['Grep', ['grep']],
  ['Write', ['write_file']],
  ['Edit', ['write_file']],
  ['MultiEdit', ['write_file']],
  ['NotebookEdit', ['write_file']],
  ['WebFetch', ['network_request']],
  ['Skill', ['load_skill']],
  // The spelling of `execution.require_approval_for` in skills-agent.
  ['network', ['network_request']],
  // Tools of the vocabularies.
  ['list_files', ['list_dir']],
  ['search_files', ['grep']],
  ['edit_file', ['write_file']],
  ['load_skill_asset', ['read_resource']],
  ['get_skill_script_path', ['get_script_path']],
  ['list_skill_assets', ['list_resources']],
  ['list_skills', ['search_skills']],
  ['run_shell_command', ['run_command', 'run_script']],
  ['skill_load', ['load_skill']],
  ['skill_select_docs', ['select_documents']],
  ['skill_list_docs', ['list_resources']],
  ['skill_run', ['run_command', 'run_script']],
  ['skill_exec', ['run_command']],
  ['start_command', ['run_command']],
  ['skill_write_stdin', ['write_input']],
  ['skill_poll_session', ['poll_command']],
  ['skill_kill_session', ['kill_command']],
  ['workspace_exec', ['run_command']],
  ['skill_request', ['load_skill']],
  ['file_read', ['read_file']],
  ['shell_exec', ['run_command', 'run_script']],
  ['file_write', ['write_file']],
  ['select_skills', ['load_skill']],
  ['load_resource', ['read_resource']],
]);

/** What a deny or ask rule for a tool also reaches. An allow rule does not extend that far. */
const REACHED_TOO: ReadonlyMap<string, readonly string[]> = new Map([
  // A file that may not be read is no input either. The tool `read_file` also reads files of skills.
  ['read_file', ['host_input', 'read_resource']],
  ['list_dir', ['list_resources']],
  // A host that may not be asked may not be reached by programs.
  ['network_request', ['use_network']],
]);

/** Our name for a tool of another system; unknown names are returned unchanged. */
export function ownName(tool: string): string {
  return OTHER_NAMES.get(tool)?.[0] ?? tool;
}

/**
 * The actions that a rule with this name decides about, the one that its pattern is for first. The name itself is the last: the calling
 * program may have a tool of that name.
 */
export function actionsOfTool(name: string, effect: Decision['effect']): readonly string[] {
  const named = OTHER_NAMES.get(name) ?? [];
  const also = effect === 'allow' ? [] : [...named, name].flatMap((action) => REACHED_TOO.get(action) ?? []);
  return named.length === 0 ? [name, ...also] : [...named, ...also, name];
}

/** The same for a name with `*`, without actions whose own names match. Allow rules match names of actions only. */
export function actionsOfTools(
  { matches }: Pick<ReturnType<typeof compileGlob>, 'matches'>,
  effect: Decision['effect'],
): readonly string[] {
  if (effect === 'allow') return [];
  const names = [...OTHER_NAMES.keys(), ...REACHED_TOO.keys()].filter(matches);
  return [...new Set(names.flatMap((name) => actionsOfTool(name, effect)))];
}
