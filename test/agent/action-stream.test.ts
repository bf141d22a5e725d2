import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openActionStream } from '../../src/agent/action-stream.ts';
import { verifies } from '../conformance/verifies.ts';
import { piecesOf, singlePieces } from './pieces.ts';

/** What the handlers receive, in order: `action=…` for fields, plain text for the answer. */
async function shown(pieces: readonly string[]): Promise<readonly string[]> {
  const told: string[] = [];
  const stream = openActionStream({
    onAnswerText: (delta) => told.push(delta),
    onField: (name, value) => told.push(`${name}=${value}`),
  });
  for (const piece of pieces) stream.write(piece);
  await stream.close();
  return told;
}

describe('a decision while it arrives', () => {
  verifies('MOD-4', 'is shown as it grows: goal, steps, action, answer', async () => {
    const pieces = [
      'Sure:\n{"plan_update": {"mode": "replace", "plan": {"goal": "Sum\\u001b[31m it", "steps": [{"id": "s1", "ti',
      'tle": "Run"}, {"id": "s2", "title": "Ans',
      'wer"}]}}, "action": {"type": "final_an',
      'swer", "payload": {"answer": "The s',
      'um is \\u0034',
      '2."}}}',
    ];
    expect(await shown(pieces)).toEqual([
      'goal=Sum it',
      'step=Run',
      'step=Answer',
      'action=final_answer',
      'The s',
      'um is 4',
      '2.',
    ]);
  });

  test.each([
    ['a bare plan', { goal: 'g', steps: ['one', { title: 'two' }] }, ['goal=g', 'step=one', 'step=two']],
    [
      'a patch',
      {
        mode: 'patch',
        steps: [
          { id: 's1', status: 'completed' },
          { id: 'a b', status: 'x\ny' },
        ],
      },
      ['step=s1: completed', 'step="a b": "x\\ny"'],
    ],
    ['a malformed plan', { goal: 5, steps: [7, null, {}, []], plan: { steps: { a: { title: 't' } } } }, ['step=t']],
    ['nested steps', { plan: { steps: [{ title: 't', steps: [{ title: 'u' }] }] }, steps: [] }, ['step=t']],
  ])('the fields of %s are shown', async (_, plan_update, told) => {
    expect(await shown([JSON.stringify({ plan_update })])).toEqual(told);
  });

  test('an answer that precedes its action type is held back until the type is known', async () => {
    expect(await shown(['{"action": {"payload": {"answer": "a', 'b"}, "type": "final_answer"}}'])).toEqual([
      'action=final_answer',
      'ab',
    ]);
    expect(await shown(['{"action": {"payload": {"answer": "ab"}, "type": "other"}}'])).toEqual(['action=other']);
    expect(await shown(['{"action": {"payload": {"answer": "ab"}}}'])).toEqual([]);
  });

  test('a key "answer" of another action or at another path is not shown', async () => {
    expect(await shown(['{"action": {"type": "write_input", "payload": {"answer": "ab"}}}'])).toEqual([
      'action=write_input',
    ]);
    const deep = { answer: 'a', action: { type: 'final_answer', answer: 'b', payload: { x: { answer: 'c' } } } };
    expect(await shown([JSON.stringify(deep)])).toEqual(['action=final_answer']);
  });

  test('the deltas add up to the answer for every way to cut the text and every order of keys', async () => {
    const texts = fc.string({ unit: 'binary' });
    const decisions = fc.tuple(texts, fc.boolean()).map(([answer, isLate]) => {
      const payload = { answer };
      const type = 'final_answer';
      const text = JSON.stringify({ action: isLate ? { payload, type } : { type, payload } });
      return { answer, text };
    });
    await fc.assert(
      fc.asyncProperty(
        decisions.chain(({ answer, text }) => fc.tuple(fc.constant(answer), fc.constant(text), piecesOf(text))),
        async ([answer, text, pieces]) => {
          for (const cut of [pieces, singlePieces(text)]) {
            const told = await shown(cut);
            expect(told[0]).toBe('action=final_answer');
            expect(told.slice(1).join('')).toBe(answer);
          }
        },
      ),
    );
  });

  test('no character is shown in halves', async () => {
    const text = '{"action":{"type":"final_answer","payload":{"answer":"x😀y\\ud83d\\uDE00"}}}';
    expect((await shown(singlePieces(text))).slice(1)).toEqual(['x', '😀', 'y', '😀']);
  });

  test('a long answer in small pieces is shown completely and in bounded time', async () => {
    const answer = 'ab"c😀\n'.repeat(20_000);
    const text = JSON.stringify({ action: { type: 'final_answer', payload: { answer } } });
    const pieces = text.match(/[^]{1,7}/g) ?? [];
    expect((await shown(pieces)).slice(1).join('')).toBe(answer);
  });

  test('a decision that becomes invalid stays shown up to the error', async () => {
    const start = '{"action": {"type": "final_answer", "payload": {"answer": "The s';
    expect(await shown([start, '\n"'])).toEqual(['action=final_answer', 'The s']);
    expect(await shown([start, 'um'])).toEqual(['action=final_answer', 'The s', 'um']);
  });

  test('a duplicate key changes nothing that was shown', async () => {
    const start = '{"action": {"type": "final_answer", "payload": {"answer": "one", "answer": "another';
    expect(await shown([start, ' one"}}}'])).toEqual(['action=final_answer', 'one']);
    expect(await shown(singlePieces(start))).toEqual(['action=final_answer', 'o', 'n', 'e']);
  });

  test('text after the object is ignored', async () => {
    const text = '{"action": {"type": "final_answer", "payload": {"answer": "a"}}}';
    expect(await shown([`${text} {"action"`, text])).toEqual(['action=final_answer', 'a']);
  });

  test('hostile input ends the display', async () => {
    const start = '{"action": {"type": "final_answer", "payload": {"answer": "a", "x": ';
    for (const rest of [singlePieces('1'.repeat(200_000)), ['['.repeat(1_000_000)], ['{"a":'.repeat(200_000)]])
      expect(await shown([start, ...rest])).toEqual(['action=final_answer', 'a']);
    expect(await shown(['{', ...singlePieces(' '.repeat(200_000)), 'x'])).toEqual([]);
  });

  test('an error of a handler is reported by close', async () => {
    const stream = openActionStream({
      onAnswerText() {
        throw new RangeError('no space left');
      },
    });
    stream.write('{"action": {"type": "final_answer", "payload": {"answer": "a"}}}');
    await expect(stream.close()).rejects.toThrow('no space left');
  });

  test('prose is not shown', async () => {
    expect(await shown(['I would say {type: final_answer}, "answer": "x"'])).toEqual([]);
  });
});
