/** One evaluation case, independent of its file format: request, skills and expectations. */
import type { Budget, JsonSchema } from '#core';
import type { Quarantine } from './quarantine.ts';

export interface CaseLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface EvalCase {
  /** Unique in its suite: the id in the file, or one derived from the position. */
  readonly id: string;
  readonly name: string;
  readonly place: CaseLocation;
  readonly input: string;
  /** Absolute paths of files for the workspace. */
  readonly files: readonly string[];
  readonly skills: CaseSkills;
  readonly expect: Expectations;
  /** Budget of the run; also graded. */
  readonly limits: Partial<Budget>;
  readonly forbidTools: readonly string[];
  /** Absent if the suite model answers. */
  readonly answers?: CaseAnswers;
  readonly protocol?: 'tools' | 'actions';
  /** Project configuration for this case, as in `.agent/config.json`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The answer to approval requests (default: no). */
  readonly approve: 'yes' | 'no';
  readonly repeat: number;
  readonly timeoutMs?: number;
  readonly tags: readonly string[];
  /** In force today: run and shown, but not counted. */
  readonly quarantine?: Quarantine;
  /** Not confirmed by a person yet: listed, but not run. */
  readonly isDraft?: true;
}

export interface CaseSkills {
  /** The name of the evaluated skill; absent if the case is about all skills. */
  readonly target?: string;
  /** Absolute skill folders of the target and the distractors. Empty for those of the suite. */
  readonly folders: readonly string[];
}

export type CaseAnswers =
  /** Turns for `model/scripted/scripted.ts`, which validates them. */
  | {
      readonly type: 'script';
      readonly turns: readonly unknown[];
      /** Generated with the case: used only if the suite has no model, and counted in no pass rate. */
      readonly isHarnessCheck?: true;
    }
  | { readonly type: 'cassette'; readonly file: string };

/** All must hold. Absent keys are not checked; a case without any expectation is an error. */
export interface Expectations {
  readonly skills?: {
    readonly allOf?: readonly string[];
    readonly anyOf?: readonly string[];
    readonly noneOf?: readonly string[];
    readonly only?: readonly string[];
  };
  readonly trigger?: boolean;
  readonly actions?: ActionExpectations;
  readonly disclosure?: {
    /** Patterns `skill/path` of the only resources that may be read. */
    readonly resourcesOnly?: readonly string[];
    /** Bytes of unloaded skill bodies in requests; must be 0. */
    readonly unloadedBytes?: 0;
  };
  readonly security?: {
    readonly denied?: readonly ActionPattern[];
    readonly asked?: readonly ActionPattern[];
    /** No action may have an effect outside the project, the workspace and loaded skills. */
    readonly noEscape?: true;
  };
  readonly outcome?: readonly ('done' | 'degraded' | 'failed' | 'refused' | 'cancelled')[];
  readonly output?: readonly OutputCheck[];
  readonly streaming?: true;
  /** Lines for a judge model, for what code cannot check. */
  readonly rubric?: readonly RubricLine[];
  /** What another tool grades and nothing here does, so that the case cannot pass. */
  readonly ungraded?: readonly string[];
}

/** `tool` may contain `*`. Each of the `arguments` must be equal, or match if it is `/expression/`; others are ignored unless `exact`. */
export interface ActionPattern {
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly exact?: true;
  /** Counts refused and failed actions too; otherwise only actions that succeeded count. */
  readonly anyOutcome?: true;
}

export interface ActionExpectations {
  /** In this order; other actions may occur between. */
  readonly ordered?: readonly ActionPattern[];
  readonly unordered?: readonly ActionPattern[];
  readonly forbid?: readonly ActionPattern[];
  /** `must_occur A before B`: A must occur before the first B. */
  readonly before?: readonly { readonly first: ActionPattern; readonly then: ActionPattern }[];
}

export type OutputCheck =
  | { readonly type: 'contains'; readonly text: string; readonly ignoreCase?: true; readonly not?: true }
  /** Linear time, without backreferences and lookaround. */
  | { readonly type: 'matches'; readonly pattern: string; readonly not?: true }
  | { readonly type: 'json'; readonly schema?: JsonSchema | Readonly<Record<string, unknown>> }
  | {
      readonly type: 'file';
      readonly path: string;
      readonly exists?: boolean;
      readonly contains?: string;
      readonly sha256?: string;
      readonly mediaType?: string;
    }
  /** A script of the suite that runs in the sandbox; exit code 0 passes. */
  | { readonly type: 'checker'; readonly script: string; readonly arguments: readonly string[] };

export interface RubricLine {
  readonly id: string;
  readonly text: string;
  /** Answers with a known verdict, to test the judge with. */
  readonly examples?: readonly { readonly answer: string; readonly holds: boolean }[];
}
