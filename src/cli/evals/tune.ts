/** `eval tune`: compares descriptions of a skill, and writes the best one only with --write and only if it is an improvement. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { countText, parseJson, printable, quoted, sliceStart, type Model } from '#core';
import {
  armTexts,
  chanceText,
  differenceText,
  ownArm,
  percentText,
  proposeDescriptions,
  rateText,
  tune,
  withDescription,
  type TuneOptions,
  type TuneReport,
} from '#evals';
import { isPresent, isSystemError, writeNamedFile } from '#platform';
import type { Runtime } from '#runtime';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { openProgress } from '../terminal/progress.ts';
import type { EvalInvocation } from './flags.ts';
import { resolveCwd, noModel, readInputs, reportProblems } from './inputs.ts';
import { newEvaluation } from './report-folder.ts';
import { parseDistractors, parseNumbers, progressText } from './run.ts';
import { isCommand, openSubjects } from './subjects.ts';

const PROPOSALS = 5;
/** Enough that a description must say what sets the skill apart. */
const DISTRACTORS = 10;

export async function evalTune(invocation: EvalInvocation): Promise<number> {
  const { positionals, flags, terminal, signal } = invocation;
  const [, word = '.', ...rest] = positionals;
  const cwd = resolveCwd(invocation);
  const skill = path.resolve(cwd, word);
  if (rest.length > 0) throw new UsageError('eval tune takes one skill', 'usage: skillwright eval tune SKILL');
  if (!isPresent(path.join(skill, 'SKILL.md')))
    throw new UsageError(`${quoted(word, 200)} has no SKILL.md`, 'usage: skillwright eval tune SKILL');
  const numbers = parseNumbers(invocation);
  const { distractors = [DISTRACTORS], others } = parseDistractors(invocation);
  const runtime = await openRuntime(invocation);
  const inputs = readInputs(invocation, [skill], runtime);
  if (reportProblems(inputs.problems, invocation)) return EXIT.invalidEvaluation;
  const [{ model, subject } = {}] = await openSubjects(invocation, runtime);
  if (model === undefined) throw noModel();
  const propose = await createProposer(invocation, runtime, skill);
  const directory = newEvaluation(cwd, new Date(), 'tune-');
  const cache = flags['no-eval-cache'] === true || isCommand(subject) ? undefined : runtime.cacheDir;
  const progress = openProgress(terminal);
  const notes = new Set<string>();
  const report = await tune({
    skill,
    distractors: others?.filter((folder) => path.basename(folder) !== path.basename(skill)) ?? Math.max(...distractors),
    propose,
    cases: inputs.cases,
    ...numbers,
    directory,
    signal,
    model,
    subject,
    cache: cache === undefined ? undefined : path.join(cache, 'evals'),
    onProgress: (state) => progress.show(progressText(state)),
    onNote: (note) => void notes.add(note),
  }).finally(() => progress.end());
  terminal.remark([...notes].map(printable));
  writeNamedFile(path.join(directory, 'tune.json'), jsonText(report));
  if (!terminal.printJson(report)) terminal.out(tuneLines(report));
  terminal.remark(`results: ${printable(path.relative(cwd, directory))}`);
  if (report.invalid.length > 0) return EXIT.invalidEvaluation;
  return flags.write === true ? writeWinner(report, skill, invocation) : EXIT.done;
}

async function createProposer(
  invocation: EvalInvocation,
  runtime: Runtime,
  skill: string,
): Promise<TuneOptions['propose']> {
  const { flags, signal } = invocation;
  if (flags.proposals !== undefined) {
    const proposals = readProposals(path.resolve(resolveCwd(invocation), flags.proposals), flags.proposals);
    return async () => proposals;
  }
  const name = flags.proposer ?? (flags.subject === undefined ? flags.model : undefined);
  if (name === undefined || name === 'rules')
    throw new UsageError(
      'no descriptions to compare: the rule model cannot propose any',
      'pass --proposals FILE, or --proposer MODEL',
    );
  const { chooseModel } = await import('../agent/agent-model.ts');
  const model: Model = (await chooseModel({ name, runtime, signal })).model;
  const text = readFileSync(path.join(skill, 'SKILL.md'), 'utf8');
  return (current, wrong) => proposeDescriptions(current, wrong, { model, count: PROPOSALS, text, signal });
}

/** A JSON array of texts, or one description per paragraph. */
function readProposals(file: string, word: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new UsageError(`cannot read ${quoted(word, 200)}: ${error.code}`, 'name a file with descriptions');
  }
  const value = parseJson(text);
  const listed: readonly unknown[] = Array.isArray(value) ? value : [];
  const proposals =
    listed.length > 0
      ? listed.filter((one): one is string => typeof one === 'string')
      : text.split(/\n\s*\n/).map((one) => one.replaceAll(/\s+/g, ' ').trim());
  const found = proposals.filter((one) => one.trim() !== '');
  if (found.length === 0)
    throw new UsageError(
      `no descriptions in ${quoted(word, 200)}`,
      'write a JSON array, or one description per paragraph',
    );
  return found;
}

function tuneLines(report: TuneReport): readonly string[] {
  const { skill, cases, current, proposals, rejected, winner, invalid, cost } = report;
  const head = `${printable(skill)}: ${countText(cases.train, 'train case')}, ${countText(cases.validation, 'validation case')}`;
  if (invalid.length > 0)
    return [
      'INVALID: a control of the evaluation failed; there is no score',
      ...invalid.map(({ name, asked, found }) => `  ${name}: expected ${printable(asked)}, found ${printable(found)}`),
    ];
  const row = (label: string, { train, description }: TuneReport['current']): string =>
    `  ${label.padEnd(10)} train ${rateText(train)}: ${printable(description)}`;
  const { cost: spent } = armTexts({ ...ownArm({ arms: [] }), cost });
  return [
    head,
    row('current', current),
    ...proposals.map((one, place) => row(`proposal ${String(place + 1)}`, one)),
    ...rejected.map(
      ({ description, reason }) => `  rejected, because ${reason}: ${printable(sliceStart(description, 200))}`,
    ),
    ...(winner === undefined
      ? ['no proposal does better than the current description on the train cases']
      : [
          `best on train: proposal ${String(proposals.findIndex(({ description }) => description === winner.description) + 1)}`,
          `validation: ${rateText(winner.validation)} against ${rateText(winner.currentValidation)} with the current description`,
          `difference: ${differenceText(winner.difference)}, p ${chanceText(winner.p)}: ${winner.isImprovement ? 'an improvement' : 'within noise, no improvement'}`,
          ...(winner.isImprovement
            ? []
            : [
                `with ${countText(winner.validation.of, 'validation case')} the smallest detectable difference is ${percentText(winner.smallestVisible).replace(' %', ' points')}: add cases to see a smaller one`,
              ]),
        ]),
    `cost: ${spent}`,
  ];
}

function writeWinner({ winner }: TuneReport, skill: string, { terminal }: EvalInvocation): number {
  if (winner?.isImprovement !== true) {
    terminal.err('not written: no proposal is an improvement');
    return EXIT.failed;
  }
  const file = path.join(skill, 'SKILL.md');
  const changed = withDescription(skill, readFileSync(file, 'utf8'), winner.description);
  if (changed === undefined) {
    terminal.err('not written: SKILL.md changed meanwhile and cannot hold the description');
    return EXIT.failed;
  }
  writeNamedFile(file, changed);
  terminal.remark(`wrote the description to ${printable(file)}`);
  return EXIT.done;
}
