import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readAnswer, repairRequest } from '../../src/agent/json-object.ts';
import { findHidden } from '../../src/core/text/text.ts';
import { verifies } from '../conformance/verifies.ts';

/** The message of an answer that cannot be read. */
function messageOf(text: string): string {
  const reading = readAnswer(text);
  return reading.type === 'unreadable' ? reading.problem.message : 'it was read';
}

describe('the object in an answer', () => {
  test.each([
    ['all of it', '{"a": 1}', []],
    ['space around it', ' \n{"a": 1}\n', []],
    ['a code fence', '```json\n{"a": 1}\n```', []],
    ['a code fence without a language', '```\n{"a": 1}\n```\n', []],
    [
      'prose and a code fence',
      'Sure!\n```json\n{"a": 1}\n```\nBye',
      ['ignored 5 characters of text before the object', 'ignored 3 characters of text after the object'],
    ],
    [
      'two objects',
      '{"a": 1}\n{"a": 2}',
      [
        'the answer contains more than one object; only the first was used',
        'ignored 8 characters of text after the object',
      ],
    ],
    [
      'two objects, the second without an end',
      '{"a": 1}{"a"',
      [
        'the answer contains more than one object; only the first was used',
        'ignored 4 characters of text after the object',
      ],
    ],
    ['a brace in prose before it', 'The {name} is: {"a": 1}', ['ignored 14 characters of text before the object']],
    ['a brace in prose behind it', '{"a": 1} {x}', ['ignored 3 characters of text after the object']],
  ])('%s', (_, text, notes) => {
    expect(readAnswer(text)).toEqual({ type: 'object', value: { a: 1 }, notes });
  });

  test('is found between any words that hold no brace', () => {
    const words = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('{', ''));
    fc.assert(
      fc.property(words, fc.dictionary(fc.string(), fc.jsonValue()), words, (before, value, after) => {
        const reading = readAnswer(`${before}${JSON.stringify(value)}${after}`);
        expect(reading.type === 'object' && reading.value).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  verifies('MOD-3', 'is never guessed: what is not JSON is named with its place', () => {
    const found = [
      '',
      'I cannot do that.',
      '["a"]',
      `{'action': {'type': 'x'}}`,
      '{"action": {"type": "final_answer", "payload": {"answer": "x",}}}',
      '{"action": {"type": "x"}',
      '{"a": 1, // note\n"b": 2}',
      'Sure:\n{"answer": "two\nlines"}',
    ].map(messageOf);
    expect(found).toEqual([
      'the text contains no JSON object; line 1, column 1',
      'the text contains no JSON object; line 1, column 18, after "I cannot do that."',
      'the text contains no JSON object; line 1, column 6, after "["a"]"',
      `the text contains no JSON object: expected a key in double quotes after {, found "'"; line 1, column 2, after "{"`,
      'expected another key in double quotes after the comma, found "}"; line 1, column 63, after "inal_answer", "payload": {"answer": "x","',
      'the text ends with 1 open bracket; line 1, column 25, after "{"action": {"type": "x"}"',
      'expected another key in double quotes after the comma, found "/"; line 1, column 10, after "{"a": 1, "',
      'a line break inside a string: write it as \\n; line 2, column 16, after "Sure:\\n{"answer": "two"',
    ]);
  });

  test('an object inside of a broken one is no answer', () => {
    expect(readAnswer(`{"action": {"type": "x"}, 'plan_update': {"goal": "y"}}`).type).toBe('unreadable');
  });

  test('hostile answers are read in one pass', () => {
    const answers = ['{'.repeat(2_000_000), '{"'.repeat(1_000_000), ' '.repeat(2_000_000), '```'.repeat(700_000)];
    const kinds = [...answers, `${' '.repeat(1_000_000)}{}${'\n'.repeat(1_000_000)}x`].map((text) => {
      const reading = readAnswer(text);
      return reading.type === 'object' ? 'object' : reading.problem.kind;
    });
    expect(kinds).toEqual(['cut', 'invalid', 'missing', 'missing', 'object']);
  });
});

describe('the request to repair an answer', () => {
  test('says what was wrong, where, and what is expected', () => {
    const reading = readAnswer('{"a": 1,}');
    expect(reading.type === 'unreadable' && repairRequest(reading.problem)).toBe(
      [
        'Your last answer was not used: expected another key in double quotes after the comma, found "}"; line 1, column 9, after "{"a": 1,".',
        'Nothing was done. Answer again with one JSON object and nothing else: no text around it, no code fence, double quotes, no comments, no comma before a closing bracket.',
      ].join('\n'),
    );
    expect(repairRequest({ message: 'unknown action "x"', hint: 'the actions are y', nearest: ['y', 'z'] })).toBe(
      [
        'Your last answer was not used: unknown action "x".',
        'What to do: the actions are y.',
        'Did you mean "y" or "z"?',
        'Nothing was done. Answer again with one JSON object and nothing else: no text around it, no code fence, double quotes, no comments, no comma before a closing bracket.',
      ].join('\n'),
    );
  });

  test('holds nothing of the answer that acts or hides, and no line of its own', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const reading = readAnswer(text);
        if (reading.type === 'object') return;
        const request = repairRequest(reading.problem);
        expect(findHidden(request)).toBeUndefined();
        expect(request.split('\n')).toHaveLength(2);
      }),
    );
  });
});
