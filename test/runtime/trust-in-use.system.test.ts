import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Action } from '../../src/core/action.ts';
import type { Session } from '../../src/runtime/session.ts';
import { buildSkillTools } from '../../src/runtime/skill-tools.ts';
import { spawnCli } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { settle } from '../skills/registry/support.ts';
import {
  addSkill,
  outcome,
  policyWorld,
  runtimeIn,
  sessionIn,
  trustProject,
  type PolicyWorld,
} from './policy-world.ts';

const OPEN = { config: { policy: { allow: ['*'] } } } as const;
const UNTRUSTED = 'skill/untrusted';

/** All that can be wanted of a skill. */
function usesOf(skill: string): readonly Action[] {
  return [
    { type: 'load_skill', skill },
    { type: 'load_skill', skill, whole: true },
    { type: 'list_resources', skill },
    { type: 'read_resource', skill, path: 'references/guide.md' },
    { type: 'get_script_path', skill, script: 'go.sh' },
    { type: 'run_script', skill, script: 'go.sh', args: [] },
    { type: 'run_command', skill, command: 'ls' },
  ];
}

/** What comes of all uses, whoever wants them. */
async function outcomes(session: Session, skill = 'demo'): Promise<readonly string[]> {
  const seen = new Set<string>();
  for (const askedBy of ['model', 'person', 'program'] as const)
    for (const action of usesOf(skill)) {
      session.startTurn();
      seen.add(await outcome(session, action, { askedBy }));
    }
  return [...seen];
}

const load = async (world: PolicyWorld, skill = 'demo', more = {}): Promise<string> =>
  outcome(await sessionIn(world, {}, { ...OPEN, ...more }), { type: 'load_skill', skill });

describe('skills of an untrusted folder', () => {
  verifies(
    'POL-5',
    'are listed for people, shown to no model, and used by nobody; and once the folder is trusted, by all',
    async () => {
      const world = policyWorld();
      const query = 'demonstrations';
      const runtime = await runtimeIn(world, OPEN);
      expect(runtime.index.skills.some(({ name, state }) => name === 'demo' && state === 'auto')).toBe(true);
      const session = await sessionIn(world, {}, OPEN);
      expect(session.instructions).not.toContain('demo');
      expect(session.offer.skills).not.toContain('demo');
      expect(await session.perform({ type: 'search_skills', query })).toMatchObject({ type: 'skills-found' });
      expect(JSON.stringify(await session.perform({ type: 'search_skills', query }))).not.toContain('"demo"');
      expect(await outcomes(session)).toEqual([UNTRUSTED]);
      expect(await outcomes(session, 'project/demo')).toEqual([UNTRUSTED]);
      expect(await outcome(session, { type: 'start_command', skill: 'demo', command: 'ls' })).toBe(UNTRUSTED);
      expect(await session.declare([{ skill: 'demo' }])).toMatchObject({ type: 'failed', code: UNTRUSTED });
      expect(await session.invoke('/demo')).toMatchObject({ type: 'failed', code: UNTRUSTED });
      expect(await runtime.perform({ type: 'load_skill', skill: 'demo' })).toMatchObject({
        type: 'failed',
        code: UNTRUSTED,
      });

      await trustProject(world);
      const later = await sessionIn(world, {}, OPEN);
      expect(later.instructions).toContain('demo');
      expect(JSON.stringify(await later.perform({ type: 'search_skills', query }))).toContain('"demo"');
      expect(await outcomes(later)).toEqual(['done']);
      expect(await later.invoke('/demo')).toMatchObject({ type: 'invoked' });
    },
  );

  test('reach no program as inputs either', async () => {
    const world = policyWorld();
    const bring = async (): Promise<string> =>
      outcome(await sessionIn(world, {}, OPEN), {
        type: 'run_command',
        command: 'cat inputs/guide.md',
        inputs: [{ from: 'skill://demo/references/guide.md' }],
      });
    expect(await bring()).not.toBe('done');
    await trustProject(world);
    expect(await bring()).toBe('done');
  });

  test('the failure names the command that trusts the skill, for models and for people', async () => {
    const world = policyWorld();
    const runtime = await runtimeIn(world, OPEN);
    const session = await runtime.startSession({ vocabulary: 'skills-agent' });
    // With few skills the schema lists those that can be loaded: this one is not among them.
    const { value } = await buildSkillTools(session, runtime).call('select_skills', { skills: ['project/demo'] });
    expect(value).toMatchObject({ ok: false });
    expect(await session.perform({ type: 'load_skill', skill: 'demo' })).toMatchObject({
      message: `the skill "${world.demo}" is not trusted: review it, then run \`skillwright trust\``,
      hint: 'the folder of this skill is not trusted; tell the user, who can run `skillwright trust`',
    });
    const env = { HOME: world.home };
    const refused = await spawnCli(world.project, ['exec', 'demo', 'go.sh', '--executor', 'local', '--json'], env);
    expect(refused.status).toBe(3);
    expect(refused.out).toContain('skillwright trust');
    expect((await spawnCli(world.project, ['list'], env)).out).toContain('demo');
    expect(await spawnCli(world.project, ['trust', '--yes'], env)).toMatchObject({ status: 0 });
    expect(await load(world)).toBe('done');
    expect(await spawnCli(world.project, ['trust', '--revoke'], env)).toMatchObject({ status: 0 });
    expect(await load(world)).toBe(UNTRUSTED);
  });

  test('stay so where there is no home folder to keep such a word in', async () => {
    const world = policyWorld();
    await trustProject(world);
    expect(await load(world, 'demo', { home: undefined })).toBe(UNTRUSTED);
    expect(await load(world, 'demo', { home: undefined, vouched: [world.project] })).toBe('done');
  });

  test('stay untrusted if another user wrote the trust file', async () => {
    const world = policyWorld();
    mkdirSync(path.join(world.home, '.agent'));
    const folders = [{ folder: world.project, at: '2026-01-01T00:00:00.000Z', skills: [] }];
    writeFileSync(
      path.join(world.home, '.agent/trust.json'),
      JSON.stringify({ version: 1, entries: folders, folders }),
      { mode: 0o600 },
    );
    expect(await load(world)).toBe(UNTRUSTED);
  });

  test('stay so where a copy, or the folder beside it, is trusted', async () => {
    const world = policyWorld();
    const copy = `${world.project}-copy`;
    cpSync(world.project, copy, { recursive: true });
    await trustProject({ ...world, project: copy });
    expect(await load(world)).toBe(UNTRUSTED);
    expect(await load({ ...world, project: copy })).toBe('done');
  });
});

