/** `eval tune`: compares descriptions of a skill, whose proposals come from a file or from a model. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { countText, parseJson, printable, quoted, sliceStart, visibleJson } from '#core';
import { isPresent, isSystemError, writeNamedFile } from '#platform';
import { readInputs } from '../project/inputs.ts';
import { raiseUsage } from '../project/raise-usage.ts';
import { newEvaluation } from '../project/report-folder.ts';
import { noModel, progressText, suiteBasis, type SuiteRequest } from '../project/run-evaluation.ts';
import { armTexts, chanceText, differenceText, ownArm, percentText, rateText } from '../report/report-text.ts';
import { openSubjects } from '../subjects/open-subjects.ts';
import { readDistractors } from '../trigger/distractors.ts';
import { proposeDescriptions } from './propose.ts';
import { tune, withDescription, type TuneOptions, type TuneReport } from './tune.ts';

const PROPOSALS = 5;
/** Enough that a description must say what sets the skill apart. */
const DISTRACTORS = 10;

interface TuneRequest extends Omit<SuiteRequest, 'paths'> {
  readonly skill: string;
  readonly proposals?: string;
  /** The model that proposes descriptions (default: `model`). */
  readonly proposer?: string;
}

interface Tuned {
  readonly report: TuneReport;
  readonly notes: readonly string[];
  readonly folder: string;
  readonly lines: readonly string[];
  /** Writes the best description to SKILL.md. Returns the file, or why nothing was written. */
  write(): { readonly file: string } | { readonly reason: string };
}

/** Compares descriptions of a skill. Returns nothing if `onProblems` stops it. */
export async function tuneDescription(request: TuneRequest): Promise<Tuned | undefined> {
  const { cwd } = request;
  const skill = path.resolve(cwd, request.skill);
  if (!isPresent(path.join(skill, 'SKILL.md')))
    raiseUsage(`${quoted(request.skill, 200)} has no SKILL.md`, 'usage: skillwright eval tune SKILL');
  const { distractors = [DISTRACTORS], others } = readDistractors(request.distractors, cwd);
  const whole = { ...request, paths: [skill] };
  const inputs = readInputs(whole);
  if (request.onProblems(inputs.problems)) return undefined;
  const [chosen = { name: '' }] = await openSubjects(request);
  if (chosen.model === undefined) throw noModel();
  const propose = await createProposer(request, skill);
  const folder = newEvaluation(cwd, new Date(), 'tune-');
  const notes = new Set<string>();
  const report = await tune({
    ...suiteBasis(whole, inputs, chosen),
    sourceOf: undefined,
    skill,
    distractors: others?.filter((other) => path.basename(other) !== path.basename(skill)) ?? Math.max(...distractors),
    propose,
    directory: folder,
    onProgress: (state) => request.onProgress(progressText(state)),
    onNote: (note) => void notes.add(note),
  });
  writeNamedFile(path.join(folder, 'tune.json'), visibleJson(JSON.stringify(report, undefined, 2)));
  return { report, notes: [...notes], folder, lines: tuneLines(report), write: () => writeWinner(report, skill) };
}

async function createProposer(request: TuneRequest, skill: string): Promise<TuneOptions['propose']> {
  const { cwd, proposals: file, proposer, subjects, openModel, signal } = request;
  if (file !== undefined) {
    const proposals = readProposals(path.resolve(cwd, file), file);
    return async () => proposals;
  }
  const name = proposer ?? (subjects === undefined ? request.model : undefined);
  if (name === undefined || name === 'rules')
    raiseUsage(
      'no descriptions to compare: the rule model cannot propose any',
      'pass --proposals FILE, or --proposer MODEL',
    );
  const model = await openModel(name);
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
    return raiseUsage(`cannot read ${quoted(word, 200)}: ${error.code}`, 'name a file with descriptions');
  }
  const value = parseJson(text);
  const listed: readonly unknown[] = Array.isArray(value) ? value : [];
  const proposals =
    listed.length > 0
      ? listed.filter((one): one is string => typeof one === 'string')
      : text.split(/\n\s*\n/).map((one) => one.replaceAll(/\s+/g, ' ').trim());
  const found = proposals.filter((one) => one.trim() !== '');
  if (found.length === 0)
    raiseUsage(`no descriptions in ${quoted(word, 200)}`, 'write a JSON array, or one description per paragraph');
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

function writeWinner({ winner }: TuneReport, skill: string): ReturnType<Tuned['write']> {
  if (winner?.isImprovement !== true) return { reason: 'no proposal is an improvement' };
  const file = path.join(skill, 'SKILL.md');
  const changed = withDescription(skill, readFileSync(file, 'utf8'), winner.description);
  if (changed === undefined) return { reason: 'SKILL.md changed meanwhile and cannot hold the description' };
  writeNamedFile(file, changed);
  return { file };
}
