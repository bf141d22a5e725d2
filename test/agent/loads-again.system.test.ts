/** Skills that an agent loads more than once: after a load for it, in a replay, after a compaction, and in a chat that continues. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openChat, type Chat, type ChatOptions } from '../../src/agent/chat.ts';
import type { VocabularyName } from '../../src/core/vocabulary-names.ts';
import { replayRun, type Replay } from '../../src/runtime/replay/replay-run.ts';
import { allText, eventsOf, ofType, played, world, type Line, type PlayedModel, type World } from './support.ts';

const SKILLS = {
  alpha: { body: 'canary-alpha $1', files: { 'a.md': 'a one\n' } },
  reader: { body: 'canary-reader', fields: ['allowed-tools: read_file'] },
} as const;

const LOADS: readonly (readonly [VocabularyName, string, object])[] = [
  ['skillwright', 'load_skill', { skill: 'alpha' }],
  ['openseed', 'load_skill', { skill_name: 'alpha' }],
  ['manusx', 'skill_request', { skill_name: 'alpha' }],
  ['skills-agent', 'select_skills', { skills: [{ name: 'alpha' }] }],
  ['trpc', 'skill_load', { skill: 'alpha' }],
];

/** The last result of a tool in each request but the first. */
function results({ requests }: PlayedModel): readonly string[] {
  return requests.slice(1).map(({ messages }) => messages.findLast(({ role }) => role === 'tool')?.content ?? '');
}

const replayed = ({ runtime }: World, folder: string | undefined, isOwn: boolean): Promise<Replay> =>
  replayRun({ runtime, path: folder ?? '', isOwn });

const isText = (text: string): boolean => text.includes('canary-alpha');

describe.each(LOADS)('%s', (vocabulary, tool, input) => {
  const load: Line = { calls: [[tool, input]] };
  test.each([
    ['required', { request: 'go', required: ['alpha'] }],
    ['invoked by a person', { request: '/alpha x' }],
    ['not loaded before', { request: 'go' }],
  ])(
    'a skill that is %s: the first load of the model returns it, the second a note; both replay',
    async (_, options) => {
      const here = await world(SKILLS);
      const model = played([load, load, load, { text: 'ok' }]);
      const { path: folder, outcome } = await here.agent({ model, vocabulary, protocol: 'tools', ...options });
      expect(outcome).toBe('done');
      // trpc has the text in the system message.
      expect(results(model).map(isText)).toEqual([vocabulary !== 'trpc', false, false]);
      expect(model.requests.slice(1).map((request) => isText(request.system))).toEqual(
        Array.from({ length: 3 }, () => vocabulary === 'trpc'),
      );
      for (const isOwn of [true, false])
        expect(await replayed(here, folder, isOwn)).toMatchObject({ status: 'same', problems: [] });
    },
  );
});

test('a load after a compaction returns the text, and replays', async () => {
  const here = await world(SKILLS);
  const { runtime } = here;
  const run = await runtime.startRun({ request: 'go', keepsConversation: true });
  const load = { type: 'load_skill', skill: 'alpha' } as const;
  await run.session.perform(load);
  run.session.compact({ ceiling: 0 });
  expect(await run.session.perform(load)).toMatchObject({ status: 'new' });
  run.session.compact();
  expect(await run.session.perform(load)).toMatchObject({ status: 'repeated' });
  await run.end('done');
  expect(await replayed(here, run.path, true)).toMatchObject({ status: 'same', problems: [] });
});

const SESSION = { session: { lifetime: 'session' } };

function chatIn({ runtime }: World, options: Partial<ChatOptions> & Pick<ChatOptions, 'model'>): Chat {
  return openChat({ runtime, ...options, run: { execution: { executor: 'local', artifacts: false }, ...options.run } });
}

/** A chat in which these calls were made, as an earlier one. */
async function earlierChat(here: World, calls: readonly Line[]): Promise<NonNullable<ChatOptions['earlier']>> {
  const chat = chatIn(here, { model: played([...calls, { text: 'ok' }]), vocabulary: 'trpc' });
  const { run = '', path: folder } = await chat.send('go');
  await chat.end();
  return { run, path: folder, said: chat.said };
}

