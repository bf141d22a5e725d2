import type { OutputParameters } from './outputs.ts';

/**
 * What a model or a person can request in a session. A vocabulary translates its tool inputs into actions; each action yields exactly one
 * `Observation`.
 */
export type Action =
  | SearchSkills
  | LoadSkill
  | ListResources
  | ReadResource
  | SelectDocuments
  | GetScriptPath
  | InstallPackages
  | RunScript
  | RunCommand
  | StartCommand
  | WriteInput
  | PollCommand
  | KillCommand
  | ReadFile
  | ListDirectory
  | Grep
  | WriteFile
  | EditFile
  | DeleteFile
  | NetworkRequest
  | CallMcpTool
  | FinalAnswer;

export type ActionType = Action['type'];

/** Which part of the runtime performs an action. */
const ACTION_KINDS = {
  search_skills: 'search',
  load_skill: 'skill',
  list_resources: 'skill',
  read_resource: 'skill',
  select_documents: 'skill',
  get_script_path: 'skill',
  install_packages: 'packages',
  run_script: 'program',
  run_command: 'program',
  start_command: 'program',
  write_input: 'program',
  poll_command: 'program',
  kill_command: 'program',
  read_file: 'host',
  list_dir: 'host',
  grep: 'host',
  write_file: 'host',
  edit_file: 'host',
  delete_file: 'host',
  network_request: 'host',
  call_mcp_tool: 'server',
  final_answer: 'answer',
} as const satisfies Record<ActionType, string>;

type ActionKinds = typeof ACTION_KINDS;

/** The actions of one kind. */
export type ActionOfKind<Kind extends ActionKinds[ActionType]> = Extract<
  Action,
  { readonly type: { [Type in ActionType]: ActionKinds[Type] extends Kind ? Type : never }[ActionType] }
>;

export function isOfKind<Kind extends ActionKinds[ActionType]>(
  action: Pick<Action, 'type'>,
  kind: Kind,
): action is ActionOfKind<Kind> {
  return ACTION_KINDS[action.type] === kind;
}

/** The actions that start a program. */
export type ProgramAction = Extract<Action, { readonly type: 'run_script' | 'run_command' | 'start_command' }>;

export function startsProgram<Some extends { readonly type: string }>(
  action: Some,
): action is Extract<Some, ProgramAction> {
  return action.type === 'run_script' || action.type === 'run_command' || action.type === 'start_command';
}

/** A skill by `name`, `source/name`, `group/name` or id; `source` restricts the lookup. */
interface OnSkill {
  readonly skill: string;
  readonly source?: string;
}

/** Searches skills by name and description. */
interface SearchSkills {
  readonly type: 'search_skills';
  readonly query: string;
  /** Number of results (default: 5). */
  readonly n?: number;
}

/** Level 2: loads the instructions of a skill, and optionally some of its documents. */
interface LoadSkill extends OnSkill {
  readonly type: 'load_skill';
  /** Documents to show with it; replaces an earlier selection. If absent, the selection stays. */
  readonly documents?: DocumentSelection;
  /** Returns the whole SKILL.md, including the frontmatter. */
  readonly whole?: boolean;
  /** Cuts the body only at limits that the configuration sets, not at the default ones. */
  readonly uncut?: boolean;
  /** Returns the text also if it was returned before, unless the caller keeps the whole conversation. */
  readonly again?: boolean;
  /** For a person or the program, before the model asks: returns the text whatever is loaded, and so does the first load of the model. */
  readonly preload?: boolean;
}

/** Lists names, sizes and kinds of a skill's files without opening them. */
interface ListResources extends OnSkill {
  readonly type: 'list_resources';
  /** Lists only files below this folder of the skill. */
  readonly folder?: string;
}

/** Level 3: reads one file, whole, by section or by lines. */
interface ReadResource extends OnSkill {
  readonly type: 'read_resource';
  readonly path: string;
  /** A heading; selects the text up to the next heading of the same level. */
  readonly section?: string;
  readonly lines?: LineRange;
  /** Where to continue a file that was cut: `next` of the earlier report. */
  readonly offset?: number;
}

/** 1-based and inclusive; without `to`, reads up to the limit. */
export interface LineRange {
  readonly from: number;
  readonly to?: number;
}

/** All documents of a skill, or the named ones. */
export type DocumentSelection = '*' | readonly string[];

export type SelectMode = 'add' | 'replace' | 'clear';

/** Selects which documents (`.md` and `.txt`) are shown with a skill. */
interface SelectDocuments extends OnSkill {
  readonly type: 'select_documents';
  readonly mode: SelectMode;
  readonly documents: DocumentSelection;
  /** Where to continue documents that were cut. Documents with an offset are shown again. */
  readonly offset?: number;
}

/** Returns the path of a script, for callers that run it themselves. */
interface GetScriptPath extends OnSkill {
  readonly type: 'get_script_path';
  /** Relative to `scripts/`; the prefix is optional. */
  readonly script: string;
}

