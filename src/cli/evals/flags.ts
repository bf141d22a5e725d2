/** Flags of `eval` and their values. */
import path from 'node:path';

import { checkJson, quoted, THRESHOLDS_SCHEMA, type FromSchema } from '#core';
import { isDirectory } from '#platform';
import { VOCABULARY_FLAG } from '../agent/agent-flags.ts';
import { EXECUTOR_FLAG } from '../agent/programs.ts';
import { list, option, toggle, type Flags, type Invocation } from '../command.ts';
import { usageError } from '../exit.ts';
import { FLEET_FLAGS } from '../fleet/fleet-flags.ts';

/** Written out, so that the help loads nothing of an evaluation. */
const REPORT_NAMES = ['json', 'markdown', 'junit', 'skill-creator', 'html'] as const;
/** The others are about one subject. */
const MATRIX_REPORTS: readonly ReportFlag['format'][] = ['json', 'markdown', 'html'];

export const EVAL_FLAGS = {
  suite: option('NAME', 'run only cases with this tag, or from the file or folder of this name'),
  model: option('NAME', 'use this model for cases without recorded answers: rules, anthropic/claude-sonnet-5-5, ...'),
  subject: option(
    'AGENT[=MODEL]',
    'run the cases with another agent: claude-code, codex, gemini, opencode, pi, or a command such as "./agent --quiet"; repeat it for a portability matrix (default: skillwright, the own loop)',
    { multiple: true },
  ),
  ...VOCABULARY_FLAG,
  'subject-env': list('NAME', 'pass this environment variable to the agent of --subject, besides its API keys'),
  repeat: option('N', 'run each case N times, overriding the case file'),
  baseline: option('WHAT', 'compare with none (without the skill), old (the previous version), or a git revision'),
  report: option('FORMAT[=FILE]', `write a report: ${REPORT_NAMES.join(', ')}; - is stdout; may be repeated`, {
    multiple: true,
  }),
  threshold: option(
    'KEY=VALUE',
    'require a result: pass-rate (default: 1), errors (default: 0), precision, recall, difference, and at most tokens, usd and seconds a run; may be repeated',
    { multiple: true },
  ),
  offline: toggle('run only cases with recorded answers that need no judge, and name the others'),
  detect: option('POINTS', 'plan --baseline for a difference of this size, in percentage points (default: 20)'),
  'stop-when': option(
    'WHEN',
    'repeat --baseline runs until the difference is decided, at most --repeat times (default: by the plan)',
    { choices: ['decided'] },
  ),
  'dry-run': toggle('print how many runs and tokens the evaluation needs, and run nothing'),
  'update-cassettes': toggle('query the model and record its answers in the cassettes'),
  judge: option('MODEL', 'use this model to grade what code cannot check (default: none)'),
  concurrency: option('N', 'run N cases in parallel (default: 4; with --workers 20)'),
  timeout: option('SECONDS', 'default timeout per case, in seconds (default: 300; trigger: 120)'),
  workers: toggle('run the attempts on the workers of a fleet, with their model and executor; needs --database'),
  ...FLEET_FLAGS,
  resume: toggle('continue the last unfinished evaluation'),
  'no-eval-cache': toggle('run every case, including those with a cached result'),
  ...EXECUTOR_FLAG,
  distractors: option(
    'N,N,...|DIR',
    'trigger: repeat the cases among N other skills, e.g. 10,100,1000, or among the skills of DIR',
  ),
  cassettes: option('DIR', 'trigger: play the answers recorded in DIR, or record them there with --update-cassettes'),
  proposals: option(
    'FILE',
    'tune: read descriptions from FILE, a JSON array or one per paragraph, instead of asking a model',
  ),
  proposer: option('MODEL', 'tune: ask this model for descriptions (default: --model)'),
  write: toggle('tune: write the best description to SKILL.md if it is an improvement'),
  cases: option('FILE', 'grade: read the cases from FILE; may be repeated', { multiple: true }),
} as const satisfies Flags;

export type EvalInvocation = Invocation<typeof EVAL_FLAGS>;

interface ReportFlag {
  readonly format: (typeof REPORT_NAMES)[number];
  /** Without a file, the report is written next to the results. */
  readonly file?: string;
}

/** Parses --report. Errors are reported before any case runs. */
export function readReportFlags({ flags, surroundings }: EvalInvocation): readonly ReportFlag[] {
  const { report = [], json, subject = [] } = flags;
  const reports = report.map((word): ReportFlag => {
    const [name = '', ...rest] = word.split('=');
    const format = REPORT_NAMES.find((known) => known === name);
    if (format === undefined)
      throw usageError(
        `unknown format for --report: ${quoted(name, 200)}`,
        `known formats: ${REPORT_NAMES.join(', ')}`,
      );
    if (subject.length > 1 && !MATRIX_REPORTS.includes(format))
      throw usageError(
        `--report ${format} is about one subject`,
        `use ${MATRIX_REPORTS.join(', ')}, or name one --subject`,
      );
    if (rest.length === 0) return { format };
    const file = rest.join('=');
    if (file === '') throw usageError(`--report ${name}= needs a file`, `write --report ${name}=FILE`);
    if (format !== 'skill-creator' && isDirectory(path.resolve(surroundings.cwd, file)))
      throw usageError(`--report ${name}: ${quoted(file, 200)} is a folder`, 'name a file in it');
    return { format, file };
  });
  if (reports.filter(({ file }) => file === '-').length + (json === true ? 1 : 0) > 1)
    throw usageError('only one report can go to stdout, and --json counts as one', 'write the others to files');
  return reports;
}

const THRESHOLD_NAMES = Object.keys(THRESHOLDS_SCHEMA.properties).map((key) => key.replace('_', '-'));

export function parseThresholds({ threshold = [] }: EvalInvocation['flags']): FromSchema<typeof THRESHOLDS_SCHEMA> {
  const pairs = threshold.map((word) => {
    const [name = '', value = ''] = word.split('=');
    const key = THRESHOLD_NAMES.find((known) => known === name)?.replace('-', '_');
    const schema = Object.entries(THRESHOLDS_SCHEMA.properties).find(([known]) => known === key)?.[1];
    if (key === undefined || schema === undefined)
      throw usageError(
        `unknown key for --threshold: ${quoted(name, 200)}`,
        `known keys: ${THRESHOLD_NAMES.join(', ')}`,
      );
    const number = /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    const [problem] = checkJson(number, schema);
    if (problem !== undefined)
      throw usageError(`--threshold ${name} must be ${problem.expected}`, `got ${quoted(value, 200)}`);
    return [key, number] as const;
  });
  return Object.fromEntries(pairs);
}
