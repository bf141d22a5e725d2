import type { ActionType, DocumentSelection, LineRange, SelectMode } from './action.ts';
import type { Failure } from './failure-codes.ts';
import type { RunResult } from './outputs.ts';

/** What came of an action. Data only; `render.ts` and the vocabularies turn it into what a model reads. */
export type Observation =
  | SkillsFound
  | SkillLoaded
  | ResourcesListed
  | ResourceRead
  | DocumentsSelected
  | ScriptFound
  | ProgramRan
  | CommandSeen
  | CommandKilled
  | FileRead
  | DirectoryListed
  | LinesFound
  | FileWritten
  | FileDeleted
  | ResponseReceived
  | Answered
  | ActionFailed;

/** The skill an observation is about. */
export interface SkillIdentity {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  /** Its folder, absolute, with forward slashes. */
  readonly dir: string;
}

/** What was read and what of it is shown (DISC-4). */
export interface LoadReport {
  /** Relative to the skill's folder. */
  readonly path: string;
  /** `sha256:` of the whole file's bytes. */
  readonly digest: string;
  /** Read from the disk. */
  readonly bytes: number;
  /** Shown. */
  readonly characters: number;
  /** Less is shown than was asked for. */
  readonly truncated: boolean;
  /** Where the whole can be had: `skill://name/path`. */
  readonly reference: string;
}

export interface SkillsFound {
  readonly type: 'skills-found';
  readonly action: 'search_skills';
  readonly query: string;
  readonly results: readonly FoundSkill[];
}

export interface FoundSkill {
  readonly id: string;
  /** Of its frontmatter. */
  readonly digest: string;
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly score: number;
}

export interface SkillLoaded {
  readonly type: 'skill-loaded';
  readonly action: 'load_skill';
  readonly skill: SkillIdentity;
  /** `repeated`: the same bytes are active already, and `text` is empty. `changed`: other bytes than the last time. */
  readonly status: 'new' | 'repeated' | 'changed';
  /** The instructions as a model may see them: cleaned, commands in them not run. */
  readonly text: string;
  readonly report: LoadReport;
  readonly files: readonly ListedFile[];
  /** There are more files than are listed. */
  readonly filesCut: boolean;
  readonly documents: readonly ShownDocument[];
  /** What is odd about it and worth a word to the model or the person. */
  readonly notes: readonly string[];
}

/** A document shown together with its skill. */
export interface ShownDocument {
  readonly text: string;
  readonly report: LoadReport;
}

