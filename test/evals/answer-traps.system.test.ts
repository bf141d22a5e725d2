/** Answers that pass or fail for another reason than the skill are named beside a verdict that cannot know the reason. */
import { expect, test } from 'vitest';

import { evaluate } from '../../src/evals/evaluate.ts';
import { findVerdict } from '../../src/evals/report/verdict.ts';
import type { OutputCheck } from '../../src/evals/cases/case.ts';
import {
  comparison,
  differenceVerdict as verdict,
  hasSkill,
  load,
  makeCase,
  thinking,
  topicOf,
  TOPICS,
} from './eval-world.ts';

const FACTS = 'Lima Jupiter Danube Vermeer otter Saturn Bhutan cobalt Verdi Malta heron cello'.split(' ');
const WRONG = 'granite tulip Oslo banjo copper walrus velvet Monday kite rugby lentil Ohio'.split(' ');
const placeOf = (asked: string): number => TOPICS.indexOf(topicOf(asked));
const rightOf = (asked: string): string => `About ${topicOf(asked)}: ${FACTS[placeOf(asked)] ?? ''}.`;
const wrongOf = (asked: string): string => `The answer is ${WRONG[placeOf(asked)] ?? ''}.`;

const VERBS =
  'Describe,Who invented,List colours of,Why fear,Compare old,When were,Draw,Summarise,Sing of,Price,Weigh,Find'.split(
    ',',
  );
const cases = (check: (place: number) => OutputCheck = (place) => ({ type: 'contains', text: FACTS[place] ?? '' })) =>
  TOPICS.map((topic, place) =>
    makeCase(topic, { input: `${VERBS[place] ?? ''} ${topic}`, expect: { output: [check(place)] } }),
  );

type Answer = (asked: string, run: number) => string;

async function judge(withIt: Answer, without: Answer, some = cases()): Promise<readonly unknown[]> {
  let run = 0;
  const model = thinking((asked, turn, { system }) => {
    if (!hasSkill(system)) return { text: without(asked, (run += 1)) };
    return turn === 0 ? load('tables') : { text: withIt(asked, run) };
  });
  const report = await evaluate(comparison({ model, cases: some }));
  return [verdict(report), ...findVerdict(report).warnings];
}

const word = (place: number): string => WRONG[place % WRONG.length] ?? '';

test.each<[string, Answer]>([
  ['quotes the request', (asked) => `Service overloaded. Could not process "${asked}". Please retry.`],
  [
    'names its topic and random words',
    (asked, run) =>
      `Upstream ${word(run)} node timed out while handling ${topicOf(asked)}; retry later (ref ${word(run * 7)}-${word(run * 5)}).`,
  ],
  [
    'is JSON',
    (asked, run) => JSON.stringify({ error: { message: 'overloaded', request: topicOf(asked), id: word(run) } }),
  ],
  [
    'answers half of the cases',
    (asked) =>
      placeOf(asked) % 2 === 0 ? `Overloaded: could not process ${topicOf(asked)}, please retry` : wrongOf(asked),
  ],
])('an error text of one arm that %s', async (name, text) => {
  expect(await judge(rightOf, text)).toEqual([
    'better',
    expect.stringMatching(
      new RegExp(
        `^without: ${name.includes('half') ? 6 : 12} of 12 failed answers are one text around other words: the error text of a server, or a model that does not know; read them: "`,
        'u',
      ),
    ),
  ]);
});

test('wrong answers in a few words, or in words of their own, are no such text', async () => {
  expect(await judge(rightOf, wrongOf)).toEqual(['better']);
  const own = [
    'Perhaps granite grows under older mountains',
    'Tulip bulbs, mostly from Holland',
    'Norway calls this place Oslo',
    'Strings were plucked before 1900',
    'Copper, since wires conduct',
  ];
  expect(await judge(rightOf, (asked) => own[placeOf(asked)] ?? wrongOf(asked))).toEqual(['better']);
});

const SHARED = (count: number) =>
  expect.stringMatching(
    new RegExp(
      `^with: the answers to ${String(count)} of ${String(count)} compared cases also pass the checks of at least 3 other cases: they list many answers, or the cases expect one answer in different words; read them: "`,
      'u',
    ),
  );

test('answers that list what the cases expect', async () => {
  const list =
    (places: readonly number[]): Answer =>
    (asked) =>
      `${topicOf(asked)}: one of ${places.map((place) => FACTS[(placeOf(asked) + place) % FACTS.length] ?? '').join(', ')}`;
  expect(await judge(list([...FACTS.keys()]), wrongOf)).toEqual(['better', SHARED(12)]);
  expect(await judge(list([0, 3, 7, 11]), wrongOf)).toEqual(['better', SHARED(12)]);
  expect(await judge(list([0, 3, 7]), wrongOf)).toEqual(['better']);
});

test('one answer that is expected in different words', async () => {
  const patterns = ['Lima', '(?i)lima', 'L[i]ma', String.raw`\bLima\b`, '(Lima)', 'Lim[a]', 'L(i)ma', '[L]ima'];
  const lima = cases((place) => ({ type: 'matches', pattern: patterns[place] ?? '' })).slice(0, patterns.length);
  expect(await judge((asked) => `${topicOf(asked)}: Lima`, wrongOf, lima)).toEqual(['better', SHARED(8)]);
  const four = lima.map((one, place) => ({ ...one, expect: lima[place % 4]?.expect ?? one.expect }));
  expect(await judge((asked) => `${topicOf(asked)}: Lima`, wrongOf, four)).toEqual(['better', SHARED(8)]);
});
