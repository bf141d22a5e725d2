import type { Action, ActionType } from './action.ts';
import type { CatalogFormat } from './catalog-layout.ts';
import type { ActionProblem } from './failure-codes.ts';
import type { ObjectSchema } from './json/json-schema.ts';
import type { ForeignSchema } from './tool-servers.ts';
import type { ActionFailed, Observation } from './observation.ts';
import type { Profile } from './profile.ts';
import type { Placement, SessionState } from './session.ts';

/** What the runtime can do; tools that could not work are not offered. */
export interface Offer {
  /** Skills that a model can choose, in a stable order. */
  readonly skills: readonly string[];
  /** The folder of each of `skills`, by its name without those above. */
  readonly folders: readonly string[];
  /** Tools about skills are offered even if `skills` is empty. */
  readonly keepsTools?: boolean;
  /** Why `skills` is empty, and what to do; absent if it is not. */
  readonly emptyReason?: string;
  /** Where loaded instructions are placed. */
  readonly placement: Placement;
  /** Absent: programs cannot be run, and no tool for them is offered. */
  readonly execution?: ExecutionOffer;
  /** Absent: only files of skills can be used. */
  readonly host?: HostOffer;
  /**
   * Resolves a path to a file of a skill: absolute below a skill folder, `name/path` or `skill://name/path`. The file system is not
   * accessed, and `path` stays unchecked.
   */
  locate(path: string): LocatedPath | undefined;
  /** The first skill whose folder a command names by its absolute path, as actions refer to it. */
  locateInCommand(command: string): string | undefined;
  /** The skills whose instructions are in the conversation now, most recently used first. */
  loaded(): readonly Pick<LoadedContent, 'id' | 'name' | 'files'>[];
}

interface ExecutionOffer {
  /** Whether running commands can be interacted with. */
  readonly hasInteraction: boolean;
  /** What programs may do with the project; absent if they do not see it. */
  readonly project?: 'read' | 'write';
  /** Whether packages can be installed for programs. */
  readonly hasPackages?: boolean;
}

interface HostOffer {
  /** Whether network requests are possible. */
  readonly hasNetwork: boolean;
  /** Whether a relative path leads to a file or folder of the project, even if its start is the name of a skill. */
  readonly hasFile?: (path: string) => boolean;
}

interface LocatedPath {
  /** A skill reference as actions use it. */
  readonly skill: string;
  /** Relative to the folder of the skill; empty for the folder itself. */
  readonly path: string;
}

/** Tool input that has passed its schema. */
type ToolInput = Readonly<Record<string, unknown>>;

/** One tool of a vocabulary: name, schema, and the mapping to actions and back. */
export interface ToolRow {
  readonly name: string;
  readonly description: string;
  /** The action type that its failures count as, even if the input could not be parsed. */
  readonly action: ActionType;
  /** The input schema; skill names are an enum while they are few. */
  schema(offer: Offer): ObjectSchema;
  /** The schema of a tool of others. A model is sent it as it is, and input only has to be an object. */
  readonly foreignSchema?: ForeignSchema;
  isOffered(offer: Offer): boolean;
  /** Maps valid input to actions, performed in order (`select_skills` gives several), or refuses it. */
  toActions(input: ToolInput, offer: Offer): readonly Action[] | ActionProblem;
  /** The documented result of that system, as text or JSON. Called only if all actions succeeded. */
  toResult(observations: readonly Observation[], offer: Offer): unknown;
}

/** One agent system: its tools, mapped to actions, its texts, and its other behaviour. */
export interface Vocabulary {
  readonly name: string;
  /** Defaults, folders and everything else beside tools and texts; `profile.ts` says how to add a behaviour. */
  readonly profile?: Profile;
  readonly tools: readonly ToolRow[];
  /** Instructions for the model about the offered tools, and only those. */
  guidance(offered: readonly string[], offer: Offer): string;
  /** Name of the tool that loads a skill. */
  readonly loadTool: string;
  /** Name of the tool that finds skills outside of the catalog; absent without such a tool. */
  readonly searchTool?: string;
  /** Catalog format of this system; default: from the configuration. */
  readonly catalogFormat?: CatalogFormat;
  /** Formats a loaded skill for a system message. */
  showLoaded(loaded: LoadedContent): string;
  /** The keys of the system's session state that a call changed. With it, an agent sends a `tool.response` event after each call. */
  readonly stateDelta?: (before: SessionState, after: SessionState) => Readonly<Record<string, string>>;
  /** Formats a failed call. */
  toFailure(failed: ActionFailed, call: FailedCall): unknown;
}

/** What is known about a failed call. */
interface FailedCall {
  /** The failed action; absent if the input was refused. */
  readonly action: Action | undefined;
  /** Results of earlier actions of the same call; they took effect and must be shown. */
  readonly done: readonly Observation[];
  readonly offer: Offer;
}

/** A loaded skill with its text, for a system message. */
export interface LoadedContent {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  readonly dir: string;
  readonly digest: string;
  readonly text: string;
  readonly files: readonly string[];
  readonly documents: readonly { readonly path: string; readonly text: string; readonly digest: string }[];
}
