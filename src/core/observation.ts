import type { ModelImage } from './model.ts';
import type { ActionType, DocumentSelection, LineRange, SelectMode } from './action.ts';
import type { ActionProblem } from './failure-codes.ts';
import type { PackageLayer } from './packages.ts';
import type { LimitReport } from './execution.ts';
import type { RunResult } from './outputs.ts';

/** The result of an action, as data. Renderers and vocabularies turn it into what a model reads. */
export type Observation =
  | SkillsFound
  | SkillLoaded
  | ResourcesListed
  | ResourceRead
  | DocumentsSelected
  | ScriptFound
  | PackagesInstalled
  | ProgramRan
  | CommandSeen
  | CommandKilled
  | FileRead
  | DirectoryListed
  | LinesFound
  | FileWritten
  | FileDeleted
  | ResponseReceived
  | ToolCalled
  | Answered
  | ActionFailed;

/** The skill an observation is about. */
export interface SkillIdentity {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  /** Absolute, with forward slashes. */
  readonly dir: string;
}

/** What was read and how much of it is shown (DISC-4). */
export interface LoadReport {
  /** Relative to the folder of the skill. */
  readonly path: string;
  /** `sha256:` of the whole file. */
  readonly digest: string;
  /** Bytes read from disk. */
  readonly bytes: number;
  /** Characters shown. */
  readonly characters: number;
  /** Whether less is shown than was requested. */
  readonly truncated: boolean;
  /** The offset at which to continue reading the file, if it was cut. */
  readonly next?: number;
  /** A reference to the whole file: `skill://name/path`. */
  readonly reference: string;
}

interface SkillsFound {
  readonly type: 'skills-found';
  readonly action: 'search_skills';
  readonly query: string;
  readonly results: readonly FoundSkill[];
}

interface FoundSkill {
  readonly id: string;
  /** Digest of the frontmatter. */
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
  /** `repeated`: the same content is already active and `text` is empty. `changed`: the content differs from last time. */
  readonly status: 'new' | 'repeated' | 'changed';
  /** The cleaned instructions; dynamic commands in them were not run. */
  readonly text: string;
  readonly report: LoadReport;
  readonly files: readonly ListedFile[];
  /** Whether there are more files than listed. */
  readonly filesCut: boolean;
  readonly documents: readonly ShownDocument[];
  /** The documents in effect after a load that named documents. */
  readonly selected?: DocumentSelection;
  /** Digests of the selected documents that were shown so far, by path. */
  readonly digests?: Readonly<Record<string, string>>;
  /** Requested documents that did not fit into this answer. */
  readonly omitted?: readonly string[];
  /** Remarks for the model or the person. */
  readonly notes: readonly string[];
}

/** A document shown together with its skill. */
interface ShownDocument {
  readonly text: string;
  readonly report: LoadReport;
}

const FILE_KINDS = ['script', 'reference', 'asset', 'document', 'other'] as const;
type FileKind = (typeof FILE_KINDS)[number];

interface ListedFile {
  readonly path: string;
  readonly bytes: number;
  readonly kind: FileKind;
  readonly isExecutable: boolean;
  /** Links are followed only inside the skill. */
  readonly isLink: boolean;
}

interface ResourcesListed {
  readonly type: 'resources-listed';
  readonly action: 'list_resources';
  readonly skill: SkillIdentity;
  readonly files: readonly ListedFile[];
  readonly filesCut: boolean;
}

interface ResourceRead {
  readonly type: 'resource-read';
  readonly action: 'read_resource';
  readonly skill: SkillIdentity;
  readonly mediaType: string;
  /** Binary files are described, not shown; then `text` is empty. */
  readonly isBinary: boolean;
  readonly text: string;
  /** The lines that are shown. */
  readonly lines: Required<LineRange>;
  /** Line count of the whole file. */
  readonly totalLines: number;
  readonly report: LoadReport;
  readonly notes: readonly string[];
  /** Existing headings, if the requested section does not exist. */
  readonly headings: readonly string[];
}

interface DocumentsSelected {
  readonly type: 'documents-selected';
  readonly action: 'select_documents';
  readonly skill: SkillIdentity;
  readonly mode: SelectMode;
  /** The complete selection after the change. */
  readonly selected: DocumentSelection;
  /** Digests of the selected documents that were shown so far, by path. */
  readonly digests?: Readonly<Record<string, string>>;
  /** Documents that were not shown before, or changed since. */
  readonly documents: readonly ShownDocument[];
  /** Requested documents that did not fit into this answer. */
  readonly omitted?: readonly string[];
  /** Why other requested documents are not shown. */
  readonly notes?: readonly string[];
}

interface ScriptFound {
  readonly type: 'script-found';
  readonly action: 'get_script_path';
  readonly skill: SkillIdentity;
  /** Absolute. */
  readonly path: string;
  readonly isExecutable: boolean;
}

/** Packages are ready for the programs of a skill. */
interface PackagesInstalled {
  readonly type: 'packages-installed';
  readonly action: 'install_packages';
  readonly skill: SkillIdentity;
  /** Whether they were installed before. */
  readonly isCached: boolean;
  readonly layer: PackageLayer;
}

/** A program ended; `result.reason` says how. */
type ProgramRan = Ran<'run_script'> | Ran<'run_command'>;

