import { describe, expect, test } from 'vitest';

import type { ModelDelta, ModelRequest } from '../../../src/core/model.ts';
import { openScripted } from '../../../src/model/scripted/scripted.ts';

const REQUEST: ModelRequest = {
  system: 'you are an agent',
  messages: [
    { role: 'user', content: 'what is in orders.csv?' },
    { role: 'assistant', content: '', toolCalls: [{ id: '1', name: 'load_skill', input: '{"skill":"csv"}' }] },
    { role: 'tool', callId: '1', toolName: 'load_skill', content: 'instructions', isError: false },
  ],
  tools: [
    {
      name: 'load_skill',
      description: 'Loads.',
      inputSchema: { type: 'object', description: '', additionalProperties: true },
    },
  ],
};
const options = (): { readonly signal: AbortSignal } => ({ signal: new AbortController().signal });

describe('a scripted model', () => {
  test('plays its turns in order, as they were written', async () => {
    const model = openScripted(
      [
        {
          toolCalls: [
            { name: 'load_skill', input: { skill: 'csv' } },
            { name: 'x', input: 'no json', id: 'mine' },
          ],
        },
        { text: 'cut', finish: 'length', usage: { inputTokens: 3 }, retries: 2 },
      ],
      { contextWindow: 100 },
    );
    expect([model.id, model.contextWindow]).toEqual(['scripted', 100]);
    expect(await model.call(REQUEST, options())).toEqual({
      text: '',
      toolCalls: [
        { id: 'call-1-1', name: 'load_skill', input: '{"skill":"csv"}' },
        { id: 'mine', name: 'x', input: 'no json' },
      ],
      finish: 'tool-calls',
      usage: {},
      retries: 0,
    });
    expect(await model.call(REQUEST, options())).toEqual({
      text: 'cut',
      toolCalls: [],
      finish: 'length',
      usage: { inputTokens: 3 },
      retries: 2,
    });
    expect(model.requests).toEqual([REQUEST, REQUEST]);
    model.assertDone();
  });

  test('streams an answer in the given pieces, also when a piece splits a surrogate pair', async () => {
    const deltas: ModelDelta[] = [];
    const model = openScripted([{ text: 'ab💥cd', toolCalls: [{ name: 'x', input: '{}' }], chunks: [1, 2, 0, -1] }]);
    await model.call(REQUEST, { ...options(), onDelta: (delta) => deltas.push(delta) });
    expect(deltas).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b\ud83d' },
      { type: 'text', text: '\udca5' },
      { type: 'text', text: 'cd' },
      { type: 'tool-input', id: 'call-1-1', name: 'x', text: '{' },
      { type: 'tool-input', id: 'call-1-1', name: 'x', text: '}' },
    ]);
  });

  test('fails with the given error, after what came before it', async () => {
    const deltas: ModelDelta[] = [];
    const model = openScripted([{ text: 'half', error: new Error('reset') }]);
    await expect(model.call(REQUEST, { ...options(), onDelta: (delta) => deltas.push(delta) })).rejects.toThrow(
      'reset',
    );
    expect(deltas).toEqual([{ type: 'text', text: 'half' }]);
    model.assertDone();
  });

  test('more calls than turns fail, and the end says so again', async () => {
    const model = openScripted([{ text: 'one' }]);
    await model.call(REQUEST, options());
    await expect(model.call(REQUEST, options())).rejects.toMatchObject({
      code: 'model/failed',
      message: 'unexpected call 2: the script has 1 turns',
    });
    expect(() => {
      model.assertDone();
    }).toThrow('unexpected call 2');
  });

  test('unused turns are an error at the end', () => {
    expect(() => {
      openScripted([{ text: 'one' }, { text: 'two' }]).assertDone();
    }).toThrow('2 of 2 turns were not requested');
  });

  test('every expectation that is not met is named', async () => {
    const model = openScripted([
      {
        expect: {
          contains: ['orders.csv', 'invoices.csv', '{"skill":"csv"}'],
          lacks: ['agent'],
          matches: /^nothing/gm,
          lastContains: 'orders',
          offers: ['load_skill', 'run_script'],
          hides: ['load_skill'],
        },
      },
    ]);
    await expect(model.call(REQUEST, options())).rejects.toMatchObject({
      message:
        'call 1: the request lacks "invoices.csv"; the request contains "agent"; the request does not match /^nothing/gm; ' +
        'the last message lacks "orders"; the tool "run_script" is not offered; the tool "load_skill" is offered',
    });
  });

  test('without strictness the last turn is repeated and nothing is expected', async () => {
    const model = openScripted([{ text: 'one' }, { text: 'two', expect: { contains: ['never there'] } }], {
      strict: false,
    });
    const texts = [];
    for (let call = 0; call < 4; call += 1) texts.push((await model.call(REQUEST, options())).text);
    expect(texts).toEqual(['one', 'two', 'two', 'two']);
    model.assertDone();
  });

  test('a signal ends waiting and streaming with its own reason', async () => {
    const reason = new Error('enough');
    const slow = openScripted([{ text: 'late', delayMs: 60_000 }]);
    const stop = new AbortController();
    const waiting = slow.call(REQUEST, { signal: stop.signal });
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    const streaming = new AbortController();
    const heard: ModelDelta[] = [];
    const onDelta = (delta: ModelDelta): void => {
      heard.push(delta);
      streaming.abort(reason);
    };
    const model = openScripted([{ text: 'abc', chunks: [1] }]);
    await expect(model.call(REQUEST, { signal: streaming.signal, onDelta })).rejects.toBe(reason);
    expect(heard).toHaveLength(1);
    await expect(openScripted([{ text: 'x' }]).call(REQUEST, { signal: stop.signal })).rejects.toBe(reason);
  });
});
