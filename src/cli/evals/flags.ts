/** Flags of `eval`, and what their values mean. */
import path from 'node:path';

import type { Thresholds } from '../../evals/report/report.ts';
import { EXECUTOR_NAMES } from '../../core/execution.ts';
import { quoted } from '../../core/text/text.ts';
import { REPORT_FORMATS } from '../../evals/report/formats.ts';
import { isDirectory } from '../../platform/fs/paths.ts';
import type { Flags, Invocation } from '../command.ts';
import { UsageError } from '../exit.ts';

export const REPORT_NAMES = [...Object.keys(REPORT_FORMATS), 'html'] as const;

export const EVAL_FLAGS = {
  suite: { type: 'string', value: 'NAME', about: 'only cases with this tag, or of the file or folder of this name' },
  model: {
    type: 'string',
    value: 'NAME',
    about: 'who answers where a case has no answers of its own: rules, anthropic/claude-sonnet-4-5, ...; as for run',
  },
  repeat: { type: 'string', value: 'N', about: 'how often each case is run, whatever it says itself' },
  baseline: {
    type: 'string',
    value: 'WHAT',
    about: 'compare with: none, without the skill; old, the version before; or a revision of git',
  },
  report: {
    type: 'string',
    multiple: true,
    value: 'FORMAT[=FILE]',
    about: `write a report: ${REPORT_NAMES.join(', ')}; - is stdout; may be repeated`,
  },
  threshold: {
    type: 'string',
    multiple: true,
    value: 'KEY=VALUE',
    about: 'what must be reached: pass-rate (1), errors (0), precision, recall, difference; may be repeated',
  },
  'update-cassettes': { type: 'boolean', about: 'let the model answer, and record its answers in the cassettes' },
  judge: { type: 'string', value: 'MODEL', about: 'who judges what code cannot check; nobody' },
  concurrency: { type: 'string', value: 'N', about: 'runs at once; 4' },
  timeout: { type: 'string', value: 'SECONDS', about: 'for a case that says nothing itself; 300' },
  resume: { type: 'boolean', about: 'go on with the last evaluation that was not finished' },
  'no-eval-cache': { type: 'boolean', about: 'run every case, also those whose outcome is known' },
  executor: {
    type: 'string',
    value: 'NAME',
    choices: ['auto', 'none', ...EXECUTOR_NAMES],
    about: 'what runs programs: auto takes the first that isolates; none runs nothing',
  },
  distractors: {
    type: 'string',
    value: 'N,N,...|DIR',
    about: 'trigger: the same cases among so many other skills, as in 10,100,1000; or among the skills of DIR',
  },
  cassettes: {
    type: 'string',
    value: 'DIR',
    path: true,
    about: 'trigger: play the answers recorded in DIR; with --update-cassettes record them there',
  },
  cases: { type: 'string', multiple: true, value: 'FILE', path: true, about: 'grade: the cases; may be repeated' },
} as const satisfies Flags;

export type EvalInvocation = Invocation<typeof EVAL_FLAGS>;

export interface WantedReport {
  readonly format: (typeof REPORT_NAMES)[number];
  /** Absent: beside the results. */
  readonly file?: string;
}

/** What is wrong with them is said before anything is run. */
export function wantedReports({ report = [], json, cwd }: EvalInvocation['flags']): readonly WantedReport[] {
  const wanted = report.map((word): WantedReport => {
    const [name = '', ...rest] = word.split('=');
    const format = REPORT_NAMES.find((known) => known === name);
    if (format === undefined)
      throw new UsageError(`--report does not know ${shown(name)}`, `it knows ${REPORT_NAMES.join(', ')}`);
    if (rest.length === 0) return { format };
    const file = rest.join('=');
    if (file === '') throw new UsageError(`--report ${name}= names no file`, `write --report ${name}=FILE`);
    if (format !== 'skill-creator' && isDirectory(path.resolve(cwd ?? '.', file)))
      throw new UsageError(`--report ${name}: ${shown(file)} is a folder`, 'name a file in it');
    return { format, file };
  });
  if (wanted.filter(({ file }) => file === '-').length + (json === true ? 1 : 0) > 1)
    throw new UsageError('only one report can go to stdout, and --json is one', 'name files for the others');
  return wanted;
}

const KEYS: Readonly<Record<string, readonly [key: keyof Thresholds, least: number, most: number]>> = {
  'pass-rate': ['passRate', 0, 1],
  errors: ['errors', 0, 1_000_000],
  precision: ['precision', 0, 1],
  recall: ['recall', 0, 1],
  difference: ['difference', -1, 1],
};

export function thresholdsOf(given: readonly string[] = []): Thresholds {
  const pairs = given.map((word) => {
    const [name = '', value = ''] = word.split('=');
    const known = Object.hasOwn(KEYS, name) ? KEYS[name] : undefined;
    if (known === undefined)
      throw new UsageError(`--threshold does not know ${shown(name)}`, `it knows ${Object.keys(KEYS).join(', ')}`);
    const [key, least, most] = known;
    const number = /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= least && number <= most))
      throw new UsageError(
        `--threshold ${name} must be a number from ${String(least)} to ${String(most)}`,
        `it is ${shown(value)}`,
      );
    return [key, number] as const;
  });
  return Object.fromEntries(pairs);
}

function shown(word: string): string {
  return quoted(word, 200);
}