interface Ran<Type extends ActionType> {
  readonly type: 'program-ran';
  readonly action: Type;
  /** Absent if the command belongs to no skill. */
  readonly skill?: SkillIdentity;
  readonly result: RunResult;
  /** Absent in records of earlier versions. */
  readonly limits?: LimitReport;
}

/** The state of a command that may still be running. */
type CommandSeen = Seen<'start_command'> | Seen<'write_input'> | Seen<'poll_command'>;

interface Seen<Type extends ActionType> {
  readonly type: 'command-seen';
  readonly action: Type;
  readonly session: string;
  readonly status: 'running' | 'exited';
  readonly output: string;
  /** Number of output lines before and after `output`. */
  readonly offset: number;
  readonly nextOffset: number;
  readonly exitCode?: number;
  /** Set if the command seems to wait for input. */
  readonly question?: { readonly kind: 'prompt' | 'selection'; readonly hint: string };
  /** The final result, once the command has ended. */
  readonly result?: RunResult;
  /** Set together with `result`. */
  readonly limits?: LimitReport;
}

interface CommandKilled {
  readonly type: 'command-killed';
  readonly action: 'kill_command';
  readonly session: string;
  readonly status: 'exited' | 'killed';
  /** What the command left in folders of the user, which was renamed. */
  readonly warnings?: readonly string[];
}

interface FileRead {
  readonly type: 'file-read';
  readonly action: 'read_file';
  /** Relative to the project, or with a scheme. */
  readonly path: string;
  readonly mediaType: string;
  /** Binary files are described, not shown; then `text` is empty. */
  readonly isBinary: boolean;
  readonly text: string;
  readonly lines: Required<LineRange>;
  readonly totalLines: number;
  /** Size of the whole file. */
  readonly bytes: number;
  /** `sha256:` of the whole file. */
  readonly digest: string;
  readonly truncated: boolean;
  readonly notes: readonly string[];
}

const ENTRY_KINDS = ['file', 'folder', 'link', 'other'] as const;

interface DirectoryEntry {
  /** Relative to the listed folder. */
  readonly path: string;
  readonly kind: (typeof ENTRY_KINDS)[number];
  /** File size; 0 for other entries. */
  readonly bytes: number;
}

interface DirectoryListed {
  readonly type: 'directory-listed';
  readonly action: 'list_dir';
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
  readonly isCut: boolean;
}

interface FoundLine {
  /** A path that `read_file` accepts. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

interface LinesFound {
  readonly type: 'lines-found';
  readonly action: 'grep';
  readonly pattern: string;
  readonly matches: readonly FoundLine[];
  /** Number of files searched. */
  readonly files: number;
  /** Number of files skipped: binary, too large, or denied by a rule. */
  readonly skipped: number;
  /** Whether there are more matches or files than were searched. */
  readonly isCut: boolean;
  readonly notes: readonly string[];
}

interface FileWritten {
  readonly type: 'file-written';
  readonly action: 'write_file';
  readonly path: string;
  readonly bytes: number;
  readonly digest: string;
  /** Digest of the replaced content; absent for a new file. */
  readonly replaced?: string;
  /** Where the replaced content is kept, relative to the project; absent for a new file and in the workspace. */
  readonly kept?: string;
  /** Permissions of the file, which a replaced one had as well; absent in the workspace. */
  readonly mode?: number;
  /** The setuid, setgid and sticky bits of a replaced file, which the new one does not have; absent if there were none. */
  readonly specialBits?: number;
}

interface FileDeleted {
  readonly type: 'file-deleted';
  readonly action: 'delete_file';
  readonly path: string;
  /** Its new path, relative to the project. */
  readonly trash: string;
  /** Absent if the file was too large to be read. */
  readonly digest?: string;
  readonly bytes?: number;
  /** Permissions of the file; absent in the workspace. */
  readonly mode?: number;
  /** Its setuid, setgid and sticky bits; absent if there were none. */
  readonly specialBits?: number;
}

interface ResponseReceived {
  readonly type: 'response-received';
  readonly action: 'network_request';
  /** Final URL, after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly mediaType: string;
  readonly isBinary: boolean;
  readonly text: string;
  readonly bytes: number;
  readonly truncated: boolean;
  /** URLs visited before `url`. */
  readonly redirects: readonly string[];
}

/** The answer of a tool of an MCP server. */
export interface ToolCalled {
  readonly type: 'tool-called';
  readonly action: 'call_mcp_tool';
  readonly name: string;
  /** Text of the answer. Images, audio and other binary parts are described in it. */
  readonly text: string;
  /** Images that a model may see, within limits; long ones are files of the record. */
  readonly images?: readonly ModelImage[];
  /** The tool says that it failed. */
  readonly isError: boolean;
  readonly truncated: boolean;
}

interface Answered {
  readonly type: 'answered';
  readonly action: 'final_answer';
  readonly answer: string;
}

export interface ActionFailed extends ActionProblem {
  readonly type: 'failed';
  readonly action: ActionType;
  /** The same failure occurred too often; the run is over. */
  readonly isTerminal: boolean;
}

export function actionFailed(action: ActionType, cause: ActionProblem): ActionFailed {
  return { type: 'failed', action, ...cause, isTerminal: cause.code === 'run/ended' };
}