export const FILE_KINDS = ['script', 'reference', 'asset', 'document', 'other'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

export interface ListedFile {
  readonly path: string;
  readonly bytes: number;
  readonly kind: FileKind;
  readonly isExecutable: boolean;
  /** A link; it is followed only inside the skill. */
  readonly isLink: boolean;
}

export interface ResourcesListed {
  readonly type: 'resources-listed';
  readonly action: 'list_resources';
  readonly skill: SkillIdentity;
  readonly files: readonly ListedFile[];
  readonly filesCut: boolean;
}

export interface ResourceRead {
  readonly type: 'resource-read';
  readonly action: 'read_resource';
  readonly skill: SkillIdentity;
  readonly mediaType: string;
  /** Binary files are described, not shown: `text` is empty. */
  readonly isBinary: boolean;
  readonly text: string;
  /** The lines shown. */
  readonly lines: Required<LineRange>;
  /** Of the whole file. */
  readonly totalLines: number;
  readonly report: LoadReport;
  readonly notes: readonly string[];
  /** Given where the section that was asked for is not there. */
  readonly headings: readonly string[];
}

export interface DocumentsSelected {
  readonly type: 'documents-selected';
  readonly action: 'select_documents';
  readonly skill: SkillIdentity;
  readonly mode: SelectMode;
  /** All that is selected now. */
  readonly selected: DocumentSelection;
  /** The documents that were not shown before. */
  readonly documents: readonly ShownDocument[];
}

export interface ScriptFound {
  readonly type: 'script-found';
  readonly action: 'get_script_path';
  readonly skill: SkillIdentity;
  /** Absolute. */
  readonly path: string;
  readonly isExecutable: boolean;
}

/** A program came to its end, one way or another: `result.reason` says which. */
export type ProgramRan = Ran<'run_script'> | Ran<'run_command'>;

interface Ran<Type extends ActionType> {
  readonly type: 'program-ran';
  readonly action: Type;
  /** Absent where the command belongs to no skill. */
  readonly skill?: SkillIdentity;
  readonly result: RunResult;
}

/** A look at a command that may still run. */
export type CommandSeen = Seen<'start_command'> | Seen<'write_input'> | Seen<'poll_command'>;

export interface Seen<Type extends ActionType> {
  readonly type: 'command-seen';
  readonly action: Type;
  readonly session: string;
  readonly status: 'running' | 'exited';
  readonly output: string;
  /** Lines of output before `output`, and after it. */
  readonly offset: number;
  readonly nextOffset: number;
  readonly exitCode?: number;
  /** It seems to wait for an answer. */
  readonly question?: { readonly kind: 'prompt' | 'selection'; readonly hint: string };
  /** All of it, once it is over. */
  readonly result?: RunResult;
}

export interface CommandKilled {
  readonly type: 'command-killed';
  readonly action: 'kill_command';
  readonly session: string;
  readonly status: 'exited' | 'killed';
}

export interface FileRead {
  readonly type: 'file-read';
  readonly action: 'read_file';
  /** Relative to the project, or with its scheme. */
  readonly path: string;
  readonly mediaType: string;
  /** Binary files are described, not shown: `text` is empty. */
  readonly isBinary: boolean;
  readonly text: string;
  readonly lines: Required<LineRange>;
  readonly totalLines: number;
  /** Of the whole file. */
  readonly bytes: number;
  /** `sha256:` of the whole file. */
  readonly digest: string;
  readonly truncated: boolean;
  readonly notes: readonly string[];
}

export const ENTRY_KINDS = ['file', 'folder', 'link', 'other'] as const;

export interface DirectoryEntry {
  /** Relative to the folder that was listed. */
  readonly path: string;
  readonly kind: (typeof ENTRY_KINDS)[number];
  /** Of a file; 0 otherwise. */
  readonly bytes: number;
}

export interface DirectoryListed {
  readonly type: 'directory-listed';
  readonly action: 'list_dir';
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
  readonly isCut: boolean;
}

export interface FoundLine {
  /** As `read_file` takes it. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface LinesFound {
  readonly type: 'lines-found';
  readonly action: 'grep';
  readonly pattern: string;
  readonly matches: readonly FoundLine[];
  /** Files that were searched. */
  readonly files: number;
  /** Files left out: binary, too large, or excluded by policy. */
  readonly skipped: number;
  /** There are more matches or more files than were looked at. */
  readonly isCut: boolean;
  readonly notes: readonly string[];
}

export interface FileWritten {
  readonly type: 'file-written';
  readonly action: 'write_file';
  readonly path: string;
  readonly bytes: number;
  readonly digest: string;
  /** Of what was there before; absent for a new file. */
  readonly replaced?: string;
}

export interface FileDeleted {
  readonly type: 'file-deleted';
  readonly action: 'delete_file';
  readonly path: string;
  /** Where it lies now, relative to the project. */
  readonly trash: string;
}

export interface ResponseReceived {
  readonly type: 'response-received';
  readonly action: 'network_request';
  /** Where the answer came from, after redirections. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly mediaType: string;
  readonly isBinary: boolean;
  readonly text: string;
  readonly bytes: number;
  readonly truncated: boolean;
  /** Addresses that were gone through before `url`. */
  readonly redirects: readonly string[];
}

export interface Answered {
  readonly type: 'answered';
  readonly action: 'final_answer';
  readonly answer: string;
}

export interface ActionFailed extends Failure {
  readonly type: 'failed';
  readonly action: ActionType;
  /** The same kind of failure came too often: the run is over. */
  readonly isTerminal: boolean;
}

/** A failure as what came of an action. */
export function actionFailed(action: ActionType, cause: Failure): ActionFailed {
  return { type: 'failed', action, ...cause, isTerminal: cause.code === 'run/ended' };
}

/** Who a skill is, of all that the index knows. */
export function identityOf({ id, name, source, dir }: SkillIdentity): SkillIdentity {
  return { id, name, source, dir };
}

/** Nothing came of the action. */
export function isFailed(observation: Observation): observation is ActionFailed {
  return observation.type === 'failed';
}
