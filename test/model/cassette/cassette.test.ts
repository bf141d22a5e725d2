import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { SkillError } from '../../../src/core/errors.ts';
import type { Model, ModelAnswer, ModelDelta, ModelRequest } from '../../../src/core/model.ts';
import { recordCassette, replayCassette } from '../../../src/model/cassette/cassette.ts';
import { openScripted } from '../../../src/model/scripted/scripted.ts';
import { built, scratch } from '../../skills/registry/support.ts';
import { verifies } from '../../conformance/verifies.ts';

const signal = new AbortController().signal;
const SECRET = 'sk-canary-0123456789';
const redact = (text: string): string => text.replaceAll(SECRET, '[redacted]');

function request(content: string, over: Partial<ModelRequest> = {}): ModelRequest {
  return { system: 'line one\nline two', messages: [{ role: 'user', content }], tools: [], ...over };
}

const afterCall = (id: string): ModelRequest =>
  request('', {
    messages: [
      { role: 'assistant', content: '', toolCalls: [{ id, name: 'x', input: '{}' }] },
      { role: 'tool', callId: id, toolName: 'x', content: 'result', isError: false },
    ],
  });

async function streamed(
  model: Model,
  asked: ModelRequest,
): Promise<{ readonly answer: ModelAnswer; readonly deltas: readonly ModelDelta[] }> {
  const deltas: ModelDelta[] = [];
  const answer = await model.call(asked, { signal, onDelta: (delta) => deltas.push(delta) });
  return { answer, deltas };
}

