import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import type { Observation, SkillLoaded } from '../../src/core/observation.ts';
import { reduceSession } from '../../src/core/session.ts';
import type { Session } from '../../src/runtime/session.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { runtimeOver, writeThree } from './support.ts';

async function sessionOver(
  root: string,
  options: Parameters<Awaited<ReturnType<typeof runtimeOver>>['startSession']>[0] = {},
): Promise<Session> {
  return (await runtimeOver(root)).startSession(options);
}

async function load(session: Session, skill: string): Promise<SkillLoaded> {
  const observation = await session.perform({ type: 'load_skill', skill });
  if (observation.type !== 'skill-loaded') throw new Error(JSON.stringify(observation));
  return observation;
}

const codeOf = (observation: Observation): string =>
  observation.type === 'failed' ? observation.code : observation.type;

verifies(
  ['DISC-2', 'DISC-4'],
  'a load gives the body, who the skill is, its files, and a report of what was read',
  async () => {
    const root = scratch();
    writeThree(root);
    const session = await sessionOver(root);
    const text = readFileSync(path.join(root, 'alpha/SKILL.md'), 'utf8');
    const loaded = await load(session, 'ALPHA');
    expect(loaded).toEqual({
      type: 'skill-loaded',
      action: 'load_skill',
      skill: {
        id: expect.stringMatching(/\/alpha$/),
        name: 'alpha',
        source: expect.any(String),
        dir: path.join(root, 'alpha'),
      },
      status: 'new',
      text: '# alpha\n\ncanary-alpha-body\n',
      report: {
        path: 'SKILL.md',
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        bytes: Buffer.byteLength(text),
        characters: 27,
        truncated: false,
        reference: 'skill://alpha/SKILL.md',
      },
      files: [
        { path: 'references/one.md', bytes: 24, kind: 'reference', isExecutable: false, isLink: false },
        { path: 'references/two.md', bytes: 24, kind: 'reference', isExecutable: false, isLink: false },
        { path: 'scripts/go.sh', bytes: 29, kind: 'script', isExecutable: true, isLink: false },
      ],
      filesCut: false,
      documents: [],
      notes: [],
    });
  },
);

