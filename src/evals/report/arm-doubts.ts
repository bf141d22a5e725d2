/** What makes the difference of two arms doubtful besides the skill: another model that answered, answers that were cut short, and the order of the runs. */
import { countText, printable, quoted } from '#core';
import { describeCanned, findCanned } from './canned-answers.ts';
import { verdictOfDifference } from './report-text.ts';
import { listSharedAnswers } from './shared-answers.ts';
import { compareCases } from '../statistics/case-differences.ts';
import {
  findEarlyEnd,
  groupBy,
  hasEndedEarly,
  hasVerdict,
  isCounted,
  type CaseResult,
  type Comparison,
  type EvalReport,
} from './result.ts';

type Sides<T> = Readonly<Record<'of' | 'against', T>>;
type ArmResults = Sides<readonly CaseResult[]>;

/** The attempts that both arms have. */
function listPairs({ of, against }: ArmResults): readonly Sides<CaseResult>[] {
  return of.flatMap((mine) => {
    const other = against.find(({ attempt }) => attempt === mine.attempt);
    return other === undefined ? [] : [{ of: mine, against: other }];
  });
}

type Served = 'models' | 'fingerprints';

export function listServed(results: readonly CaseResult[], kind: Served): readonly string[] {
  return [...new Set(results.flatMap(({ model }) => model.served?.[kind] ?? []))].toSorted();
}

/** The recorded condition with the skills that another agent brings; absent if its transcript does not name them. */
export const OWN_SKILLS = 'skills of the agent';

export function listOwnSkills(results: readonly Pick<CaseResult, 'given'>[]): readonly string[] {
  const names = results.flatMap(({ given }) => (given?.[OWN_SKILLS] ?? '').split(', '));
  return [...new Set(names)].filter((name) => name !== '').toSorted();
}

const namesText = (names: readonly string[]): string => (names.length === 0 ? 'unknown' : printable(names.join(', ')));

/** No model answered an attempt that ran out of time, or whose request failed, before the first answer. */
function isAnswered(result: CaseResult): boolean {
  return result.model.served !== undefined || (hasVerdict(result) && !hasEndedEarly(result));
}

/** Why the arms were not answered by the same model; undefined if they were, as far as the server says. */
export function findOtherModel(cases: readonly ArmResults[]): string | undefined {
  const pairs = cases
    .flatMap(listPairs)
    .filter(({ of, against }) => (of.model.served ?? against.model.served) !== undefined);
  const other = pairs.filter(
    ({ of, against }) =>
      isAnswered(of) &&
      isAnswered(against) &&
      listServed([of], 'models').join('\n') !== listServed([against], 'models').join('\n'),
  );
  const texts = (kind: Served, some: readonly Sides<CaseResult>[]) =>
    (['of', 'against'] as const).map((side) =>
      listServed(
        some.map((pair) => pair[side]),
        kind,
      ),
    );
  if (other.length > 0) {
    const [mine = [], theirs = []] = texts('models', other);
    return `different models answered in ${String(other.length)} of ${countText(pairs.length, 'attempt')}: ${namesText(mine)} against ${namesText(theirs)}`;
  }
  const [mine = [], theirs = []] = texts('fingerprints', pairs);
  const isApart = mine.length > 0 && theirs.length > 0 && !mine.some((name) => theirs.includes(name));
  return isApart ? `the system fingerprints differ: ${namesText(mine)} against ${namesText(theirs)}` : undefined;
}

/** Runs that a limit or a crash ended. The limit, the server and the machine take part in it, so that it proves less than a wrong answer. */
export function countEarlyEnds(cases: readonly ArmResults[]): Comparison['endedEarly'] {
  const ends = (side: keyof ArmResults) =>
    cases.flatMap((one) => one[side].flatMap((result) => findEarlyEnd(result) ?? []));
  const [of, against] = [ends('of'), ends('against')];
  const names = [...new Set([...of, ...against])].toSorted();
  return { of: of.length, against: against.length, by: names.map((name) => END_NAMES.get(name) ?? name) };
}