const LOAD_BOTH: readonly Line[] = [
  { calls: [['skill_load', { skill: 'alpha', docs: ['a.md'] }]] },
  { calls: [['skill_load', { skill: 'reader' }]] },
];

describe('a chat that continues another one', () => {
  test('has the skills, documents and allowed tools that stayed loaded', async () => {
    const here = await world(SKILLS, SESSION);
    const earlier = await earlierChat(here, LOAD_BOTH);
    const model = played([{ calls: [['skill_run', { skill: 'alpha', command: 'echo hi' }]] }, { text: 'ok' }]);
    const chat = chatIn(here, { model, vocabulary: 'trpc', earlier });
    const result = await chat.send('go on');
    await chat.end();
    expect(model.requests[0]?.system).toMatch(/canary-reader[^]*canary-alpha[^]*\[Doc\] a\.md\n\na one/);
    expect(ofType(eventsOf(result), 'observation').map(({ observation }) => observation)).toMatchObject([
      { type: 'skill-loaded', skill: { name: 'alpha' } },
      { type: 'skill-loaded', skill: { name: 'reader' } },
      { type: 'failed', code: 'policy/denied' },
      { type: 'answered' },
    ]);
  });

  test('shows their text where it is no part of the system message, also of skills that are required', async () => {
    const here = await world({ ...SKILLS, more: { body: 'canary-more' } }, SESSION);
    const earlier = await earlierChat(here, LOAD_BOTH);
    const model = played([{ text: 'ok' }, { text: 'ok' }]);
    const chat = chatIn(here, { model, earlier, required: ['more'] });
    await chat.send('go on');
    await chat.send('and on');
    await chat.end();
    for (const request of model.requests)
      expect(allText(request).match(/canary-\w+|a one/g)).toEqual([
        'canary-alpha',
        'a one',
        'canary-reader',
        'canary-more',
      ]);
  });

  test('openseed: has the whole SKILL.md of each, as its tool returned it, also of skills that are required', async () => {
    const here = await world({ ...SKILLS, more: { body: 'canary-more' } }, SESSION);
    const earlier = await earlierChat(here, LOAD_BOTH);
    const model = played([{ text: 'ok' }]);
    const chat = chatIn(here, { model, vocabulary: 'openseed', earlier, required: ['more'] });
    const result = await chat.send('go on');
    await chat.end();
    const shown = allText(model.requests[0] ?? expect.fail());
    for (const name of ['alpha', 'reader', 'more'])
      expect(shown).toMatch(new RegExp(`---\\nname: ${name}\\n[^]*?---\\n[^]*?canary-${name}`));
    expect(await replayed(here, result.path, true)).toMatchObject({ status: 'same', problems: [] });
  });

  test('says which of them is gone, and loads none that was loaded for one turn', async () => {
    const here = await world(SKILLS, SESSION);
    const earlier = await earlierChat(here, LOAD_BOTH);
    rmSync(path.join(here.root, 'skills/alpha'), { recursive: true });
    const model = played([{ text: 'ok' }]);
    const chat = chatIn(here, { model, vocabulary: 'trpc', earlier });
    const result = await chat.send('go on');
    await chat.end();
    const [note] = ofType(eventsOf(result), 'note').map(({ message }) => message);
    expect(note).toMatch(/^continued in a new session; "alpha" is no longer loaded: /);
    expect(allText(model.requests[0] ?? expect.fail())).toContain(`This chat ${note ?? ''}.`);

    const once = await world(SKILLS);
    const after = played([{ text: 'ok' }]);
    const next = chatIn(once, { model: after, vocabulary: 'trpc', earlier: await earlierChat(once, LOAD_BOTH) });
    await next.send('go on');
    await next.end();
    expect(allText(after.requests[0] ?? expect.fail())).not.toContain('canary');
  });
});

test('a message with a file shows the skill that its path brings up', async () => {
  const here = await world({ table: { body: 'canary-table', fields: ['paths: "*.csv"'] } });
  writeFileSync(path.join(here.project, 'a.csv'), '1');
  const model = played([{ text: 'ok' }, { text: 'ok' }]);
  const chat = chatIn(here, { model });
  await chat.send('hi');
  await chat.send('and this', { files: [path.join(here.project, 'a.csv')] });
  await chat.end();
  expect(model.requests.map((request) => allText(request).includes('canary-table'))).toEqual([false, true]);
});