verifies(
  ['DISC-5', 'DISC-6'],
  'of skills that were not loaded not one byte is shown, and the ledger names every byte that was',
  async () => {
    const root = scratch();
    writeThree(root);
    const skills = await openSkillTools({ runtime: await runtimeOver(root) });
    const shown = [skills.instructions];
    for (const [tool, input] of [
      ['search_skills', { query: 'alpha things' }],
      ['load_skill', { skill: 'alpha' }],
      ['read_resource', { skill: 'alpha', path: 'references/one.md' }],
    ] as const)
      shown.push((await skills.call(tool, input)).text);
    const all = shown.join('\n');
    expect(all.match(/canary-\w+-\w+/g)).toEqual(['canary-alpha-body', 'canary-alpha-one']);
    const { rows } = skills.session.ledger;
    const files = rows.filter(({ path: file }) => file !== '');
    expect(files.map(({ skill, path: file, reason }) => [skill.replace(/.*\//, ''), file, reason])).toEqual([
      ['alpha', 'SKILL.md', 'load'],
      ['alpha', 'references/one.md', 'resource'],
    ]);
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(
      new Set(['catalog', 'search', 'load', 'list', 'resource']),
    );
  },
);

verifies(
  'DISC-6',
  'the same bytes again give a short note, a third request the text, and other bytes are named as such',
  async () => {
    const root = scratch();
    writeThree(root);
    const session = await sessionOver(root);
    expect((await load(session, 'alpha')).status).toBe('new');
    expect(await load(session, 'alpha')).toMatchObject({ status: 'repeated', text: '' });
    // Somebody cut the conversation, and the model has nothing but the note.
    expect(await load(session, 'alpha')).toMatchObject({ status: 'new', text: '# alpha\n\ncanary-alpha-body\n' });
    writeSkill(path.join(root, 'alpha'), { description: 'Does alpha things. Use it for alpha.', body: '# other\n' });
    expect(await load(session, 'alpha')).toMatchObject({
      status: 'changed',
      text: '# other\n',
      notes: ['SKILL.md changed since it was last loaded; this is the new text'],
    });
    session.startTurn();
    expect((await load(session, 'alpha')).status).toBe('new');
  },
);

verifies('DISC-6', 'of loads at the same time only the first one gives the text and a document', async () => {
  const root = scratch();
  writeThree(root);
  writeFileSync(path.join(root, 'alpha/notes.md'), 'Notes.');
  const session = await sessionOver(root);
  const action = { type: 'load_skill', skill: 'alpha', documents: ['notes.md'] } as const;
  const loads = await Promise.all([session.perform(action), session.perform(action)]);
  expect(loads.map((one) => one.type === 'skill-loaded' && [one.status, one.documents.length])).toEqual([
    ['new', 1],
    ['repeated', 0],
  ]);
});

test('a load that waits for an earlier one ends with its signal, and the next one still waits', async () => {
  const root = scratch();
  writeThree(root);
  const runtime = await runtimeOver(root);
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  const session = await runtime.startSession({
    policy: { ask: ['load_skill(alpha)'] },
    approve: async () => {
      await asked;
      return true;
    },
  });
  const ended = new AbortController();
  const first = session.perform({ type: 'load_skill', skill: 'alpha' });
  const second = session.perform({ type: 'load_skill', skill: 'beta' }, { signal: ended.signal });
  const third = session.perform({ type: 'load_skill', skill: 'gamma' });
  ended.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  expect(session.state.loaded).toEqual([]);
  answer();
  await Promise.all([first, third]);
  expect(session.state.loaded.map(({ skill }) => skill.name)).toEqual(['alpha', 'gamma']);
});

verifies(
  ['DISC-7', 'REG-8'],
  'tools and system message are the same bytes after loads and after a skill came or went on disk',
  async () => {
    const root = scratch();
    writeThree(root);
    for (const vocabulary of ['skillwright', 'openseed', 'trpc', 'manusx', 'skills-agent'] as const) {
      const skills = await openSkillTools({ runtime: await runtimeOver(root), vocabulary });
      const prefix = (): string =>
        JSON.stringify([skills.session.startRequest(), skills.openai, skills.anthropic, Object.keys(skills.aiSdk)]);
      const start = prefix();
      await skills.session.perform({ type: 'load_skill', skill: 'alpha' });
      expect(prefix()).toBe(start);
      writeSkill(path.join(root, 'delta'));
      await skills.runtime.refresh();
      expect(prefix()).toBe(start);
      await skills.session.perform({ type: 'load_skill', skill: 'beta' });
      skills.session.startTurn();
      rmSync(path.join(root, 'delta'), { recursive: true });
      expect(prefix()).toBe(start);
      expect(start).toContain('alpha');
      expect(start).not.toContain('delta');
    }
  },
);

verifies(
  'DISC-7',
  'placed in the system message, loaded skills and selected documents are in each request while they live',
  async () => {
    const root = scratch();
    writeThree(root);
    const session = await sessionOver(root, { vocabulary: 'trpc', placement: 'system', lifetime: 'turn' });
    const canaries = (): readonly string[] => session.startRequest().match(/canary-\w+-\w+/g) ?? [];
    expect(canaries()).toEqual([]);
    await session.perform({ type: 'load_skill', skill: 'alpha', documents: ['references/one.md'] });
    expect(canaries()).toEqual(['canary-alpha-body', 'canary-alpha-one']);
    await session.perform({ type: 'select_documents', skill: 'alpha', mode: 'add', documents: ['references/two.md'] });
    expect(canaries()).toEqual(['canary-alpha-body', 'canary-alpha-one', 'canary-alpha-two']);
    await session.perform({ type: 'select_documents', skill: 'alpha', mode: 'clear', documents: [] });
    expect(canaries()).toEqual(['canary-alpha-body']);
    session.startTurn();
    expect(canaries()).toEqual([]);
    const body = session.ledger.rows.find(({ path: file }) => file === 'SKILL.md');
    expect(body).toMatchObject({ reason: 'load', times: 3 });
  },
);

verifies('DISC-6', 'loaded for one request, a skill is in the next request and in no other', async () => {
  const root = scratch();
  writeThree(root);
  const session = await sessionOver(root, { placement: 'system', lifetime: 'once' });
  await load(session, 'alpha');
  expect(session.startRequest()).toContain('canary-alpha-body');
  expect(session.startRequest()).not.toContain('canary-alpha-body');
});

verifies(
  'DISC-8',
  'after a compaction the catalog is there, the skill used last whole, the others as stubs, under the ceiling',
  async () => {
    const root = scratch();
    for (const name of ['alpha', 'beta', 'gamma'])
      writeSkill(path.join(root, name), {
        body: `canary-${name}-body\n${'Do one thing after the other.\n'.repeat(100)}`,
      });
    const session = await sessionOver(root, { lifetime: 'session' });
    for (const skill of ['alpha', 'beta', 'gamma']) await load(session, skill);
    const tight = session.compact({ ceiling: 1_000_000 }).tokens - 100;
    const compaction = session.compact({ ceiling: tight });
    expect(compaction.tokens).toBeLessThanOrEqual(tight);
    expect(compaction.skills.map(({ name, form }) => [name, form])).toEqual([
      ['gamma', 'whole'],
      ['beta', 'whole'],
      ['alpha', 'stub'],
    ]);
    expect(compaction.text).toContain(session.catalog.text);
    expect(compaction.text.match(/canary-\w+-\w+/g)).toEqual(['canary-gamma-body', 'canary-beta-body']);
    // A stub is not the text: asked for again, the skill is shown again.
    expect((await load(session, 'alpha')).status).toBe('new');
    expect((await load(session, 'beta')).status).toBe('repeated');
    // A catalog that does not fit either is planned anew, and says so.
    const tiny = session.compact({ ceiling: 120 });
    expect(tiny.tokens).toBeLessThanOrEqual(120);
    expect(tiny.skills.map(({ name, form }) => [name, form])).toEqual([
      ['beta', 'stub'],
      ['alpha', 'dropped'],
      ['gamma', 'dropped'],
    ]);
    expect(
      tiny.catalog.full.length +
        tiny.catalog.shortened.length +
        tiny.catalog.nameOnly.length +
        tiny.catalog.omitted.length,
    ).toBe(3);
  },
);

verifies('DISC-8', 'what a person once gave as arguments does not come back with a compaction', async () => {
  const root = scratch();
  writeSkill(path.join(root, 'greet'), {
    fields: ['disable-model-invocation: true'],
    body: 'Greet $ARGUMENTS, first $1.\n',
  });
  const session = await sessionOver(root, { lifetime: 'session' });
  const invocation = await session.invoke('/greet "Ada Lovelace" secret-plan');
  if (invocation?.type !== 'invoked') throw new Error(JSON.stringify(invocation));
  expect(invocation.text).toContain('Greet "Ada Lovelace" secret-plan, first Ada Lovelace.');
  const { text } = session.compact();
  expect(text).toContain('Greet $ARGUMENTS');
  expect(text).not.toContain('Ada');
  expect(await session.invoke('no call')).toBeUndefined();
  expect(await session.invoke('/gret x')).toMatchObject({ type: 'failed', code: 'skill/unknown', nearest: ['greet'] });
  // The model may use what a person opened, and only then.
  expect(codeOf(await session.perform({ type: 'list_resources', skill: 'greet' }))).toBe('resources-listed');
});

test('declared loads are done before the first request, all or none', async () => {
  const root = scratch();
  writeThree(root);
  const session = await sessionOver(root, { maxLoaded: 2 });
  const before = session.events.length;
  expect(await session.declare([{ skill: 'alpha' }, { skill: 'nothing' }])).toMatchObject({ code: 'skill/unknown' });
  expect(await session.declare([{ skill: 'alpha', documents: '*' }, { skill: 'Alpha' }])).toMatchObject({
    code: 'load/conflict',
  });
  expect(await session.declare([{ skill: 'alpha' }, { skill: 'beta' }, { skill: 'gamma' }])).toMatchObject({
    code: 'load/too-many',
  });
  expect(session.events.length).toBe(before);
  await session.declare([{ skill: 'alpha' }, { skill: 'alpha' }, { skill: 'beta', documents: '*' }]);
  expect(session.state.loaded.map(({ skill, askedBy, documents }) => [skill.name, askedBy, documents])).toEqual([
    ['alpha', 'program', []],
    ['beta', 'program', '*'],
  ]);
});

test('a model cannot use manual skills, and disabled skills cannot be used at all', async () => {
  const root = scratch();
  writeThree(root);
  writeSkill(path.join(root, 'manual'), { fields: ['disable-model-invocation: true'] });
  writeSkill(path.join(root, 'inner'), { fields: ['user-invocable: false'] });
  const runtime = await runtimeOver(root, { skill_visibility: { beta: 'disabled', gamma: 'name-only' } });
  const session = await runtime.startSession();
  const asked = async (skill: string, askedBy: 'model' | 'person' | 'program'): Promise<string> =>
    codeOf(await runtime.perform({ type: 'load_skill', skill }, { askedBy }));
  expect(await asked('manual', 'model')).toBe('skill/not-offered');
  expect(await asked('manual', 'person')).toBe('skill-loaded');
  expect(await asked('inner', 'person')).toBe('skill/not-offered');
  expect(await asked('inner', 'model')).toBe('skill-loaded');
  for (const who of ['model', 'person', 'program'] as const) expect(await asked('beta', who)).toBe('skill/unknown');
  expect(await asked('gamma', 'model')).toBe('skill-loaded');
  const found = await session.perform({ type: 'search_skills', query: 'does it things test', n: 9 });
  if (found.type !== 'skills-found') throw new Error('expected results');
  const names = found.results.map(({ name }) => name);
  expect(names).toContain('inner');
  expect(names).not.toContain('manual');
  expect(names).not.toContain('beta');
});

verifies(
  'TOOL-6',
  'the third failure of one kind is terminal, until a call succeeds or the next turn starts',
  async () => {
    const root = scratch();
    writeThree(root);
    const skills = await openSkillTools({ runtime: await runtimeOver(root) });
    for (const [place, name] of ['alfa', 'alpa', 'aplha'].entries()) {
      const answer = await skills.call('load_skill', { skill: name });
      expect([answer.isError, answer.isTerminal]).toEqual([true, place === 2]);
      expect(answer.text).toContain('alpha');
    }
    expect(await skills.call('load_skill', { skill: 'aleph' })).toMatchObject({ isError: true, isTerminal: true });
    const other = await skills.call('read_resource', { skill: 'alpha', path: 'references/none.md' });
    expect([other.isError, other.isTerminal, other.text.includes('several times')]).toEqual([true, false, false]);
    expect(await skills.call('load_skill', { skill: 'alpha' })).toMatchObject({ isError: false, isTerminal: false });
    expect(skills.session.state.endedBy).toBeUndefined();
    // Input that no action could be made of counts as well.
    for (const last of [false, false, true])
      expect(await skills.call('read_resource', '{"skill":')).toMatchObject({ isError: true, isTerminal: last });
  },
);

test('calls that run at the same time count as one failure, also where the loop does not report its requests', async () => {
  const root = scratch();
  writeThree(root);
  const skills = await openSkillTools({ runtime: await runtimeOver(root) });
  const names = ['one', 'two', 'three', 'four'];
  const answers = await Promise.all(names.map((skill) => skills.call('load_skill', { skill })));
  expect(answers.map(({ isError, isTerminal }) => [isError, isTerminal])).toEqual(names.map(() => [true, false]));
  expect(await skills.call('load_skill', { skill: 'five' })).toMatchObject({ isTerminal: false });
  expect(await skills.call('load_skill', { skill: 'six' })).toMatchObject({ isTerminal: true });
  const { session } = skills;
  expect(session.events.reduce<typeof session.state | undefined>(reduceSession, undefined)).toEqual(session.state);
});

test('the state of a session is what its events reduce to, and a thousand loads keep no texts but the last', async () => {
  const root = scratch();
  writeThree(root);
  const session = await sessionOver(root, { lifetime: 'session', maxLoaded: 1 });
  for (let round = 0; round < 1_000; round += 1) await load(session, ['alpha', 'beta'][round % 2] ?? '');
  expect(session.events.reduce<typeof session.state | undefined>(reduceSession, undefined)).toEqual(session.state);
  expect(session.compact().text.match(/canary-\w+-body/g)).toEqual(['canary-beta-body']);
});

test('a skill that is gone, or no longer one, fails with its own code', async () => {
  const root = scratch();
  writeThree(root);
  const session = await sessionOver(root);
  rmSync(path.join(root, 'alpha'), { recursive: true });
  rmSync(path.join(root, 'beta/SKILL.md'));
  writeFileSync(path.join(root, 'gamma/SKILL.md'), 'no frontmatter any more\n');
  const codes = await Promise.all(
    ['alpha', 'beta', 'gamma'].map((skill) => session.perform({ type: 'load_skill', skill })),
  );
  expect(codes.map(codeOf)).toEqual(['skill/gone', 'file/missing', 'skill/invalid']);
  expect(codeOf(await session.perform({ type: 'list_resources', skill: 'alpha' }))).toBe('skill/gone');
});