const END_NAMES: ReadonlyMap<string, string> = new Map([
  ['turns', 'max_turns'],
  ['toolCalls', 'max_tool_calls'],
  ['scriptRuns', 'max_script_runs'],
  ['tokens', 'max_tokens'],
  ['contextTokens', 'max_context_tokens'],
  ['wallMs', 'the time limit'],
  ['length', 'the limit of output tokens'],
  ['filter', 'a content filter'],
  ['crash', 'a crash'],
  ['failure', 'repeated failures'],
]);

interface OrderedCase {
  readonly results: ArmResults;
  readonly outcomes: Sides<readonly (boolean | undefined)[]>;
}

/** How often the first and the second run of a turn passed, if the difference is more than chance: the server changes or remembers. */
export function findOrderEffect(cases: readonly OrderedCase[]): Comparison['order'] {
  const counts = { first: 0, second: 0, of: 0 };
  const units = cases.flatMap(({ results, outcomes }) => {
    const attempts = [...new Set([...results.of, ...results.against].map(({ attempt }) => attempt))].toSorted(
      (a, b) => a - b,
    );
    const differences = listPairs(results).flatMap(({ of, against }) => {
      const place = attempts.indexOf(of.attempt);
      const [mine, theirs] = [outcomes.of[place], outcomes.against[place]];
      const order = Math.sign((against.turn?.order ?? 0) - (of.turn?.order ?? 0));
      if (mine === undefined || theirs === undefined || order === 0 || of.turn?.id !== against.turn?.id) return [];
      const [first, second] = order > 0 ? [mine, theirs] : [theirs, mine];
      counts.first += Number(first);
      counts.second += Number(second);
      counts.of += 1;
      return [Number(first) - Number(second)];
    });
    return differences.length === 0
      ? []
      : [{ seen: differences.reduce((sum, one) => sum + one, 0) / differences.length }];
  });
  return units.length > 0 && compareCases(units).p < 0.05 ? counts : undefined;
}

const MOST_NAMES = 10;

/** What a reader must know about the comparison before believing it. */
export function listDoubts({ comparisons, results }: EvalReport): readonly string[] {
  const changes = (['models', 'fingerprints'] as const).flatMap((kind) => {
    const names = listServed(results, kind);
    const what = kind === 'models' ? 'the model that answered' : 'the system fingerprint of the server';
    return names.length < 2 ? [] : [`${what} changed during the evaluation: ${namesText(names)}`];
  });
  const edited = [...new Set(results.flatMap(({ case: id, model }) => (model.isEdited === true ? [id] : [])))];
  const more = edited.length > MOST_NAMES ? ` and ${String(edited.length - MOST_NAMES)} more` : '';
  const edits =
    edited.length === 0
      ? []
      : [
          `recorded answers of ${countText(edited.length, 'case')} were edited: ${edited.slice(0, MOST_NAMES).join(', ')}${more}; record them again`,
        ];
  const own = listOwnSkills(results);
  const counted = results.filter(isCounted);
  const canned = findCanned(counted);
  return [
    ...changes,
    ...(own.length === 0 ? [] : [`the agent brings skills of its own, in all runs: ${namesText(own)}`]),
    ...edits,
    ...listEarlierErrors(counted),
    ...describeCanned(counted, canned),
    ...listSameAnswers(counted, canned),
    ...listSharedAnswers(counted),
    ...comparisons.flatMap((one) => listComparisonDoubts(one, counted)),
  ];
}

function listEarlierErrors(results: readonly CaseResult[]): readonly string[] {
  const again = groupBy(
    results.filter(({ earlierErrors = 0 }) => earlierErrors > 0),
    ({ arm }) => arm,
  );
  return [...again].map(
    ([arm, own]) =>
      `${arm}: ${countText(own.length, 'attempt')} ended in an error in an earlier session and decide no comparison: --no-eval-cache asks all again`,
  );
}

