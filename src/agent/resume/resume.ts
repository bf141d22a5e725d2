/**
 * Resumes a run after a crash, a pending approval, or an exhausted budget (AGT-10). The old record is not changed. The new record
 * names it and repeats its events, so that it is complete on its own.
 */
import { BUDGET_NAMES, defined, quoted, type Action, type Budget, type RunInfo, VOCABULARY_NAMES } from '#core';
import { ACTIVATIONS } from '../activation.ts';
import { resumeRun } from '../agent.ts';
import type { AgentOptions, AgentResult } from '../agent-options.ts';
import { openRecordedRun, type ResumeContext, type NotResumable } from './open-recorded-run.ts';
import type { AgentStart, ReplayedRun } from './replayed-run.ts';
import { isAlreadyResumed } from './resume-gate.ts';

export interface ResumeOptions
  extends
    ResumeContext,
    Pick<
      AgentOptions,
      | 'runtime'
      | 'model'
      | 'budget'
      | 'vocabulary'
      | 'run'
      | 'signal'
      | 'now'
      | 'unapproved'
      | 'beforeEnd'
      | 'projectInstructions'
      | 'steps'
    > {
  readonly path: string;
  /** Replaces the recorded request, for another course of the run (`keepAnswers`). */
  readonly request?: string;
  /** Whether a file named in the record may be copied into the workspace again (default: no file). A record grants no rights. */
  readonly mayBring?: (file: string) => boolean;
  /** Where the given files are now, in the order of the record (default: where they were). They are copied into the workspace again. */
  readonly files?: readonly string[];
  /** With `again`: called before the run continues with the actions of an earlier resume that may happen once more. */
  readonly onRepeat?: (actions: readonly Action[]) => void;
}

export type Resumed = { readonly type: 'resumed'; readonly result: AgentResult } | NotResumable;

/**
 * Completed actions are not repeated, and recorded answers of the model are reused. An action without a recorded end is repeated only
 * if it has no side effects; otherwise the model is told that its outcome is unknown. All further actions are checked by the current
 * policy, because a record grants no rights. A run that another run already continued is only continued with `again`. Throws
 * `run/invalid` if the folder is not a run.
 */
export async function resumeAgent(options: ResumeOptions): Promise<Resumed> {
  const { runtime, model, run, signal, now } = options;
  const opened = await openRecordedRun(options.path, options);
  if (opened.type === 'impossible') return opened;
  const { info, start, past, repeats } = opened;
  const vocabulary = options.vocabulary ?? VOCABULARY_NAMES.find((name) => name === start.vocabulary);
  const problems = [
    ...(vocabulary === undefined ? [`unknown vocabulary ${quoted(start.vocabulary)}`] : []),
    ...(options.files === undefined ? start.files : [])
      .filter((file) => options.mayBring?.(file) !== true)
      .map((file) => `the run was given the file ${quoted(file, 200)}: pass it again`),
  ];
  if (problems.length > 0 || vocabulary === undefined) return { type: 'impossible', problems };
  if (repeats.length > 0) options.onRepeat?.(repeats);
  const resumed = resumeRun(withLifts(past, start, options.budget), {
    runtime,
    model,
    request: options.request ?? info.request,
    vocabulary,
    protocol: start.protocol === 'actions' ? 'actions' : 'tools',
    activation: ACTIVATIONS.find((name) => name === start.activation) ?? 'model',
    required: start.required,
    files: options.files ?? start.files,
    ...defined({ images: start.images }),
    budget: { ...readBudgets(info.budgets), ...options.budget },
    ...defined({ run, signal, now }),
    projectInstructions: options.projectInstructions,
    steps: options.steps,
    ...defined({ unapproved: options.unapproved, beforeEnd: options.beforeEnd }),
  });
  try {
    return { type: 'resumed', result: await resumed };
  } catch (error) {
    // Another process continued it meanwhile.
    if (isAlreadyResumed(error)) return { type: 'impossible', problems: error.data.problems };
    throw error;
  }
}

/** The budget of the caller outranks the constraints that the model has put on it so far. */
function withLifts(past: ReplayedRun, { resumes }: AgentStart, budget: Partial<Budget> = {}): ReplayedRun {
  const turn = past.answers.length;
  const set = Object.entries(budget).flatMap(([name, amount]) => (amount === undefined ? [] : [[name, turn]]));
  const lifts = { ...readBudgets(resumes?.lifts ?? {}), ...Object.fromEntries(set) };
  return Object.keys(lifts).length === 0 ? past : { ...past, lifts };
}

function readBudgets(budgets: RunInfo['budgets']): Partial<Budget> {
  return Object.fromEntries(
    BUDGET_NAMES.flatMap((name) => {
      const amount = budgets[name];
      return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 ? [[name, amount]] : [];
    }),
  );
}