/** Installs packages for the programs of a skill, or of the session, in a layer beside it; the skill itself stays as it is. */
interface InstallPackages extends Partial<OnSkill> {
  readonly type: 'install_packages';
  /** As on the command line: `pypdf>=4`, `npm:docx@9`. One kind of package for each action. */
  readonly packages: readonly string[];
  /** Whether a file of the skill, the configuration or a person names all of them. */
  readonly isDeclared: boolean;
}

/** A file brought into the workspace before a program runs (EXEC-4). */
export interface InputRequest {
  /** `artifact://name[@version]`, `host://path`, `workspace://path` or `skill://name/path`. */
  readonly from: string;
  /** Relative to the workspace (default: `work/inputs/<name>`). */
  readonly to?: string;
  readonly mode?: 'copy' | 'link';
  /** Reuse the version that was found the first time. */
  readonly pin?: boolean;
}

/** The host paths that an action brings into the workspace. */
export function listHostInputs(action: Action): readonly string[] {
  const inputs = 'inputs' in action ? (action.inputs ?? []) : [];
  return inputs.flatMap(({ from }) => (from.startsWith('host://') ? [from.slice('host://'.length)] : []));
}

/** Environment, input files and wanted outputs of a program. */
interface ProgramParts {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly timeoutSeconds?: number;
  readonly inputs?: readonly InputRequest[];
  readonly outputs?: OutputParameters;
  /** Packages to install for the skill first, as on the command line. Later programs of the skill in the session get them too. */
  readonly packages?: readonly string[];
}

/** Runs a script of a skill with its arguments, without a shell. */
export interface RunScript extends OnSkill, ProgramParts {
  readonly type: 'run_script';
  /** Relative to `scripts/`; the prefix is optional. */
  readonly script: string;
  /** `script` is relative to the skill folder: a person may run any file of a skill. */
  readonly anywhere?: true;
  readonly args: readonly string[];
}

/** A shell command; it starts in the folder of the named skill, or in `work`. */
interface CommandParts extends ProgramParts {
  readonly skill?: string;
  readonly source?: string;
  readonly command: string;
  /** Relative to the starting folder, or an absolute path in the workspace. */
  readonly cwd?: string;
  /** The text that an editor opened by the command will have written. */
  readonly editorText?: string;
}

interface RunCommand extends CommandParts {
  readonly type: 'run_command';
}

/** How long to wait for output, and how many lines to return. */
interface Waiting {
  readonly yieldMs?: number;
  readonly pollLines?: number;
}

/** Starts a command that keeps running while the model does other things or answers its prompts. */
interface StartCommand extends CommandParts, Waiting {
  readonly type: 'start_command';
  readonly terminal?: boolean;
}

interface WriteInput extends Waiting {
  readonly type: 'write_input';
  readonly session: string;
  readonly chars: string;
  /** Appends a line feed. */
  readonly submit: boolean;
}

interface PollCommand extends Waiting {
  readonly type: 'poll_command';
  readonly session: string;
}

interface KillCommand {
  readonly type: 'kill_command';
  readonly session: string;
}

/** Reads a file of the project, of the workspace (`workspace://path`) or of a loaded skill (`skill://name/path`). */
interface ReadFile {
  readonly type: 'read_file';
  readonly path: string;
  readonly lines?: LineRange;
}

interface ListDirectory {
  readonly type: 'list_dir';
  /** Like the path of `read_file`; `.` is the project. */
  readonly path: string;
  /** Levels to descend; 1 lists only the folder itself. */
  readonly depth?: number;
}

/** Finds lines that match a regular expression, in one file or below one folder. */
export interface Grep {
  readonly type: 'grep';
  /** A JavaScript regular expression. */
  readonly pattern: string;
  /** Like the path of `list_dir`. */
  readonly path: string;
  /** Searches only files that match this glob, such as `**\/*.ts`. */
  readonly glob?: string;
  readonly ignoreCase?: boolean;
  readonly maxMatches?: number;
}

/** Writes a whole file of the project or the workspace; creates missing folders. */
interface WriteFile {
  readonly type: 'write_file';
  readonly path: string;
  readonly content: string;
}

/** Replaces one passage of a file of the project or the workspace. The passage must occur exactly once. */
interface EditFile {
  readonly type: 'edit_file';
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

/** Moves a file to the trash of the project. */
interface DeleteFile {
  readonly type: 'delete_file';
  readonly path: string;
}

export interface NetworkRequest {
  readonly type: 'network_request';
  readonly url: string;
  /** Default: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Calls a tool of an MCP server. */
export interface CallMcpTool {
  readonly type: 'call_mcp_tool';
  /** `mcp__server__tool`, as rules name it. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface FinalAnswer {
  readonly type: 'final_answer';
  readonly answer: string;
}
