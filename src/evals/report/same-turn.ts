/** Answers of two arms are compared only if they were given one after the other: a model of another day, or another server, is another model. */
import { countText, quoted } from '#core';
import type { CaseResult } from './result.ts';

type ArmResults = Readonly<Record<'of' | 'against', readonly CaseResult[]>>;

/** Why the answers of the arms do not belong together; undefined if they do, as far as it was recorded. */
export function findApart(cases: readonly ArmResults[]): string | undefined {
  const edited = namesOf(cases, ({ of, against }) => [...of, ...against].some(({ model }) => model.isEdited === true));
  if (edited !== undefined) return `the recorded answers of ${edited} were edited: ${AGAIN}`;
  const recorded = namesOf(cases, (one) => hasApart(one, 'cassette'));
  if (recorded !== undefined)
    return `the recorded answers of ${recorded} are not known to come from one recording of both arms: ${AGAIN}`;
  const live = namesOf(cases, (one) => hasApart(one, 'live'));
  return live && `the arms of ${live} did not run one after the other: run the evaluation again`;
}

const AGAIN =
  'record both arms again (skillwright eval PATH --model NAME --update-cassettes, with the same --baseline)';

function namesOf(cases: readonly ArmResults[], isWrong: (one: ArmResults) => boolean): string | undefined {
  const wrong = cases.filter(isWrong);
  const id = wrong[0]?.of[0]?.case ?? '';
  return wrong.length === 0 ? undefined : `${countText(wrong.length, 'case')}, such as ${quoted(id, 80)},`;
}

/** Whether an attempt has two runs of different turns. Reports of earlier versions have live runs without a turn. */
function hasApart({ of, against }: ArmResults, way: 'cassette' | 'live'): boolean {
  return of.some((mine) => {
    const other = against.find(({ attempt }) => attempt === mine.attempt);
    if (other === undefined || ![mine, other].some(({ model }) => model.way === way)) return false;
    const [a, b] = [mine.turn, other.turn];
    // An attempt that broke before the first answer has none.
    if (mine.status === 'error' || other.status === 'error') return false;
    if (a === undefined || b === undefined) return way === 'cassette';
    return a.id !== b.id || a.order === b.order;
  });
}