describe('trust that is bound to bytes, as it is by default', () => {
  const byPath = { config: { policy: { allow: ['*'] }, trust: { bind: 'path' } } } as const;

  verifies('POL-5', 'ends with one changed byte of any file, and is there again when it is as it was', async () => {
    const world = policyWorld();
    await trustProject(world);
    expect(await load(world)).toBe('done');
    for (const file of ['SKILL.md', 'references/guide.md', 'scripts/go.sh']) {
      const target = path.join(world.demo, file);
      const before = readFileSync(target);
      appendFileSync(target, '\n');
      const session = await sessionIn(world, {}, OPEN);
      expect([file, await outcomes(session)]).toEqual([file, [UNTRUSTED]]);
      writeFileSync(target, before);
      expect([file, await load(world)]).toEqual([file, 'done']);
    }
  });

  test('ends in the middle of a session, too, and means no skill that came later', async () => {
    const world = policyWorld();
    await trustProject(world);
    const session = await sessionIn(world, {}, OPEN);
    expect(await outcome(session, { type: 'load_skill', skill: 'demo' })).toBe('done');
    appendFileSync(path.join(world.demo, 'scripts/go.sh'), 'id\n');
    expect(await outcome(session, { type: 'run_script', skill: 'demo', script: 'go.sh', args: [] })).toBe(UNTRUSTED);
    addSkill(world.project, 'late');
    expect([await load(world, 'late'), await load(world, 'late', byPath)]).toEqual([UNTRUSTED, 'done']);
  });
});

describe('a script that changes in the middle of a session', () => {
  const openly = 'the program ran without isolation';
  const changed =
    'the skill "demo" changed on disk; programs of this session keep its earlier files, and a new session sees the new ones';
  /** What each program shows, or the code and message of its refusal. */
  const show = async (session: Session): Promise<readonly unknown[]> => {
    const seen = await session.perform({ type: 'run_script', skill: 'demo', script: 'show.sh', args: [] });
    if (seen.type === 'failed') return [seen.code, seen.message];
    return seen.type === 'program-ran' ? [seen.result.stdout, seen.result.warnings] : [seen.type];
  };

  test.each([
    ['recorded', { record: () => undefined }],
    ['not recorded', {}],
  ])('is refused until its project is trusted again, and then runs as it was: %s', async (_, options) => {
    const world = policyWorld();
    const script = path.join(world.demo, 'scripts/show.sh');
    const write = (word: string): void => writeFileSync(script, `#!/bin/sh\necho ${word}\n`, { mode: 0o755 });
    write('one');
    await trustProject(world);
    const execution = { executor: 'local', artifacts: false } as const;
    const session = await sessionIn(world, { execution, ...options }, OPEN);
    expect(await show(session)).toEqual(['one\n', [openly]]);
    write('two');
    const refusal = `the skill "${world.demo}" changed after it was trusted: review it, then run \`skillwright trust\` again`;
    expect(await show(session)).toEqual([UNTRUSTED, refusal]);
    await trustProject(world);
    expect(await show(session)).toEqual(['one\n', [changed, openly]]);
    expect(await show(await sessionIn(world, { execution, ...options }, OPEN))).toEqual(['two\n', [openly]]);
  });
});

