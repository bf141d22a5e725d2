/** A judge must not make a useless skill look useful. */
import { describe, expect, test } from 'vitest';

import type { ModelRequest } from '../../src/core/model.ts';
import { evaluate } from '../../src/evals/evaluate.ts';
import { jsonReport, readReport } from '../../src/evals/report/json.ts';
import { verdictOf } from '../../src/evals/report/report.ts';
import { findVerdict } from '../../src/evals/report/verdict.ts';
import { answerOf } from '../agent/support.ts';
import { comparison, differenceVerdict as verdict, hasSkill, load, makeCase, thinking, TOPICS } from './eval-world.ts';

const isGood = (answer: string): boolean => answer.includes('9:40') && answer.includes('platform 4');

/** Cases that only a judge grades. With the skill answers are long and say so; both arms are equally wrong. */
async function judged(holds: (answer: string, question: string) => boolean, labels = 2, id = 'judge') {
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
  const model = thinking((_asked, turn, { system }) => {
    if (!hasSkill(system)) return { text: 'I cannot help with this.' };
    return turn === 0 ? load('tables') : { text: `The tables skill says: ${'this is a long answer. '.repeat(30)}` };
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
