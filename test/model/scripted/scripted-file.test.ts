import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readScriptedTurns } from '../../../src/model/scripted/scripted-file.ts';
import { openScripted } from '../../../src/model/scripted/scripted.ts';
import { scratch } from '../../skills/registry/support.ts';

function fileOf(text: string): string {
  const file = path.join(scratch(), 'case.json');
  writeFileSync(file, text);
  return file;
}

describe('a script in a file', () => {
  test('is played as one in a program', async () => {
    const file = fileOf(
      JSON.stringify({
        turns: [
          {
            expect: { contains: ['go'], matches: '^stop$', offers: [] },
            toolCalls: [
              { name: 'load_skill', input: { skill: 'a' } },
              { name: 'x', input: 'no json', id: '7' },
            ],
            usage: { inputTokens: 1 },
          },
          { error: { message: 'busy', status: 429, isRetryable: true } },
          { text: 'done', chunks: [1, 2], finish: 'length', retries: 1, delayMs: 0 },
        ],
      }),
    );
    const model = openScripted(readScriptedTurns(file));
    const call = () =>
      model.call(
        { system: '', messages: [{ role: 'user', content: 'go' }], tools: [] },
        { signal: new AbortController().signal },
      );
    await expect(call()).rejects.toMatchObject({ message: 'call 1: the request does not match /^stop$/mu' });
    await expect(call()).rejects.toMatchObject({
      code: 'model/failed',
      message: 'busy',
      data: { model: 'scripted', status: 429, isRetryable: true },
    });
    expect(await call()).toEqual({ text: 'done', toolCalls: [], finish: 'length', usage: {}, retries: 1 });
  });

  test('a turn that is an action is checked as any other, and the model answers with the action alone', async () => {
    const action = { type: 'final_answer', payload: { answer: 'done' } };
    const turns = [
      { ...action, expect: { contains: ['never'] } },
      { ...action, expect: { contains: ['go'] }, usage: { outputTokens: 3 }, finish: 'length' },
    ];
    const model = openScripted(readScriptedTurns(fileOf(JSON.stringify({ turns }))));
    const call = () =>
      model.call(
        { system: '', messages: [{ role: 'user', content: 'go' }], tools: [] },
        { signal: new AbortController().signal },
      );
    await expect(call()).rejects.toMatchObject({ message: 'call 1: the request lacks "never"' });
    expect(await call()).toEqual({
      text: JSON.stringify(action),
      toolCalls: [],
      finish: 'length',
      usage: { outputTokens: 3 },
      retries: 0,
    });
  });

  test.each([
    ['{"turns":[{"type":"final_answer","expect":{"contain":["x"]}}]}', /unknown key "turns\[0\]\.expect\.contain"/],
    ['{', /is not a script for the scripted model: /],
    ['[]', /the whole must be an object/],
    ['{}', /"turns" must be a list/],
    ['{"turns":[{"text":7}]}', /"turns\[0\]\.text" must be a string/],
    ['{"turns":[{"txt":"x"}]}', /unknown key "turns\[0\]\.txt"; expected one of expect, text, /],
    ['{"turns":[{"toolCalls":[{"name":"x"}]}]}', /"turns\[0\]\.toolCalls\[0\]\.input" must be /],
    ['{"turns":[{"expect":{"matches":"("}}]}', /turns\[0\]\.expect\.matches is not a valid regular expression: "\("/],
    ['{"turns":[{"delayMs":1e12}]}', /"turns\[0\]\.delayMs" must be a whole number from 0 to 86400000/],
  ])('%s is refused with the place', (text, problem) => {
    expect(() => readScriptedTurns(fileOf(text))).toThrow(problem);
  });

  test('that is not there says so', () => {
    expect(() => readScriptedTurns(path.join(scratch(), 'none.json'))).toThrow('the file does not exist');
  });
});
