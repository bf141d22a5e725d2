/** Flags that commands with an agent share, and their values. */
import { BUDGET_NAMES } from '../../agent/count-budget.ts';
import type { Budget, BudgetName } from '../../core/budget.ts';
import { TEXT_LEVELS } from '../../core/event-text.ts';
import { EXECUTOR_NAMES } from '../../core/execution.ts';
import { nearest } from '../../core/nearest.ts';
import { quoted } from '../../core/text/text.ts';
import type { Flags } from '../command.ts';
import { UsageError } from '../exit.ts';
import { APPROVAL_FLAGS, AUTO_FLAG, KEEP_GOING_FLAG } from './approval.ts';
import { TRUST_FLAGS } from './consent.ts';
import { SANDBOX_FLAGS } from './sandbox-flags.ts';
import { PACKAGE_FLAGS } from './package-flags.ts';

const BUDGET_FLAG = {
  type: 'string',
  multiple: true,
  value: 'NAME=N,...',
  about: `set limits (${BUDGET_NAMES.join(', ')}), e.g. turns=5,tokens=50000; may be repeated`,
} as const;

const MODEL_FLAG = {
  type: 'string',
  value: 'NAME',
  about:
    'use this model: rules, ollama, anthropic/claude-sonnet-5-5, scripted:FILE, ... (default: auto, the first of configuration, keys, local servers, rules)',
} as const;

const INSTRUCTIONS_FLAG = {
  type: 'boolean',
  about: 'do not show the AGENTS.md of the project to the model',
} as const;

export const AGENT_FLAGS = {
  skill: { type: 'string', multiple: true, value: 'NAME', about: 'load this skill first; may be repeated' },
  model: MODEL_FLAG,
  budget: BUDGET_FLAG,
  in: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    path: true,
    about: 'copy FILE to inputs/NAME of the workspace; may be repeated',
  },
  out: { type: 'string', value: 'DIR', path: true, about: 'copy the files that programs leave in out/ to DIR' },
  executor: {
    type: 'string',
    value: 'NAME',
    choices: ['auto', 'none', ...EXECUTOR_NAMES],
    about: 'run programs with this executor; none runs no programs (default: auto, the first that isolates)',
  },
  'no-agents-md': INSTRUCTIONS_FLAG,
  ...SANDBOX_FLAGS,
  ...PACKAGE_FLAGS,
  log: {
    type: 'string',
    value: 'LEVEL',
    choices: TEXT_LEVELS,
    about: 'print progress: quiet, normal or verbose (default: normal)',
  },
  ...APPROVAL_FLAGS,
  ...AUTO_FLAG,
  ...TRUST_FLAGS,
} as const satisfies Flags;

/** Flags of `runs resume`. */
export const RESUME_FLAGS = {
  model: { ...MODEL_FLAG, about: `resume: ${MODEL_FLAG.about}` },
  budget: { ...BUDGET_FLAG, about: `resume: ${BUDGET_FLAG.about}` },
  in: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    path: true,
    about: 'resume: allow FILE outside the project again, if the run used it; may be repeated',
  },
  executor: {
    type: 'string',
    value: 'NAME',
    choices: ['auto', ...EXECUTOR_NAMES],
    about: 'resume: run programs with this executor (default: auto, the first that isolates)',
  },
  out: { type: 'string', value: 'DIR', path: true, about: 'resume: copy the files that programs leave in out/ to DIR' },
  'no-agents-md': { ...INSTRUCTIONS_FLAG, about: `resume: ${INSTRUCTIONS_FLAG.about}` },
  project: {
    ...SANDBOX_FLAGS.project,
    about: 'resume: let programs see the project: none, read or write (default: read)',
  },
  mount: { ...SANDBOX_FLAGS.mount, about: `resume: ${SANDBOX_FLAGS.mount.about}` },
  allow: { ...SANDBOX_FLAGS.allow, about: `resume: ${SANDBOX_FLAGS.allow.about}` },
  ...APPROVAL_FLAGS,
  ...AUTO_FLAG,
  ...KEEP_GOING_FLAG,
  ...TRUST_FLAGS,
} as const satisfies Flags;

/** Parses `turns=5,tokens=50000`, from one flag or several; the last value of a name wins. */
export function parseBudget(texts: readonly string[] = []): Partial<Budget> {
  const parts = texts.flatMap((text) => text.split(','));
  return Object.fromEntries(parts.map(parseLimit));
}

function parseLimit(text: string): readonly [BudgetName, number] {
  const [written = '', amount = '', ...more] = text.split('=').map((part) => part.trim());
  const name = BUDGET_NAMES.find((known) => known === written);
  if (name === undefined) {
    const [guess] = nearest(written, [...BUDGET_NAMES], 1);
    throw new UsageError(
      `unknown limit for --budget: ${quoted(written, 200)}`,
      guess === undefined ? `known limits: ${BUDGET_NAMES.join(', ')}` : `did you mean ${guess}?`,
    );
  }
  const number = /^\d{1,16}$/.test(amount) && more.length === 0 ? Number(amount) : Number.NaN;
  if (number <= Number.MAX_SAFE_INTEGER) return [name, number];
  throw new UsageError(`--budget ${name} must be a whole number`, `write --budget ${name}=5`);
}
