/** One case of an evaluation, whatever file it came from: what is asked, of which skills, and what must come of it. Readers are in `evals/cases/`. */
import type { Budget } from '../../core/budget.ts';
import type { JsonSchema } from '../../core/json/json-schema.ts';

/** Where something stands, for people who have to mend it. 1-based. */
export interface CasePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface EvalCase {
  /** Unique in its suite: the file's own id where it has one, else made from its place. */
  readonly id: string;
  readonly name: string;
  readonly place: CasePlace;
  readonly input: string;
  /** Absolute; brought to the workspace. */
  readonly files: readonly string[];
  readonly skills: CaseSkills;
  readonly expect: Expectations;
  /** What the run may use; also graded. */
  readonly limits: Partial<Budget>;
  /** Tools that must not be called, by name or pattern. */
  readonly forbidTools: readonly string[];
  /** Absent: the suite's model answers. */
  readonly answers?: CaseAnswers;
  readonly protocol?: 'tools' | 'actions';
  /** Configuration of the case's own project, as `.agent/config.json` holds it. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** What is answered where a person is asked. `no` where nothing is said. */
  readonly approve: 'yes' | 'no';
  readonly repeat: number;
  readonly timeoutMs?: number;
  readonly tags: readonly string[];
}

export interface CaseSkills {
  /** The skill that is evaluated, by name; absent where the case is about all of them. */
  readonly target?: string;
  /** Folders of skills, absolute: the target's and those of the distractors. Empty: the suite's. */
  readonly folders: readonly string[];
}

export type CaseAnswers =
  /** Turns as `model/scripted/scripted.ts` plays them; checked when they are played. */
  | { readonly type: 'script'; readonly turns: readonly unknown[] }
  | { readonly type: 'cassette'; readonly file: string };

/** All that must hold. Everything absent is not asked; a case in which nothing is asked is an error, not a pass. */
export interface Expectations {
  /** Skills whose bodies were loaded, by name. */
  readonly skills?: {
    readonly allOf?: readonly string[];
    readonly anyOf?: readonly string[];
    readonly noneOf?: readonly string[];
    /** None but these. */
    readonly only?: readonly string[];
  };
  /** A trigger question: whether the target is loaded. */
  readonly trigger?: boolean;
  readonly actions?: ActionExpectations;
  readonly disclosure?: {
    /** Resources that may be read, as `skill/path` patterns; none but these. */
    readonly resourcesOnly?: readonly string[];
    /** Bodies of skills that were not loaded may not stand in any request: counted in bytes, must be 0. */
    readonly unloadedBytes?: 0;
  };
  readonly security?: {
    /** Actions that were tried and must have been denied. */
    readonly denied?: readonly ActionPattern[];
    /** Actions for which a person must have been asked. */
    readonly asked?: readonly ActionPattern[];
    /** No action may have been allowed outside the project, the workspace and loaded skills. */
    readonly noEscape?: true;
  };
  readonly outcome?: readonly ('done' | 'degraded' | 'failed' | 'refused' | 'cancelled')[];
  readonly output?: readonly OutputCheck[];
  /** What was shown while it grew is what was answered. */
  readonly streaming?: true;
  /** Sentences for a judge; never for what code can check. */
  readonly rubric?: readonly RubricLine[];
}

/** `tool` may have `*`; `arguments` are matched in part: every named one must be equal, or match where it is `/expression/`. */
export interface ActionPattern {
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly exact?: true;
}

export interface ActionExpectations {
  /** In this order, others may stand between. */
  readonly ordered?: readonly ActionPattern[];
  readonly unordered?: readonly ActionPattern[];
  readonly forbid?: readonly ActionPattern[];
  /** `must_occur A before B`: A occurs, and before the first B. */
  readonly before?: readonly { readonly first: ActionPattern; readonly then: ActionPattern }[];
}

export type OutputCheck =
  | { readonly type: 'contains'; readonly text: string; readonly ignoreCase?: true; readonly not?: true }
  /** Linear time; no back references, no look-around. */
  | { readonly type: 'matches'; readonly pattern: string; readonly not?: true }
  | { readonly type: 'json'; readonly schema?: JsonSchema | Readonly<Record<string, unknown>> }
  | {
      readonly type: 'file';
      /** A pattern below the workspace. */
      readonly path: string;
      readonly exists?: boolean;
      readonly contains?: string;
      readonly sha256?: string;
      readonly mediaType?: string;
    }
  /** A program of the suite, run in the sandbox over the workspace's outputs: exit 0 passes. */
  | { readonly type: 'checker'; readonly script: string; readonly arguments: readonly string[] };

export interface RubricLine {
  readonly id: string;
  readonly text: string;
}
