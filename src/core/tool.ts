import type { Action, ActionType } from './action.ts';
import type { CatalogFormat } from './catalog-layout.ts';
import type { Failure } from './failure-codes.ts';
import type { ObjectSchema } from './json/json-schema.ts';
import type { ActionFailed, Observation } from './observation.ts';

/** What the runtime behind a vocabulary can do; a tool that could not work is not offered. */
export interface Offer {
  /** The skills a model may choose, in a stable order. */
  readonly skills: readonly string[];
  /** Where loaded instructions go. */
  readonly placement: Placement;
  /** Programs can be run; absent: no tool that runs anything is offered. */
  readonly execution?: ExecutionOffer;
  /** Files of the project can be used; absent: only those of skills. */
  readonly host?: HostOffer;
  /**
   * Which file of which skill a path means: an absolute one below a skill's folder, `name/path` or `skill://name/path`. Names only:
   * no file is looked at, and `path` is as unchecked as what was given. Nothing where it lies in no skill.
   */
  locate(path: string): LocatedPath | undefined;
}

export interface ExecutionOffer {
  /** Commands can be talked to while they run. */
  readonly hasInteraction: boolean;
}

export interface HostOffer {
  /** Servers can be asked. */
  readonly hasNetwork: boolean;
}

export interface LocatedPath {
  /** As an action names it. */
  readonly skill: string;
  /** Below the skill's folder; empty for the folder itself. */
  readonly path: string;
}

export const PLACEMENTS = ['tool-results', 'system'] as const;
export type Placement = (typeof PLACEMENTS)[number];

/** Input of a tool that has passed its schema. */
export type ToolInput = Readonly<Record<string, unknown>>;

/** One tool of a vocabulary: a name, a schema, and the way to an action and back. */
export interface ToolRow {
  readonly name: string;
  readonly description: string;
  /** What its failures are counted as, also where the input was too wrong to become an action. */
  readonly action: ActionType;
  /** The input, from what is on offer: names of skills are an enum while they are few. */
  schema(offer: Offer): ObjectSchema;
  isOffered(offer: Offer): boolean;
  /** Input that has passed the schema. One call may be several actions (`select_skills`), done in order; or it is refused. */
  toActions(input: ToolInput, offer: Offer): readonly Action[] | Failure;
  /** The result as that system documents it: text, or a JSON value. All of the actions worked. */
  toResult(observations: readonly Observation[], offer: Offer): unknown;
}

/** The tools of one system over our actions. */
export interface Vocabulary {
  readonly name: string;
  readonly tools: readonly ToolRow[];
  /** How a model is told about the tools that are really offered; no line about any other. */
  guidance(offered: readonly string[], offer: Offer): string;
  /** The tool that loads a skill, as texts name it. */
  readonly loadTool: string;
  /** The tool that finds what the catalog does not show; absent where the system has none. */
  readonly searchTool?: string;
  /** How this system writes the catalog; the configuration's format where it has none of its own. */
  readonly catalogFormat?: CatalogFormat;
  /** How this system writes one loaded skill into a system message. */
  showLoaded(loaded: LoadedContent): string;
  /** How this system words a call that failed. */
  toFailure(failed: ActionFailed, call: FailedCall): unknown;
}

/** What is known about a call that failed. */
export interface FailedCall {
  /** The action that failed; absent where the input was refused before it was one. */
  readonly action: Action | undefined;
  /** What the call's earlier actions gave: it is loaded by now, so it must be shown. */
  readonly done: readonly Observation[];
  readonly offer: Offer;
}

/** A loaded skill with its text, as it goes into a system message. */
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
