import type { OutputParameters } from './outputs.ts';

/**
 * Everything a model or a person can ask of a skill. A vocabulary turns its tools' inputs into these; each yields exactly one
 * `Observation`. Nothing here runs anything.
 */
export type Action =
  | SearchSkills
  | LoadSkill
  | ListResources
  | ReadResource
  | SelectDocuments
  | GetScriptPath
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
  | DeleteFile
  | NetworkRequest
  | FinalAnswer;

export type ActionType = Action['type'];

/** Who performs an action: those who read skills, who run programs, or who use files of the project and servers. */
const ACTION_KINDS = {
  search_skills: 'search',
  load_skill: 'skill',
  list_resources: 'skill',
  read_resource: 'skill',
  select_documents: 'skill',
  get_script_path: 'skill',
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
  delete_file: 'host',
  network_request: 'host',
  final_answer: 'answer',
} as const satisfies Record<ActionType, string>;

type ActionKinds = typeof ACTION_KINDS;

/** The actions of one kind. */
export type ActionOfKind<Kind extends ActionKinds[ActionType]> = Extract<
  Action,
  { readonly type: { [Type in ActionType]: ActionKinds[Type] extends Kind ? Type : never }[ActionType] }
>;

export function isOfKind<Kind extends ActionKinds[ActionType]>(
  action: Action,
  kind: Kind,
): action is ActionOfKind<Kind> {
  return ACTION_KINDS[action.type] === kind;
}

/** Which skill: `name`, `source/name`, `group/name` or an id; `source` narrows it. */
interface OnSkill {
  readonly skill: string;
  readonly source?: string;
}

/** The best skills for a query, by name and description. */
export interface SearchSkills {
  readonly type: 'search_skills';
  readonly query: string;
  /** 5 */
  readonly n?: number;
}

/** Level 2: a skill's instructions, and with them the documents that are asked for. */
export interface LoadSkill extends OnSkill {
  readonly type: 'load_skill';
  /** Documents to show with it; replaces an earlier selection. Absent: the selection stays as it is. */
  readonly documents?: DocumentSelection;
  /** The whole SKILL.md, frontmatter included. */
  readonly whole?: boolean;
}

/** The names, sizes and kinds of a skill's files. No file is opened. */
export interface ListResources extends OnSkill {
  readonly type: 'list_resources';
  /** Only what lies below this folder of the skill. */
  readonly folder?: string;
}

/** Level 3: one file, whole, by section or by lines. */
export interface ReadResource extends OnSkill {
  readonly type: 'read_resource';
  readonly path: string;
  /** A heading; the text from it to the next heading of the same level. */
  readonly section?: string;
  readonly lines?: LineRange;
}

/** 1-based, both ends included; an open end reads on as far as the limit allows. */
export interface LineRange {
  readonly from: number;
  readonly to?: number;
}

/** Every document of a skill, or those named. */
export type DocumentSelection = '*' | readonly string[];

export const SELECT_MODES = ['add', 'replace', 'clear'] as const;
export type SelectMode = (typeof SELECT_MODES)[number];

/** Which documents (`.md` and `.txt`) of a skill are shown with it. */
export interface SelectDocuments extends OnSkill {
  readonly type: 'select_documents';
  readonly mode: SelectMode;
  readonly documents: DocumentSelection;
}

/** Where a script lies, for somebody else's shell. */
export interface GetScriptPath extends OnSkill {
  readonly type: 'get_script_path';
  /** Below `scripts/`; the folder may be named or left out. */
  readonly script: string;
}

/** A file brought into the workspace before a program runs (EXEC-4). */
export interface InputRequest {
  /** `artifact://name[@version]`, `host://path`, `workspace://path` or `skill://name/path`. */
  readonly from: string;
  /** Below the workspace; `work/inputs/<name>` where nothing is said. */
  readonly to?: string;
  readonly mode?: 'copy' | 'link';
  /** Take the version that was found the first time. */
  readonly pin?: boolean;
}

/** The host paths that an action brings into the workspace. */
export function hostInputsOf(action: Action): readonly string[] {
  const inputs = 'inputs' in action ? (action.inputs ?? []) : [];
  return inputs.flatMap(({ from }) => (from.startsWith('host://') ? [from.slice('host://'.length)] : []));
}

/** What a program is given besides its words, and what is wanted of the files it leaves. */
interface ProgramParts {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly timeoutSeconds?: number;
  readonly inputs?: readonly InputRequest[];
  readonly outputs?: OutputParameters;
}

/** A script of a skill with its arguments; no shell reads them. */
export interface RunScript extends OnSkill, ProgramParts {
  readonly type: 'run_script';
  /** Below `scripts/`; the folder may be named or left out. */
  readonly script: string;
  readonly args: readonly string[];
}

/** A shell line: from the folder of a skill where one is named, else from `work`. */
interface CommandParts extends ProgramParts {
  readonly skill?: string;
  readonly source?: string;
  readonly command: string;
  /** Relative to where it starts, or below the workspace. */
  readonly cwd?: string;
  /** What an editor that the command opens will have written. */
  readonly editorText?: string;
}

export interface RunCommand extends CommandParts {
  readonly type: 'run_command';
}

/** How long to wait for output, and how much of it to give. */
interface Waiting {
  readonly yieldMs?: number;
  readonly pollLines?: number;
}

/** A command that goes on while the model does other things or answers its questions. */
export interface StartCommand extends CommandParts, Waiting {
  readonly type: 'start_command';
  readonly terminal?: boolean;
}

export interface WriteInput extends Waiting {
  readonly type: 'write_input';
  readonly session: string;
  readonly chars: string;
  /** A line end comes after them. */
  readonly submit: boolean;
}

export interface PollCommand extends Waiting {
  readonly type: 'poll_command';
  readonly session: string;
}

export interface KillCommand {
  readonly type: 'kill_command';
  readonly session: string;
}

/** A file of the project; of the workspace, `workspace://path`; or of a loaded skill, `skill://name/path`. */
export interface ReadFile {
  readonly type: 'read_file';
  readonly path: string;
  readonly lines?: LineRange;
}

export interface ListDirectory {
  readonly type: 'list_dir';
  /** As for `read_file`; `.` is the project. */
  readonly path: string;
  /** Folders below it that are looked into; 1 is the folder alone. */
  readonly depth?: number;
}

/** Lines that an expression finds, in one file or below one folder. */
export interface Grep {
  readonly type: 'grep';
  /** A regular expression of JavaScript. */
  readonly pattern: string;
  /** As for `list_dir`. */
  readonly path: string;
  /** Only files that this pattern means, such as `**\/*.ts`. */
  readonly glob?: string;
  readonly ignoreCase?: boolean;
  readonly maxMatches?: number;
}

/** Writes a whole file of the project or of the workspace; folders on the way are made. */
export interface WriteFile {
  readonly type: 'write_file';
  readonly path: string;
  readonly content: string;
}

/** Puts a file into the trash of the project. */
export interface DeleteFile {
  readonly type: 'delete_file';
  readonly path: string;
}

export interface NetworkRequest {
  readonly type: 'network_request';
  readonly url: string;
  /** GET */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface FinalAnswer {
  readonly type: 'final_answer';
  readonly answer: string;
}
