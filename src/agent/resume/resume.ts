/**
 * Going on with a run after a crash, an answer that was waited for, or a budget that was raised (AGT-10). The old record stays as it is,
 * sealed or torn; the run goes on in a new one that names it and holds what happened in it again, so that it can be read alone.
 */
import type { Budget } from '../../core/budget.ts';
import { BUDGET_NAMES } from '../count-budget.ts';
import type { RunInfo } from '../../core/run-events.ts';
import { quoted } from '../../core/text/text.ts';
import { VOCABULARY_NAMES } from '../../tools/vocabularies.ts';
import { ACTIVATIONS } from '../activation.ts';
import { goOnWith } from '../agent.ts';
import type { AgentOptions, AgentResult } from '../agent-options.ts';
import { openPast } from './open-past.ts';
import type { Circumstances, Impossible } from './open-past.ts';

export interface ResumeOptions
  extends Circumstances, Pick<AgentOptions, 'runtime' | 'model' | 'budget' | 'vocabulary' | 'run' | 'signal' | 'now'> {
  /** The folder of the run. */
  readonly path: string;
  /** Whether a file that the record names may be brought to the workspace again. A record gives no rights: none, where nothing is said. */
  readonly mayBring?: (file: string) => boolean;
}

export type Resumed = { readonly type: 'resumed'; readonly result: AgentResult } | Impossible;

/**
 * Finished actions are not done again, and the model is not asked again what it answered. An action that was begun and whose end was not
 * recorded is done again only where it is harmless; otherwise the model is told that its outcome is not known. What is done from there on is
 * judged anew: a record gives no rights. Throws `run/invalid` for a folder that is no run.
 */
export async function resumeAgent(options: ResumeOptions): Promise<Resumed> {
  const { runtime, model, run, signal, now } = options;
  const opened = await openPast(options.path, options);
  if (opened.type === 'impossible') return opened;
  const { info, start, past } = opened;
  const vocabulary = options.vocabulary ?? VOCABULARY_NAMES.find((name) => name === start.vocabulary);
  const problems = [
    ...(vocabulary === undefined ? [`the vocabulary ${quoted(start.vocabulary)} is not known here`] : []),
    ...start.files
      .filter((file) => options.mayBring?.(file) !== true)
      .map((file) => `the run was given the file ${quoted(file, 200)}: give it again`),
  ];
  if (problems.length > 0 || vocabulary === undefined) return { type: 'impossible', problems };
  const result = await goOnWith(past, {
    runtime,
    model,
    request: info.request,
    vocabulary,
    protocol: start.protocol === 'actions' ? 'actions' : 'tools',
    activation: ACTIVATIONS.find((name) => name === start.activation) ?? 'model',
    required: start.required,
    files: start.files,
    budget: { ...budgetOf(info), ...options.budget },
    ...(run === undefined ? {} : { run }),
    ...(signal === undefined ? {} : { signal }),
    ...(now === undefined ? {} : { now }),
  });
  return { type: 'resumed', result };
}

function budgetOf({ budgets }: RunInfo): Partial<Budget> {
  return Object.fromEntries(
    BUDGET_NAMES.flatMap((name) => {
      const amount = budgets[name];
      return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 ? [[name, amount]] : [];
    }),
  );
}
