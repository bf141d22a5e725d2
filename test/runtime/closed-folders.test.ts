import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Session } from '../../src/runtime/session.ts';
import { writeSkill } from '../skills/registry/support.ts';
import { addSkill, policyWorld, runtimeIn, sessionIn, trustProject, type PolicyWorld } from './policy-world.ts';

const OPEN = { config: { policy: { allow: ['*'] } } } as const;
const SECRET = 'XYZZY';

/** A project with a trusted skill, one that is hidden from models, a recorded run and stored answers; each has the secret word. */
async function world(): Promise<PolicyWorld> {
  const made = policyWorld();
  addSkill(made.project, 'manual', { fields: ['disable-model-invocation: true'], body: `# ${SECRET}\n` });
  for (const skill of ['demo', 'manual'])
    writeFileSync(path.join(made.project, `.agent/skills/${skill}/references/guide.md`), `${SECRET}\n`);
  for (const file of [
    '.agent/runs/20260101T000000Z-00000000/events.jsonl',
    '.agent/evals/results.json',
    '.agent/trust.json',
    '.agent/seal.key',
    '.agent/approvals.json',
    '.agent/pending/a.json',
    '.git/HEAD',
    'sub/.agent/runs/x.jsonl',
  ]) {
    mkdirSync(path.dirname(path.join(made.project, file)), { recursive: true });
    writeFileSync(path.join(made.project, file), `${SECRET}\n`);
  }
  await trustProject(made);
  return made;
}

const session = (at: PolicyWorld, more: object = OPEN): Promise<Session> =>
  sessionIn(at, { lifetime: 'session', execution: undefined as never }, more);

async function outcomes(opened: Session, paths: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const all: Record<string, string> = {};
  for (const file of paths) {
    opened.startTurn();
    const read = await opened.perform({ type: 'read_file', path: file });
    all[file] = read.type === 'failed' ? read.code : 'done';
  }
  return all;
}

describe('a model that reads files of the project', () => {
  test('reads no record, no stored answer, no data of git, and no file of a skill that is not loaded', async () => {
    const at = await world();
    symlinkSync('.agent/runs', path.join(at.project, 'log'));
    symlinkSync('.agent/skills/manual', path.join(at.project, 'copy'));
    const opened = await session(at);
    expect(
      await outcomes(opened, [
        '.agent/runs/20260101T000000Z-00000000/events.jsonl',
        'log/20260101T000000Z-00000000/events.jsonl',
        '.agent/evals/results.json',
        '.agent/trust.json',
        '.agent/seal.key',
        '.agent/approvals.json',
        '.agent/pending/a.json',
        '.git/HEAD',
        'sub/.agent/runs/x.jsonl',
        '.agent/skills/demo/SKILL.md',
        '.agent/skills/manual/SKILL.md',
        'copy/references/guide.md',
        path.join(at.demo, 'references/guide.md'),
        'notes.md',
      ]),
    ).toEqual({
      '.agent/runs/20260101T000000Z-00000000/events.jsonl': 'policy/denied',
      'log/20260101T000000Z-00000000/events.jsonl': 'policy/denied',
      '.agent/evals/results.json': 'policy/denied',
      '.agent/trust.json': 'policy/denied',
      '.agent/seal.key': 'policy/denied',
      '.agent/approvals.json': 'policy/denied',
      '.agent/pending/a.json': 'policy/denied',
      '.git/HEAD': 'policy/denied',
      'sub/.agent/runs/x.jsonl': 'policy/denied',
      '.agent/skills/demo/SKILL.md': 'skill/not-loaded',
      '.agent/skills/manual/SKILL.md': 'skill/not-offered',
      'copy/references/guide.md': 'skill/not-offered',
      [path.join(at.demo, 'references/guide.md')]: 'skill/not-loaded',
      'notes.md': 'done',
    });
    expect(await opened.perform({ type: 'read_file', path: '.agent/skills/demo/SKILL.md' })).toMatchObject({
      message: '".agent/skills/demo/SKILL.md" belongs to the skill "demo", which is not loaded',
      hint: 'load the skill, then read its files',
    });
  });

  test('finds and lists none of them, until a skill is loaded', async () => {
    const at = await world();
    const opened = await session(at);
    const found = async (): Promise<readonly string[]> => {
      opened.startTurn();
      const lines = await opened.perform({ type: 'grep', pattern: SECRET, path: '.' });
      return lines.type === 'lines-found' ? lines.matches.map((match) => match.path) : [lines.type];
    };
    expect(await found()).toEqual([]);
    const listed = await opened.perform({ type: 'list_dir', path: '.', depth: 5 });
    const paths = listed.type === 'directory-listed' ? listed.entries.map((entry) => entry.path) : [];
    expect(paths).toContain('.agent/skills/demo');
    expect(paths).toContain('.agent/runs');
    expect(paths.filter((file) => /skills\/\w+\/|runs\/|evals\//.test(file))).toEqual([]);
    for (const folder of ['.agent/runs', '.agent/skills/manual', '.git'])
      expect(await opened.perform({ type: 'list_dir', path: folder })).toMatchObject({ type: 'failed' });

    await opened.perform({ type: 'load_skill', skill: 'demo' });
    expect(await found()).toEqual(['.agent/skills/demo/references/guide.md']);
  });

  test('does not find the records of its own run where the configuration puts them elsewhere', async () => {
    const at = await world();
    mkdirSync(path.join(at.project, 'logs'));
    writeFileSync(path.join(at.project, 'logs/run.jsonl'), `${SECRET}\n`);
    const opened = await session(at, { config: { ...OPEN.config, runs: { directory: 'logs' } } });
    expect(await outcomes(opened, ['logs/run.jsonl'])).toEqual({ 'logs/run.jsonl': 'policy/denied' });
    expect(await opened.perform({ type: 'grep', pattern: SECRET, path: '.' })).toMatchObject({ matches: [] });
  });

  test('reads the files of a skill that an author works on: the project is the folder of the skill', async () => {
    const at = await world();
    const opened = await session({ ...at, project: at.demo }, { ...OPEN, roots: [at.demo] });
    expect(await outcomes(opened, ['SKILL.md', 'references/guide.md'])).toEqual({
      'SKILL.md': 'done',
      'references/guide.md': 'done',
    });
  });

  test('a person who asks for a file of a skill gets it', async () => {
    const at = await world();
    writeSkill(path.join(at.project, '.agent/skills/broken'), { body: '# text\n' });
    const runtime = await runtimeIn(at, OPEN);
    const opened = await runtime.startSession({ host: {} });
    const read = await opened.perform(
      { type: 'read_file', path: '.agent/skills/manual/SKILL.md' },
      { askedBy: 'person' },
    );
    expect(read.type).not.toBe('failed');
    await opened.close();
  });
});