describe('roots that a configuration names', () => {
  const config = (folder: string, value: object): void => {
    mkdirSync(path.join(folder, '.agent'), { recursive: true });
    writeFileSync(path.join(folder, '.agent/config.json'), JSON.stringify(value));
  };
  /** Moves the project's skill to where only a configuration leads. */
  const moved = (world: PolicyWorld, to: string): string => {
    mkdirSync(path.dirname(to), { recursive: true });
    renameSync(world.demo, to);
    return path.dirname(to);
  };

  test.each(['user', 'builtin', 'option', 'env', 'document-root', 'config', 'mine'])(
    'of a project need trust, also where it calls their source %s',
    async (source) => {
      const world = policyWorld();
      moved(world, path.join(world.project, 'packs/demo'));
      config(world.project, { skill_roots: [{ path: 'packs', source }] });
      expect(await load(world)).toBe(UNTRUSTED);
      await trustProject(world);
      expect(await load(world)).toBe('done');
    },
  );

  test('of a project need trust where a link leads on from them', async () => {
    const world = policyWorld();
    moved(world, path.join(world.project, 'hidden/demo'));
    mkdirSync(path.join(world.project, 'packs'));
    symlinkSync('../hidden/demo', path.join(world.project, 'packs/demo'));
    config(world.project, { skill_roots: [{ path: 'packs', source: 'user' }] });
    expect(await load(world)).toBe(UNTRUSTED);
  });

  test('of a project need trust where they lie below the home folder', async () => {
    const world = policyWorld();
    moved(world, path.join(world.home, 'downloads/demo'));
    config(world.project, { skill_roots: [{ path: '~/downloads', source: 'user' }] });
    expect(await load(world)).toBe(UNTRUSTED);
  });

  test.each([
    ['absolute', (world: PolicyWorld) => path.join(world.home, 'team')],
    ['relative to the home folder', () => 'team'],
    ['with ~', () => '~/team'],
  ])('of the person need none: %s', async (_, written) => {
    const world = policyWorld();
    moved(world, path.join(world.home, 'team/demo'));
    config(world.home, { skill_roots: [{ path: written(world), source: 'team' }] });
    expect(await load(world)).toBe('done');
  });

  test('skills in the home folder and options need none', async () => {
    const world = policyWorld();
    const own = moved(world, path.join(world.home, '.agent/skills/demo'));
    expect(await load(world)).toBe('done');
    moved({ ...world, demo: path.join(own, 'demo') }, path.join(world.home, 'other/demo'));
    expect(await load(world, 'demo', { roots: [path.join(world.home, 'other')] })).toBe('done');
  });
});

test('a list that remembers digests notices a file with other bytes of the same length and time', async () => {
  const world = policyWorld();
  await trustProject(world);
  const list = async (): Promise<readonly string[]> => {
    const runtime = await runtimeIn(world, { ...OPEN, cache: true });
    const skills = runtime.index.skills.filter(({ source }) => source === 'project');
    return [...(await runtime.distrust(skills, { files: true })).values()].map(({ why }) => why);
  };
  await settle();
  expect([await list(), await list()]).toEqual([[], []]);
  const guide = path.join(world.demo, 'references/guide.md');
  const { atime, mtime } = statSync(guide);
  const text = readFileSync(guide, 'utf8');
  writeFileSync(guide, text.toUpperCase());
  utimesSync(guide, atime, mtime);
  expect([await list(), await list()]).toEqual([['changed'], ['changed']]);
  writeFileSync(guide, text);
  await settle();
  expect([await list(), await list()]).toEqual([[], []]);
  expect(
    readdirSync(path.join(world.home, '.cache/skillwright')).filter((name) => name.startsWith('trees-')),
  ).toHaveLength(1);
});
