import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openChat, type Chat, type ChatOptions } from '../../src/agent/chat.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import { reduceChat, type Said } from '../../src/agent/reduce-chat.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { recordedChanges } from '../../src/runtime/recorded-changes.ts';
import { undoFiles } from '../../src/runtime/undo-files.ts';
import { verifies } from '../conformance/verifies.ts';
import { allText, eventsOf, ofType, played, world, type World } from './support.ts';

function chatIn({ runtime }: World, options: Partial<ChatOptions> & Pick<ChatOptions, 'model'>): Chat {
  return openChat({ runtime, ...options, run: { execution: { executor: 'local', artifacts: false }, ...options.run } });
}

/** What a model sees of who said what. */
function heard(request: ModelRequest | undefined): readonly string[] {
  return (request?.messages ?? [])
    .filter(({ content }) => !content.startsWith('[state]'))
    .map(({ role, content }) => `${role}: ${content}`);
}

function saidIn(folder: string): readonly Said[] {
  return [...readRun(folder).lines].reduce<readonly Said[]>(
    (said, { event }) => (event.type === 'chat' ? reduceChat(said, event.event) : said),
    [],
  );
}

describe('a chat', () => {
  test('is one conversation in one record, and each message is answered by itself', async () => {
    const model = played([{ text: 'Hello.' }, { text: 'You said hi.' }]);
    const chat = chatIn(await world(), { model });
    expect([chat.run, chat.said]).toEqual([undefined, []]);
    const first = await chat.send('hi');
    const second = await chat.send('what did I say?');
    await chat.end();
    expect([first, second]).toMatchObject([
      { outcome: 'done', answer: 'Hello.', plan: { goal: 'hi' }, used: { turns: 1 } },
      { outcome: 'done', answer: 'You said hi.', plan: { goal: 'what did I say?' }, used: { turns: 1 } },
    ]);
    expect(second.run).toBe(first.run);
    expect(heard(model.requests[1])).toEqual(['user: hi', 'assistant: Hello.', 'user: what did I say?']);
    const said = [
      { message: 'hi', answer: 'Hello.' },
      { message: 'what did I say?', answer: 'You said hi.' },
    ];
    expect([chat.said, saidIn(first.path ?? '')]).toEqual([said, said]);
    expect(verifyRun(first.path ?? '').status).toBe('intact');
    expect(ofType(eventsOf(first), 'turn').map(({ turn }) => turn)).toEqual([1, 2]);
  });

  test('gives every message the whole budget', async () => {
    const load = { calls: [['load_skill', { skill: 'report' }]] } as const;
    const model = played([load, { text: 'one' }, load, { text: 'two' }, load]);
    const chat = chatIn(await world(), { model, budget: { turns: 2 } });
    expect(await chat.send('a')).toMatchObject({ outcome: 'done', used: { turns: 2, toolCalls: 1 } });
    expect(await chat.send('b')).toMatchObject({ outcome: 'done', used: { turns: 2, toolCalls: 1 } });
    expect(chat.used).toMatchObject({ turns: 4, toolCalls: 2 });
    await chat.end();
  });

  test('goes on after a message whose budget ended', async () => {
    const load = { calls: [['load_skill', { skill: 'report' }]] } as const;
    const model = played([load, { text: 'fine' }]);
    const chat = chatIn(await world(), { model, budget: { turns: 1 } });
    const { outcome, answer } = await chat.send('a');
    expect([outcome, answer]).toEqual(['degraded', expect.stringContaining('This answer is incomplete')]);
    expect(await chat.send('b')).toMatchObject({ outcome: 'done', answer: 'fine' });
    expect(heard(model.requests[1]).slice(-2)).toEqual([`assistant: ${answer}`, 'user: b']);
    expect(heard(model.requests[1]).join('\n')).toContain('canary-report-body');
    await chat.end();
  });

  test('a signal ends the message and not the chat', async () => {
    const stop = new AbortController();
    const never = (): Promise<never> => {
      stop.abort();
      return new Promise(() => undefined);
    };
    const model = played([never, { text: 'still here' }]);
    const chat = chatIn(await world(), { model });
    expect(await chat.send('take long', { signal: stop.signal })).toMatchObject({ outcome: 'cancelled' });
    const second = await chat.send('and now?');
    expect(second).toMatchObject({ outcome: 'done', answer: 'still here' });
    await chat.end();
    expect(readRun(second.path ?? '').info).toMatchObject({ outcome: 'done' });
  });

  test('calls a skill by its name, at any message', async () => {
    const model = played([{ text: 'a' }, { text: 'b' }]);
    const chat = chatIn(await world(), { model });
    await chat.send('hi');
    await chat.send('/report sales.csv');
    const text = allText(model.requests[1] as ModelRequest);
    expect(text).toContain('canary-report-body');
    expect(chat.ledger?.rows.some(({ reason }) => reason === 'invocation')).toBe(true);
    expect(await chat.send('/no-such-skill x')).toMatchObject({ outcome: 'failed' });
    expect(model.requests).toHaveLength(2);
    await chat.end();
  });

  test('forgets the last exchange, says what stays done, and again up to the first', async () => {
    const model = played([
      { text: 'one' },
      { calls: [['load_skill', { skill: 'report' }]] },
      { text: 'two' },
      { text: 'three' },
    ]);
    const chat = chatIn(await world(), { model, run: { lifetime: 'session' } });
    await chat.send('first');
    await chat.send('second');
    expect(chat.undo()).toEqual({
      message: 'second',
      actions: [expect.objectContaining({ action: expect.objectContaining({ skill: 'report' }) })],
      files: [],
    });
    const { path = '' } = await chat.send('third');
    expect(heard(model.requests[3])).toEqual(['user: first', 'assistant: one', 'user: third']);
    expect([chat.undo()?.message, chat.undo()?.message, chat.undo()]).toEqual(['third', 'first', undefined]);
    await chat.end();
    expect(saidIn(path)).toEqual([]);
  });

  test('goes on with an earlier one, and its own record is enough to go on again', async () => {
    const earlier = { run: 'r-1', said: [{ message: 'hi', answer: 'Hello.' }] };
    const model = played([{ text: 'You said hi.' }]);
    const chat = chatIn(await world(), { model, earlier });
    const { path = '' } = await chat.send('what did I say?');
    await chat.end();
    expect(heard(model.requests[0])).toEqual(['user: hi', 'assistant: Hello.', 'user: what did I say?']);
    expect(saidIn(path)).toEqual([...earlier.said, { message: 'what did I say?', answer: 'You said hi.' }]);
    expect(chat.undo()).toBeUndefined();
  });

  verifies('UNDO-1', 'goes back several messages at once, and the record knows of each', async () => {
    const here = await world();
    const write = (content: string): { calls: [string, object][] } => ({
      calls: [['write_file', { path: 'made.txt', content }]],
    });
    const model = played([write('1'), { text: 'a' }, write('2'), { text: 'b' }, { text: 'c' }, { text: 'd' }]);
    const chat = openChat({
      runtime: here.runtime,
      model,
      run: { host: {}, approve: () => Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' }) },
    });
    for (const message of ['one', 'two', 'three']) await chat.send(message);
    expect([chat.changes(0, 1), chat.changes(2), chat.changes()]).toMatchObject([
      [{ path: 'made.txt', before: undefined }],
      [],
      [{ path: 'made.txt', before: undefined }],
    ]);
    expect([chat.undo(4), chat.undo(0)]).toEqual([undefined, undefined]);
    expect(chat.undo(2)).toMatchObject({ message: 'two', files: [{ path: 'made.txt', result: 'restored' }] });
    expect(readFileSync(path.join(here.project, 'made.txt'), 'utf8')).toBe('1');
    const { path: folder = '' } = await chat.send('other');
    await chat.end();
    expect(heard(model.requests.at(-1))).toEqual(expect.arrayContaining(['assistant: a', 'user: other']));
    expect(saidIn(folder).map(({ message }) => message)).toEqual(['one', 'other']);
    expect(recordedChanges(readRun(folder)).changes).toMatchObject([{ path: 'made.txt', before: undefined }]);
  });

  test('compact drops older exchanges and keeps loaded skills', async () => {
    const long = 'word '.repeat(600);
    const model = played([
      { calls: [['load_skill', { skill: 'report' }]] },
      ...Array.from({ length: 5 }, () => ({ text: long })),
    ]);
    const chat = chatIn(await world(), { model, run: { lifetime: 'session' } });
    expect(chat.compact()).toBeUndefined();
    for (const message of ['a', 'b', 'c', 'd']) await chat.send(message);
    const { before = 0, after = 0 } = chat.compact() ?? {};
    expect(after).toBeLessThan(before);
    await chat.send('e');
    await chat.end();
    const text = heard(model.requests.at(-1)).join('\n');
    expect(text).toContain('canary-report-body');
    expect(text).toContain('the person said: a');
  });

  verifies('UNDO-1', 'restores the files that a subagent changed, and runs undo knows of it', async () => {
    const here = await world({ deep: { fields: ['run-mode: subagent'], body: 'Write the file.' } });
    const file = path.join(here.project, 'made.txt');
    writeFileSync(file, 'before\n');
    const model = played([
      { calls: [['write_file', { path: 'made.txt', content: 'by the parent\n' }]] },
      { calls: [['load_skill', { skill: 'deep' }]] },
      { calls: [['write_file', { path: 'made.txt', content: 'by the child\n' }]] },
      { calls: [['write_file', { path: 'child.txt', content: 'new\n' }]] },
      { text: 'The child wrote.' },
      { text: 'Done.' },
    ]);
    const chat = openChat({
      runtime: here.runtime,
      model,
      run: { host: {}, approve: () => Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' }) },
    });
    const { path: folder = '' } = await chat.send('write it');
    expect(readFileSync(file, 'utf8')).toBe('by the child\n');
    // As recorded: the parent, then the subagent.
    const { changes } = recordedChanges(readRun(folder));
    expect(undoFiles(here.project, changes, true)).toEqual([
      { path: 'made.txt', result: 'restored' },
      { path: 'child.txt', result: 'removed' },
    ]);
    expect(chat.undo()?.files).toEqual([
      { path: 'made.txt', result: 'restored' },
      { path: 'child.txt', result: 'removed' },
    ]);
    expect([readFileSync(file, 'utf8'), existsSync(path.join(here.project, 'child.txt'))]).toEqual(['before\n', false]);
    await chat.end();
    expect(recordedChanges(readRun(folder)).changes).toEqual([]);
  });

  test('takes back what was said in an earlier run', async () => {
    const model = played([{ text: 'Hello again.' }]);
    const chat = chatIn(await world(), { model, earlier: { run: 'r-1', said: [{ message: 'hi', answer: 'Hello.' }] } });
    expect(chat.undo()).toEqual({ message: 'hi', actions: [], files: [], run: 'r-1' });
    const { path = '' } = await chat.send('once more');
    await chat.end();
    expect(heard(model.requests[0])).toEqual(['user: once more']);
    expect(saidIn(path)).toEqual([{ message: 'once more', answer: 'Hello again.' }]);
  });

  test('answers as structured actions are given back as such', async () => {
    const answer = (text: string): { text: string } => ({
      text: JSON.stringify({ action: { type: 'final_answer', payload: { answer: text } } }),
    });
    const model = played([answer('one'), answer('two')]);
    const chat = chatIn(await world(), { model, protocol: 'actions' });
    await chat.send('a');
    await chat.send('b');
    expect(heard(model.requests[1])).toEqual(['user: a', `assistant: ${answer('one').text}`, 'user: b']);
    await chat.end();
  });

  test('is shortened when it grows, and what was said stays as lines', async () => {
    const long = 'word '.repeat(600);
    const model = played(
      Array.from({ length: 12 }, (_, at) => ({ text: `answer ${String(at)} ${long}` })),
      16_000,
    );
    const chat = chatIn(await world(), { model });
    for (let at = 0; at < 12; at += 1)
      expect(await chat.send(`question ${String(at)} ${long}`)).toMatchObject({ outcome: 'done' });
    await chat.end();
    const last = allText(model.requests[11] as ModelRequest);
    expect(last).toContain('the person said: question 3 word');
    expect(last).toContain('you answered: answer 3 word');
    expect(last).toContain(`question 11 ${long}`);
  });

  test.each([
    ['an empty message', ' \n', 'the message is empty'],
    ['a second message at the same time', 'b', 'the chat is working on another message'],
  ])('%s is wrong use', async (_, message, reason) => {
    const chat = chatIn(await world(), { model: played([{ text: 'a' }]) });
    const first = chat.send('a');
    if (message.trim() === '') await first;
    await expect(chat.send(message)).rejects.toMatchObject({ code: 'input/invalid', message: reason });
    expect(await first).toMatchObject({ outcome: 'done' });
    await chat.end();
    await expect(chat.send('c')).rejects.toMatchObject({ message: 'the chat has ended' });
  });
});
