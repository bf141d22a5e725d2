import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openActionStream } from '../../src/agent/action-stream.ts';
import type { JsonStreamEnd } from '../../src/agent/json/json-stream.ts';
import { piecesOf, singlePieces } from './json/pieces.ts';

interface Shown {
  readonly told: readonly string[];
  readonly end: JsonStreamEnd;
}

/** What is told, in order: `action=…` for fields, plain text for the answer. */
function show(pieces: readonly string[]): Shown {
  const told: string[] = [];
  const stream = openActionStream({
    onAnswerText: (delta) => told.push(delta),
    onField: (name, value) => told.push(`${name}=${value}`),
  });
  for (const piece of pieces) stream.write(piece);
  return { told, end: stream.end() };
}

describe('a decision while it arrives', () => {
  test('is shown as it grows: goal, steps, action, answer', () => {
    const pieces = [
      'Sure:\n{"plan_update": {"mode": "replace", "plan": {"goal": "Sum\\u001b[31m it", "steps": [{"id": "s1", "ti',
      'tle": "Run"}, {"id": "s2", "title": "Ans',
      'wer"}]}}, "action": {"type": "final_an',
      'swer", "payload": {"answer": "The s',
      'um is \\u0034',
      '2."}}}',
    ];
    expect(show(pieces)).toEqual({
      told: ['goal=Sum it', 'step=Run', 'step=Answer', 'action=final_answer', 'The s', 'um is 4', '2.'],
      end: expect.objectContaining({ type: 'object' }) as unknown,
    });
  });

  test.each([
    ['the bare plan', { goal: 'g', steps: ['one', { title: 'two' }] }, ['goal=g', 'step=one', 'step=two']],
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
    ['what is no plan', { goal: 5, steps: [7, null, {}, []], plan: { steps: { a: { title: 't' } } } }, ['step=t']],
    ['deeper things', { plan: { steps: [{ title: 't', steps: [{ title: 'u' }] }] }, steps: [] }, ['step=t']],
  ])('%s', (_, plan_update, told) => {
    expect(show([JSON.stringify({ plan_update })]).told).toEqual(told);
  });

  test('an answer before its action waits until it is known to be one', () => {
    expect(show(['{"action": {"payload": {"answer": "a', 'b"}, "type": "final_answer"}}']).told).toEqual([
      'action=final_answer',
      'ab',
    ]);
    expect(show(['{"action": {"payload": {"answer": "ab"}, "type": "other"}}']).told).toEqual(['action=other']);
    expect(show(['{"action": {"payload": {"answer": "ab"}}}']).told).toEqual([]);
  });

  test('a parameter called answer of another action is not shown, nor one at another place', () => {
    expect(show(['{"action": {"type": "write_input", "payload": {"answer": "ab"}}}']).told).toEqual([
      'action=write_input',
    ]);
    const deep = { answer: 'a', action: { type: 'final_answer', answer: 'b', payload: { x: { answer: 'c' } } } };
    expect(show([JSON.stringify(deep)]).told).toEqual(['action=final_answer']);
  });

  test('what is told adds up to the answer, however it is cut and in whatever order', () => {
    const texts = fc.string({ unit: 'binary' });
    const decisions = fc.tuple(texts, fc.boolean()).map(([answer, isLate]) => {
      const payload = { answer };
      const type = 'final_answer';
      const text = JSON.stringify({ action: isLate ? { payload, type } : { type, payload } });
      return { answer, text };
    });
    fc.assert(
      fc.property(
        decisions.chain(({ answer, text }) => fc.tuple(fc.constant(answer), fc.constant(text), piecesOf(text))),
        ([answer, text, pieces]) => {
          for (const cut of [pieces, singlePieces(text)]) {
            const { told } = show(cut);
            expect(told[0]).toBe('action=final_answer');
            expect(told.slice(1).join('')).toBe(answer);
          }
        },
      ),
    );
  });

  test('of a decision that breaks off, what was told is told, and the end says so', () => {
    const { told, end } = show(['{"action": {"type": "final_answer", "payload": {"answer": "The s', '\n"']);
    expect(told).toEqual(['action=final_answer', 'The s']);
    expect(end).toMatchObject({ type: 'broken', problem: { kind: 'invalid', line: 1, column: 65 } });
  });

  test('prose shows nothing', () => {
    expect(show(['I would say {type: final_answer}, "answer": "x"']).told).toEqual([]);
  });
});