/** Fewer cases may have one answer. */
const FEWEST_SAME = 6;

/** A server that answers without reading the request, or a skill with one answer for everything. The rule model shows what its calls returned. */
function listSameAnswers(counted: readonly CaseResult[], canned: ReadonlySet<CaseResult>): readonly string[] {
  const graded = counted.filter(
    (result) =>
      !canned.has(result) &&
      hasVerdict(result) &&
      !hasEndedEarly(result) &&
      result.model.way !== 'rules' &&
      result.checks.some(isOfAnswer),
  );
  return [...groupBy(graded, ({ arm }) => arm)].flatMap(([arm, own]) => {
    const cases = new Set(own.map((result) => result.case)).size;
    const answers = new Set(own.map(({ answer }) => answer.trim()));
    if (cases < FEWEST_SAME || answers.size > 1) return [];
    return [`${arm}: one answer to all ${countText(cases, 'case')}: ${quoted([...answers].join(''), 80)}`];
  });
}

/** The mean over all requests of an arm; undefined if no request is known. */
function countPromptTokens(results: readonly CaseResult[], arm: string): number | undefined {
  const costs = results.flatMap((result) => (result.arm === arm && hasVerdict(result) ? [result.cost] : []));
  const turns = costs.reduce((sum, cost) => sum + cost.turns, 0);
  const tokens = costs.reduce((sum, cost) => sum + cost.inputTokens, 0);
  return turns === 0 || tokens === 0 ? undefined : tokens / turns;
}

const isOfAnswer = ({ kind, asked }: CaseResult['checks'][number]): boolean =>
  kind === 'judge' || (kind === 'output' && asked.startsWith('the answer '));

/** Prompts that are this much longer may change the answers of a model whatever their text is. */
const LONGER = 1.2;

function listComparisonDoubts(comparison: Comparison, results: readonly CaseResult[]): readonly string[] {
  const { of, against, endedEarly, endedEarlyVerdict, missing, order, pairs, used, differing } = comparison;
  const isOldLoaded = results.some(
    ({ arm, loaded }) => arm === against && loaded.some((name) => differing.includes(`skill ${name}`)),
  );
  const [mine, theirs] = [of, against].map((arm) => countPromptTokens(results, arm));
  const ratio = mine === undefined || theirs === undefined ? 1 : mine / theirs;
  const counts = (some: Sides<number>): string =>
    `${of} ${String(some.of)}, ${against} ${String(some.against)} of ${countText(pairs, 'attempt')}`;
  const broken = results.filter(({ arm, status }) => arm === against && status === 'error');
  return [
    ...(verdictOfDifference(comparison) === 'better' && ratio >= LONGER
      ? [
          `prompts are ${ratio.toFixed(1)} times as long with the skill, which alone can change answers: compare with a version of it that has neutral text (--baseline REVISION)`,
        ]
      : []),
    ...(against === 'old' && used !== undefined && verdictOfDifference(comparison) === 'better' && !isOldLoaded
      ? [
          'the old version was never loaded, so that the comparison is one with no skill: read its description in that revision',
        ]
      : []),
    ...(endedEarlyVerdict === undefined
      ? []
      : [
          `"${endedEarlyVerdict}" only because attempts did not end by themselves: ${counts(endedEarly)} were ended by ${endedEarly.by.join(', ')}`,
        ]),
    ...(missing.against === 0 || broken.length === 0
      ? []
      : [
          `the baseline broke: ${counts(missing)} are missing, such as ${quoted(broken[0]?.case ?? '')}: ${printable(broken[0]?.reason ?? '').slice(0, 200)}`,
        ]),
    ...(order === undefined
      ? []
      : [
          `the order matters: of ${countText(order.of, 'turn')} the first run passed ${String(order.first)} times, the second ${String(order.second)} times; the server changes, or remembers`,
        ]),
  ];
}
