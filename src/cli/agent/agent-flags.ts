/** Flags that commands with an agent share, and their values. */
import { BUDGET_NAMES, EXECUTOR_NAMES, nearest, quoted, VOCABULARY_NAMES, type Budget } from '#core';
import { list, option, toggle, type Flags } from '../command.ts';
import { usageError } from '../exit.ts';
import { ACCEPT_FLAG, APPROVAL_FLAGS, AUTO_FLAG, KEEP_GOING_FLAG } from './approval.ts';
import { TRUST_FLAGS } from './consent.ts';
import { EXECUTOR_FLAG, PACKAGE_FLAGS, SANDBOX_FLAGS } from './programs.ts';

const BUDGET_FLAG = option(
  'NAME=N,...',
  `set limits (${BUDGET_NAMES.join(', ')}), e.g. turns=5,tokens=50000; may be repeated`,
  { multiple: true },
);

/** What shells offer for a model; the part after a slash is the vendor's. */
const MODEL_WORDS = ['auto', 'rules', 'ollama', 'lmstudio', 'anthropic/', 'openai/', 'google/', 'openai-compatible/'];

export const MODEL_FLAG = option(
  'NAME',
  'use this model: rules, ollama, anthropic/claude-sonnet-5-5, scripted:FILE, ... (default: auto, the first of configuration, keys, local servers, rules)',
  { offers: MODEL_WORDS },
);

const INSTRUCTIONS_FLAG = toggle('do not show the AGENTS.md of the project to the model');

export const VOCABULARY_FLAG = {
  vocabulary: option(
    'NAME',
    'use the tools, names, defaults and folders of this agent system (default: vocabulary of the configuration, or skillwright)',
    { choices: VOCABULARY_NAMES },
  ),
} as const satisfies Flags;

export const AGENT_FLAGS = {
  protocol: option('NAME', 'let the model act by tool calls or by JSON text (default: tools; skills-agent: actions)', {
    choices: ['tools', 'actions'],
  }),
  ...VOCABULARY_FLAG,
  skill: list('NAME', 'load this skill first', { offers: 'skills' }),
  model: MODEL_FLAG,
  budget: BUDGET_FLAG,
  in: option('FILE', 'copy FILE to inputs/NAME of the workspace; may be repeated', { multiple: true }),
  out: option(
    'DIR',
    'copy the files that programs leave in out/ or change beside their inputs to DIR (default: asks for ./out, or keeps them in the record)',
  ),
  ...EXECUTOR_FLAG,
  'no-agents-md': INSTRUCTIONS_FLAG,
  ...SANDBOX_FLAGS,
  ...PACKAGE_FLAGS,
  log: option('LEVEL', 'print progress: quiet, normal or verbose (default: normal)', {
    choices: ['quiet', 'normal', 'verbose'],
  }),
  ...APPROVAL_FLAGS,
  ...ACCEPT_FLAG,
  ...AUTO_FLAG,
  ...TRUST_FLAGS,
} as const satisfies Flags;

export const RESUME_FLAGS = {
  again: toggle('resume: continue a run that was already resumed, and repeat what that run did since'),
  model: { ...MODEL_FLAG, about: `resume: ${MODEL_FLAG.about}` },
  budget: { ...BUDGET_FLAG, about: `resume: ${BUDGET_FLAG.about}` },
  in: option('FILE', 'resume: allow FILE outside the project again, if the run used it; may be repeated', {
    multiple: true,
  }),
  executor: option('NAME', 'resume: run programs with this executor (default: auto, the first that isolates)', {
    choices: ['auto', ...EXECUTOR_NAMES],
  }),
  out: option('DIR', 'resume, files: copy the files that programs left to DIR'),
  'no-agents-md': { ...INSTRUCTIONS_FLAG, about: `resume: ${INSTRUCTIONS_FLAG.about}` },
  project: {
    ...SANDBOX_FLAGS.project,
    about: 'resume: let programs see the project: none, read or write (default: read)',
  },
  mount: { ...SANDBOX_FLAGS.mount, about: `resume: ${SANDBOX_FLAGS.mount.about}` },
  allow: { ...SANDBOX_FLAGS.allow, about: `resume: ${SANDBOX_FLAGS.allow.about}` },
  ...APPROVAL_FLAGS,
  ...ACCEPT_FLAG,
  ...AUTO_FLAG,
  ...KEEP_GOING_FLAG,
  ...TRUST_FLAGS,
} as const satisfies Flags;

/** Parses `turns=5,tokens=50000`, from one flag or several; the last value of a name wins. */
export function parseBudget(texts: readonly string[] = []): Partial<Budget> {
  const parts = texts.flatMap((text) => text.split(','));
  return Object.fromEntries(parts.map(parseLimit));
}

function parseLimit(text: string): readonly [keyof Budget, number] {
  const [written = '', amount = '', ...more] = text.split('=').map((part) => part.trim());
  const name = BUDGET_NAMES.find((known) => known === written);
  if (name === undefined) {
    const [guess] = nearest(written, [...BUDGET_NAMES], 1);
    throw usageError(
      `unknown limit for --budget: ${quoted(written, 200)}`,
      guess === undefined ? `known limits: ${BUDGET_NAMES.join(', ')}` : `did you mean ${guess}?`,
    );
  }
  const number = /^\d{1,16}$/.test(amount) && more.length === 0 ? Number(amount) : Number.NaN;
  if (number <= Number.MAX_SAFE_INTEGER) return [name, number];
  throw usageError(`--budget ${name} must be a whole number`, `write --budget ${name}=5`);
}
