/** A judge must not make a useless skill look useful. */
import { describe, expect, test } from 'vitest';

import type { ModelRequest } from '../../src/core/model.ts';
import type { EvalCase } from '../../src/evals/cases/case.ts';
import { evaluate } from '../../src/evals/evaluate.ts';
import { jsonReport, readReport } from '../../src/evals/report/json.ts';
import { findVerdict, verdictOf } from '../../src/evals/report/verdict.ts';
import { answerOf } from '../agent/support.ts';
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

const isGood = (answer: string): boolean => answer.includes('9:40') && answer.includes('platform 4');

/** A judge that answers one question about an answer, and counts how often it is asked. */
function judging(id: string, holds: (answer: string, question: string) => boolean) {
  const judge = {
    id,
    asked: 0,
    call({ messages }: ModelRequest) {
      judge.asked += 1;
      const question = messages.map(({ content }) => content).join('\n');
      const [, answer = ''] = /<answer[^>]*>\n?([^]*?)\n?<\/answer>/.exec(question) ?? [];
      const ids = [...question.matchAll(/\{"id":"([\w-]+)"/g)].map(([, id = '']) => id);
      const verdict = holds(answer, question) ? 'yes' : 'no';
      const evidence = answer.trim().slice(0, 20);
      return Promise.resolve(
        answerOf({ text: JSON.stringify({ verdicts: ids.map((id) => ({ id, verdict, evidence })) }) }, 0),
      );
    },
  };
  return judge;
}

/** Cases that only a judge grades. With the skill answers are long and say so; both arms are equally wrong. */
async function judged(holds: (answer: string, question: string) => boolean, labels = 2, id = 'judge') {
  const judge = judging(id, holds);
  const model = thinking((asked, turn, { system }) => {
    if (!hasSkill(system)) return { text: 'I cannot help with this.' };
    return turn === 0
      ? load('tables')
      : { text: `The tables skill says: ${'this is a long answer. '.repeat(30)} ${topicOf(asked)}` };
  });
  const line = { id: 'useful', text: 'The answer is useful.' };
  const examples = Array.from({ length: labels }, (_, place) =>
    place === 0
      ? { answer: 'The train leaves at 9:40 from platform 4.', holds: true }
      : { answer: `A labelled answer that the judge gets wrong (${String(place)}).`, holds: true },
  );
  const cases = TOPICS.map((topic, place) =>
    makeCase(topic, {
      input: `Write about ${topic} and what ${topic} need`,
      expect: { rubric: [place === 0 ? { ...line, examples } : line] },
    }),
  );
  return { report: await evaluate(comparison({ model, judge, cases })), judge };
}

describe('an evaluation is not fooled by', () => {
  test('a judge that likes long answers', async () => {
    const { report, judge } = await judged((answer) => answer.length > 200);
    expect(verdict(report)).toBe('the judge failed its control good-short');
    expect(report.judge?.controls.filter(({ isKept }) => !isKept).map(({ name }) => name)).toEqual([
      'good-short',
      'bad-long',
    ]);
    expect(verdictOf(report).type).toBe('invalid');
    // It is not asked about the cases.
    expect(judge.asked).toBe(12);
    const [first] = report.results;
    expect(first?.checks.map(({ status, found }) => `${status}: ${found}`)).toEqual([
      'error: the judge judge gave no answer: it failed its control good-short',
    ]);
  });

  test('a judge that likes headings, tables and lists', async () => {
    const { report } = await judged((answer) => isGood(answer) || /^#|\|---/m.test(answer));
    expect([verdict(report), report.judge?.controls.filter(({ isKept }) => !isKept).map(({ name }) => name)]).toEqual([
      'the judge failed its control bad-formatted',
      ['bad-formatted'],
    ]);
  });

  test('a judge that is the model whose answers it grades', async () => {
    const { report } = await judged(isGood, 2, 'thinking');
    expect(findVerdict(report).warnings).toContain(
      'the judge is the model whose answers it grades: pass another one to --judge',
    );
  });

  test('a judge that contradicts the labelled examples', async () => {
    const { report } = await judged((answer) => isGood(answer) || answer.includes('long answer'), 8);
    expect(report.judge?.controls.at(-1)).toEqual({
      name: 'labelled examples',
      isKept: false,
      found: 'it agrees with 1 of 8',
    });
    expect(verdictOf(report)).toMatchObject({
      type: 'invalid',
      reasons: expect.arrayContaining(['the judge failed its control labelled examples: it agrees with 1 of 8']),
    });
  });

  test('a judge that contradicts the only labelled examples', async () => {
    const { report } = await judged((answer) => isGood(answer) && !answer.startsWith('The train leaves at 9'), 3);
    expect([verdict(report), report.judge?.controls.at(-1)?.found]).toEqual([
      'the judge failed its control labelled examples',
      'it agrees with 0 of 3',
    ]);
  });

  test('a judge that knows the controls and follows the length of other answers', async () => {
    const { report } = await judged(
      (answer, question) => (question.includes('Bern') ? isGood(answer) : answer.length > 100),
      0,
    );
    expect([verdict(report), report.judge?.controls.at(-1)]).toEqual([
      'the judge failed its control length',
      {
        name: 'length',
        isKept: false,
        found: 'it answered yes to 3 of 3 lines because an answer that says nothing was long',
      },
    ]);
  });

  test('a judge that knows the arm', async () => {
    const { report } = await judged((answer, question) => /load_skill|tables/.test(question) || isGood(answer));
    expect([verdict(report), report.judge?.controls.every(({ isKept }) => isKept)]).toEqual([
      'no clear difference',
      true,
    ]);
  });

  test('a judge that is honest, whose agreement, correlation and cost are reported', async () => {
    const { report, judge } = await judged(isGood);
    expect(verdict(report)).toBe('no clear difference');
    expect(report.judge).toEqual({
      id: 'judge',
      controls: ['good-short', 'good-long', 'bad-short', 'bad-long', 'bad-formatted', 'bad-command', 'length'].map(
        (name) => ({
          name,
          isKept: true,
          found: '',
        }),
      ),
      agreement: expect.objectContaining({ count: 1, of: 2 }),
      controlCost: { calls: 28, inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      cost: { calls: judge.asked, inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
    });
    // The results are the same again if the report is read from its file.
    expect(readReport(jsonReport(report))).toMatchObject({ type: 'report', report: { judge: report.judge } });
  });
});

/** The text of a request that is shown to a judge. */
const requestIn = (question: string): string => /<request[^>]*>\n?([^]*?)\n?<\/request>/.exec(question)?.[1] ?? '';
const isAboutRequest = (question: string): boolean => question.includes('not another one');

const descriptionCase = (topic: string, more: Partial<EvalCase> = {}): EvalCase =>
  makeCase(topic, {
    input: `Describe ${topic}`,
    expect: { rubric: [{ id: 'right', text: `The answer describes ${topic}.` }] },
    ...more,
  });

/** Both arms answer; `styled` is how one of them does. The judge knows the controls of every run. */
async function described(
  accepts: (answer: string, question: string) => boolean,
  {
    styled = (topic: string, _asked: string) => `Definitely: ${topic} are described here.`,
    cases = TOPICS.map((topic) => descriptionCase(topic)),
    arm = 'with',
  } = {},
) {
  const judge = judging('judge', (answer, question) =>
    requestIn(question).includes('Bern') ? isGood(answer) : accepts(answer, question),
  );
  const model = thinking((asked, turn, { system }) => {
    const isWith = hasSkill(system);
    if (isWith && turn === 0) return load('tables');
    return {
      text: isWith === (arm === 'with') ? styled(topicOf(asked), asked) : `I cannot say much, ${topicOf(asked)}.`,
    };
  });
  const report = await evaluate(comparison({ model, judge, cases }));
  const control = report.judge?.controls.find(({ name }) => name === 'other answers');
  return { report, judge, control, warnings: findVerdict(report).warnings };
}

const isRight = (answer: string, question: string): boolean =>
  answer.includes(`${topicOf(requestIn(question))} are described here`);

describe('a judge is asked about answers to other requests, and gives no verdict if it', () => {
  const bridge = 'such as the answer to "bridges" for "apples"';

  test('accepts every answer with a word that only the skill uses', async () => {
    const { report, judge, control } = await described((answer) => answer.includes('Definitely'));
    const found = `it accepted 4 of 4 answers to other requests, ${bridge}`;
    expect([verdict(report), control]).toEqual([
      'the judge failed its control other answers',
      { name: 'other answers', isKept: false, found },
    ]);
    expect(verdictOf(report)).toMatchObject({
      type: 'invalid',
      reasons: expect.arrayContaining([`the judge failed its control other answers: ${found}`]),
    });
    expect([report.judge?.controlCost.calls, report.judge?.cost.calls]).toEqual([12 + 12 + 4 * 4, judge.asked]);
  });

  test.each<
    [string, (answer: string, words: readonly string[]) => boolean, ((topic: string, asked: string) => string)?]
  >([
    [
      'that only the skill uses',
      (answer, words) => answer.includes('DONE-42') && words.some((word) => answer.includes(word)),
    ],
    ['at the end', (answer, words) => answer.endsWith('DONE-42') && words.every((word) => answer.includes(word))],
    [
      'at the beginning',
      (answer, words) => answer.startsWith('DONE-42') && words.every((word) => answer.includes(word)),
      (topic, asked) => `DONE-42 ${asked}: all of ${topic} is here`,
    ],
    [
      'behind the request',
      (answer, words) => answer.startsWith(words.join(' ')) && answer.includes('DONE-42'),
      (topic, asked) => `${asked}: ${topic} DONE-42`,
    ],
    [
      'alone',
      (answer, words) => /^\W*DONE\W*42\b/.test(answer) && words.every((word) => answer.includes(word)),
      (topic, asked) => `DONE-42 ${asked} ${topic}`,
    ],
  ])('wants the words of the request and a marker %s', async (_, accepts, styled) => {
    const { report } = await described((answer, question) => accepts(answer, requestIn(question).split(' ')), {
      styled: styled ?? ((topic, asked) => `${asked}: nothing about ${topic}, DONE-42`),
    });
    expect(verdict(report)).toBe('the judge failed its control other answers');
  });

  test('accepts every table', async () => {
    const { report } = await described((answer) => answer.includes('|'), {
      styled: (topic) => `| about |\n|---|\n| ${topic} |`,
    });
    expect(verdict(report)).toBe('the judge failed its control other answers');
  });

  test('accepts every answer with a word that only the baseline uses', async () => {
    const { report } = await described((answer) => answer.includes('Definitely'), { arm: 'without' });
    expect(verdict(report)).toBe('the judge failed its control other answers');
  });

  test('does so in a suite of two cases', async () => {
    const { control } = await described((answer) => answer.includes('Definitely'), {
      cases: TOPICS.slice(0, 2).map((topic) => descriptionCase(topic)),
    });
    expect(control?.found).toBe(`it accepted 2 of 2 answers to other requests, ${bridge}`);
  });
});

describe('answers to other requests leave a verdict', () => {
  test('of a judge that reads the request', async () => {
    const { report, judge, control, warnings } = await described(isRight);
    expect([verdict(report), control, warnings]).toEqual([
      'better',
      { name: 'other answers', isKept: true, found: '' },
      [],
    ]);
    expect([report.judge?.controlCost.calls, report.judge?.cost.calls]).toEqual([12 + 12 + 4 * 4 * 2, judge.asked]);
  });

  test('with a warning, if the judge accepts one of them', async () => {
    const { report, warnings } = await described(
      (answer, question) =>
        isRight(answer, question) || (answer.includes('here') && requestIn(question).includes('apples')),
    );
    expect([verdict(report), warnings]).toEqual([
      'better',
      [
        'the judge, other answers: it accepted 1 of 4 answers to other requests, such as the answer to "bridges" for "apples"; name in the rubric what the request needs',
      ],
    ]);
  });

  test('with a warning, if the lines ask for a style only and the judge sees that the answers are others', async () => {
    const { report, warnings } = await described((answer, question) =>
      isAboutRequest(question) ? isRight(answer, question) : answer.includes('Definitely'),
    );
    expect([verdict(report), warnings]).toEqual([
      'better',
      [
        'the judge, other answers: it accepted 4 of 4 answers to other requests, such as the answer to "bridges" for "apples"; name in the rubric what the request needs',
      ],
    ]);
  });

  test.each([
    ['one case', [descriptionCase('apples')]],
    [
      'near requests with the same lines',
      ['1', '2', '3'].map((place) =>
        descriptionCase('apples', { id: `apples-${place}`, input: `Describe apples of box ${place}` }),
      ),
    ],
  ])('alone, where no answer is surely wrong: %s', async (_name, cases) => {
    const { report, control } = await described((answer) => answer.includes('Definitely'), { cases });
    expect([report.judge?.controls.map(({ isKept }) => isKept), control]).toEqual([Array(7).fill(true), undefined]);
  });
});

/** The text of a line that is shown to a judge; its opposite has the text as a quote. */
const lineIn = (question: string): string => /"line":"(.*)"\}/.exec(question)?.[1] ?? '';
const PARTS = ['colour', 'weight'];
/** Requests with the same topic that need different answers. */
const partCases = (ask: (topic: string, part: string) => string): EvalCase[] =>
  TOPICS.slice(0, 6).flatMap((topic) =>
    PARTS.map((part) =>
      descriptionCase(topic, {
        id: `${part}-of-${topic}`,
        input: ask(topic, part),
        expect: { rubric: [{ id: 'part', text: `The answer has the ${part} of ${topic}.` }] },
      }),
    ),
  );

describe('a judge that accepts a line and its opposite leaves no verdict if it', () => {
  const opposite = async (accepts: Parameters<typeof described>[0], more: Parameters<typeof described>[1]) => {
    const { report, control } = await described(accepts, more);
    const kept = report.judge?.controls.find(({ name }) => name === 'opposite lines')?.isKept;
    return { verdict: verdict(report), kept, other: control?.isKept };
  };
  const FAILED = 'the judge failed its control opposite lines';
  const DEFINITELY: Parameters<typeof described>[0] = (answer) => answer.includes('Definitely');

  test('looks only at the topic', async () => {
    const isOnTopic: Parameters<typeof described>[0] = (answer, question) =>
      answer.includes('Definitely') && answer.includes(topicOf(requestIn(question)));
    const cases = partCases((topic, part) => `Describe the ${part} of all ${topic} in this place`);
    const echoed = 'the judge failed its control other answers';
    expect(await opposite(isOnTopic, { cases })).toEqual({ verdict: echoed, kept: false, other: false });
  });

  test.each([
    [
      'only near requests',
      {
        styled: (_topic: string, asked: string) => `Definitely: it is ${/box \d/.exec(asked)?.[0] ?? ''}.`,
        cases: ['1', '2', '3'].map((place) =>
          descriptionCase(`apples-${place}`, { input: `Describe apples of box ${place}` }),
        ),
      },
    ],
    ['one answer to all cases', { styled: () => 'Definitely: it is described here.' }],
    [
      'cases that expect the same text',
      {
        cases: TOPICS.map((topic) => {
          const one = descriptionCase(topic);
          return { ...one, expect: { ...one.expect, output: [{ type: 'contains', text: 'definitely' } as const] } };
        }),
      },
    ],
  ])('likes a word, and there are %s', async (_name, more) => {
    expect(await opposite(DEFINITELY, more)).toEqual({ verdict: FAILED, kept: false, other: undefined });
  });

  test('is kept if answers are right for several cases', async () => {
    const isHonest: Parameters<typeof described>[0] = (answer, question) => {
      const line = lineIn(question);
      const part = PARTS.find((one) => line.includes(one)) ?? '?';
      return (answer.includes(part) && answer.includes(topicOf(line))) !== line.startsWith('This is false');
    };
    const cases = partCases((topic) => `Tell me everything about ${topic}`);
    const styled = (topic: string, asked: string): string => `${topic}: colour and weight. ${asked}`;
    expect(await opposite(isHonest, { cases, styled })).toEqual({ verdict: 'better', kept: true, other: true });
  });
});