const cassette = (): string => path.join(scratch(), 'talk.jsonl');
const linesOf = (file: string): readonly unknown[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('a cassette', () => {
  verifies('MOD-5', 'gives the same answers, deltas, window and failures as the model did', async () => {
    const file = cassette();
    const failure = new SkillError({
      code: 'model/failed',
      message: 'too many requests',
      hint: 'wait',
      data: { model: 'm', status: 429, isRetryable: true },
    });
    const inner = openScripted(
      [
        { text: 'héllo 💥\u0000', chunks: [2, 3], usage: { inputTokens: 5, outputTokens: 2 } },
        { toolCalls: [{ name: 'x', input: '{"broken":' }], chunks: [4] },
        { text: 'quiet' },
        { error: failure },
      ],
      { id: 'lab/one', contextWindow: 1000 },
    );
    const recording = recordCassette(inner, file);
    const first = await streamed(recording, request('a'));
    const second = await streamed(recording, request('b'));
    const third = await recording.call(request('c'), { signal });
    await expect(recording.call(request('d'), { signal })).rejects.toBe(failure);

    const playing = replayCassette(file);
    expect([playing.id, playing.contextWindow]).toEqual(['lab/one', 1000]);
    expect(await streamed(playing, request('b'))).toEqual(second);
    expect(await streamed(playing, request('a'))).toEqual(first);
    expect(await streamed(playing, request('c'))).toEqual({ answer: third, deltas: [{ type: 'text', text: 'quiet' }] });
    expect(() => {
      playing.assertDone();
    }).toThrow('1 of 4 recorded calls were not requested');
    await expect(playing.call(request('d'), { signal })).rejects.toMatchObject({
      code: 'model/failed',
      message: 'too many requests',
      hint: 'wait',
      data: { model: 'lab/one', status: 429, isRetryable: true },
    });
    playing.assertDone();
  });

  test('is lines of JSON that are safe to print, the first of which says what it is', async () => {
    const file = cassette();
    await recordCassette(openScripted([{ text: 'a\u001b[2J\u202e' }], { id: 'lab/one' }), file).call(request('x'), {
      signal,
    });
    expect(readFileSync(file, 'utf8')).not.toMatch(/[\u001b\u202e]/);
    expect(linesOf(file)).toEqual([
      { cassette: 1, model: 'lab/one' },
      {
        key: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
        request: request('x'),
        answer: { text: 'a\u001b[2J\u202e', toolCalls: [], finish: 'stop', usage: {}, retries: 0 },
        deltas: [],
        digest: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      },
    ]);
    expect(readdirSync(path.dirname(file))).toEqual(['talk.jsonl']);
  });

  test('knows that an answer, its model or its request was edited, if it was recorded with digests', async () => {
    const file = cassette();
    const model = recordCassette(openScripted([{ text: 'one' }, { text: 'two' }]), file);
    for (const asked of ['x', 'y']) await model.call(request(asked), { signal });
    const kept = readFileSync(file, 'utf8');
    const isEdited = (text: string): boolean => {
      writeFileSync(file, text);
      return replayCassette(file).isEdited;
    };
    expect([kept, kept.replaceAll(/"digest":"\w+",?/g, '')].map(isEdited)).toEqual([false, false]);
    const edits = [
      kept.replace('"text":"two"', '"text":"too"'),
      kept.replace('"model":"scripted"', '"model":"other"'),
      kept.replace(/"key":"../, '"key":"zz'),
      kept.replace(/"digest":"\w+",?/, ''),
    ];
    expect(edits.map((text) => text !== kept && isEdited(text))).toEqual([true, true, true, true]);
  });

  test('another request fails with what changed', async () => {
    const file = cassette();
    await recordCassette(openScripted([{ text: 'x' }]), file).call(request('what is in orders.csv?'), { signal });
    await expect(
      replayCassette(file).call(request('what is in bills.csv?', { system: 'line one\nline 2' }), { signal }),
    ).rejects.toMatchObject({
      code: 'model/failed',
      message: [
        'this request was not recorded; differences (+) to the next recorded one (-):',
        '  [system]',
        '  line one',
        '- line two',
        '+ line 2',
        '  [user]',
        '- what is in orders.csv?',
        '+ what is in bills.csv?',
        '  [answer schema] null',
        '  [max output tokens] any',
      ].join('\n'),
    });
  });

  test('the same request asked more often than it was recorded fails, and so does one after the end', async () => {
    const file = cassette();
    const recording = recordCassette(openScripted([{ text: 'one' }, { text: 'two' }]), file);
    for (let call = 0; call < 2; call += 1) await recording.call(request('again'), { signal });
    const playing = replayCassette(file);
    expect((await playing.call(request('again'), { signal })).text).toBe('one');
    expect((await playing.call(request('again'), { signal })).text).toBe('two');
    await expect(playing.call(request('again'), { signal })).rejects.toThrow(
      'recorded 2 times and is now sent once more',
    );
    await expect(playing.call(request('other'), { signal })).rejects.toThrow('all 2 recorded calls');
  });

  test('without strictness the next recorded answer is given, and the last one of a request again', async () => {
    const file = cassette();
    const recording = recordCassette(openScripted([{ text: 'one' }, { text: 'two' }]), file);
    for (const content of ['a', 'b']) await recording.call(request(content), { signal });
    const playing = replayCassette(file, { strict: false });
    const texts = [];
    for (const content of ['new', 'b', 'b', 'a']) texts.push((await playing.call(request(content), { signal })).text);
    expect(texts).toEqual(['one', 'two', 'two', 'one']);
  });

  test('ids of calls and line ends do not make another request', async () => {
    const file = cassette();
    await recordCassette(openScripted([{ text: 'x' }]), file).call(afterCall('toolu_19ab'), { signal });
    const { answer } = await streamed(replayCassette(file), {
      ...afterCall('call_77'),
      system: 'line one\r\nline two',
    });
    expect(answer.text).toBe('x');
  });

  test('secrets are in no line of it, also where deltas cut them, and it plays with another secret in their place', async () => {
    const file = cassette();
    const inner = openScripted([
      { text: `the key is ${SECRET}`, toolCalls: [{ name: 'x', input: { key: SECRET } }], chunks: [3] },
    ]);
    const asked = request(`use ${SECRET}`, {
      system: SECRET,
      tools: [
        {
          name: 'x',
          description: SECRET,
          inputSchema: { type: 'object', description: SECRET, additionalProperties: true },
        },
      ],
    });
    const first = await streamed(recordCassette(inner, file, { redact }), asked);
    expect(first.answer.text).toBe(`the key is ${SECRET}`);
    const written = readFileSync(file, 'utf8');
    for (let at = 0; at + 6 <= SECRET.length; at += 1) expect(written).not.toContain(SECRET.slice(at, at + 6));
    const other = JSON.parse(JSON.stringify(asked).replaceAll(SECRET, 'sk-other')) as ModelRequest;
    const played = await streamed(
      replayCassette(file, { redact: (text) => text.replaceAll('sk-other', '[redacted]') }),
      other,
    );
    expect(played.answer).toMatchObject({
      text: 'the key is [redacted]',
      toolCalls: [{ input: '{"key":"[redacted]"}' }],
    });
    expect(played.deltas).toEqual([
      { type: 'text', text: 'the key is [redacted]' },
      { type: 'tool-input', id: 'call-1-1', name: 'x', text: '{"key":"[redacted]"}' },
    ]);
  });

  test('keeps only hashes of requests where that is asked for', async () => {
    const file = cassette();
    await recordCassette(openScripted([{ text: 'x' }]), file, { keepRequests: false }).call(request('private'), {
      signal,
    });
    expect(readFileSync(file, 'utf8')).not.toContain('private');
    expect((await replayCassette(file).call(request('private'), { signal })).text).toBe('x');
    await expect(replayCassette(file).call(request('else'), { signal })).rejects.toThrow('keeps only hashes');
  });

  test('what was stopped is not recorded', async () => {
    const file = cassette();
    const stopped = AbortSignal.abort(new Error('enough'));
    await expect(
      recordCassette(openScripted([{ text: 'x' }]), file).call(request('x'), { signal: stopped }),
    ).rejects.toThrow('enough');
    expect(readdirSync(path.dirname(file))).toEqual([]);
  });

  test.each([
    ['nothing', '', 'its first line is not the header of a cassette'],
    ['another format', '{"a":1}\n', 'its first line is not the header of a cassette'],
    ['a newer version', '{"cassette":2,"model":"m"}\n', 'its version is 2; expected 1'],
    ['a line that is no JSON', '{"cassette":1,"model":"m"}\n{"key":\n', 'line 2 is not a recorded call'],
    [
      'an entry with neither answer nor error',
      '{"cassette":1,"model":"m"}\n{"key":"k","deltas":[]}\n',
      'line 2 is not a recorded call',
    ],
    [
      'an answer of wrong types',
      '{"cassette":1,"model":"m"}\n{"key":"k","deltas":[],"answer":{"text":7,"toolCalls":[],"finish":"stop","usage":{},"retries":0}}\n',
      'line 2 is not a recorded call',
    ],
  ])('%s is refused, to play and to add to where its start is wrong', async (_, text, problem) => {
    const file = cassette();
    writeFileSync(file, text);
    expect(() => replayCassette(file)).toThrow(problem);
    if (text.startsWith('{"cassette":1')) return;
    await expect(
      recordCassette(openScripted([{ text: 'x' }], { id: 'm' }), file).call(request('x'), { signal }),
    ).rejects.toThrow(problem);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('of another model is not added to; a folder or nothing is no cassette', async () => {
    const file = cassette();
    await recordCassette(openScripted([{ text: 'x' }], { id: 'one' }), file).call(request('x'), { signal });
    await expect(
      recordCassette(openScripted([{ text: 'x' }], { id: 'two' }), file).call(request('x'), { signal }),
    ).rejects.toThrow('it was recorded from "one", not from "two"');
    expect(() => replayCassette(`${file}.none`)).toThrow('the file does not exist');
    mkdirSync(`${file}.folder`);
    expect(() => replayCassette(`${file}.folder`)).toThrow('not a regular file');
    const nowhere = recordCassette(openScripted([{ text: 'x' }]), path.join(file, 'below/a.jsonl'));
    await expect(nowhere.call(request('x'), { signal })).rejects.toMatchObject({ code: 'io/failed' });
  });

  test('two processes that record into one file lose nothing', async () => {
    const file = cassette();
    const program = `
      const [, cassette, scripted, file, name] = process.argv;
      const { recordCassette } = await import(cassette);
      const { openScripted } = await import(scripted);
      const model = recordCassette(openScripted([{ text: name }], { strict: false }), file);
      for (let call = 0; call < 20; call += 1)
        await model.call({ system: '', messages: [{ role: 'user', content: name + call }], tools: [] }, { signal: new AbortController().signal });`;
    const ends = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        finished(program, [built('model/cassette/cassette.js'), built('model/scripted/scripted.js'), file, name]),
      ),
    );
    expect(ends).toEqual([0, 0, 0]);
    const playing = replayCassette(file);
    for (const name of ['a', 'b', 'c'])
      for (let call = 0; call < 20; call += 1)
        expect(
          (
            await playing.call(
              { system: '', messages: [{ role: 'user', content: name + String(call) }], tools: [] },
              { signal },
            )
          ).text,
        ).toBe(name);
    playing.assertDone();
    expect(readdirSync(path.dirname(file))).toEqual(['talk.jsonl']);
  });
});

function finished(program: string, args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 170_000,
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
