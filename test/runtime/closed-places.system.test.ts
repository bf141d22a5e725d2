import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Action } from '../../src/core/action.ts';
import {
  callback,
  outcome,
  sessionIn,
  trustedWorld,
  userPolicy,
  walledExecutor,
  type PolicyWorld,
} from './policy-world.ts';

describe('a folder that may not be read', () => {
  test('is not listed, searched or read in part', async () => {
    const world = await trustedWorld();
    mkdirSync(path.join(world.project, 'secrets'));
    writeFileSync(path.join(world.project, 'secrets/key.txt'), 'a note\n');
    const session = await sessionIn(world, {}, userPolicy({ deny: ['Read(secrets/**)'] }));
    expect(await outcome(session, { type: 'read_file', path: 'secrets/key.txt' })).toBe('policy/denied');
    expect(await outcome(session, { type: 'list_dir', path: 'secrets' })).toBe('policy/denied');
    expect(JSON.stringify(await session.perform({ type: 'grep', pattern: 'a note', path: '.' }))).not.toContain(
      'key.txt',
    );
    expect(await outcome(session, { type: 'grep', pattern: 'a note', path: 'secrets' })).toBe('policy/denied');
  });
});

describe('a file with several names', () => {
  test('is judged by all of them: a hard link does not read what is denied or asked about', async () => {
    const world = await trustedWorld();
    const write = (name: string, text: string): void => {
      mkdirSync(path.dirname(path.join(world.project, name)), { recursive: true });
      writeFileSync(path.join(world.project, name), text);
    };
    const link = (from: string, to: string): void =>
      linkSync(path.join(world.project, from), path.join(world.project, to));
    write('.env', 'TOKEN=a note\n');
    write('secrets/key.txt', 'a note\n');
    write('.agent/runs/1/events.jsonl', 'a note\n');
    write('src/a.txt', 'a note\n');
    write('node_modules/pkg/index.js', 'a note\n');
    link('.env', 'env-copy.txt');
    link('secrets/key.txt', 'src/key.txt');
    link('.agent/runs/1/events.jsonl', 'src/events.txt');
    link('src/a.txt', 'src/b.txt');
    linkSync(path.join(world.project, 'node_modules/pkg/index.js'), path.join(world.home, 'store.js'));
    const rules = userPolicy({ allow: ['run_command', 'host_input'], deny: ['Read(secrets/**)'] });
    const session = await sessionIn(world, {}, rules);
    const read = (file: string): Promise<string> => outcome(session, { type: 'read_file', path: file });
    expect([
      await read('env-copy.txt'),
      await read('src/key.txt'),
      await read('src/events.txt'),
      await read('src/b.txt'),
      await read('node_modules/pkg/index.js'),
    ]).toEqual(['approval/needed', 'policy/denied', 'policy/denied', 'done', 'done']);
    const found = JSON.stringify(await session.perform({ type: 'grep', pattern: 'a note', path: '.' }));
    expect(['env-copy.txt', 'key.txt', 'events.txt', 'b.txt'].filter((name) => found.includes(name))).toEqual([
      'b.txt',
    ]);
    expect(await outcome(session, bring(path.join(world.project, 'src/key.txt')))).toBe('policy/denied');
    const search = (file: string, by = session): Promise<string> =>
      outcome(by, { type: 'grep', pattern: 'a note', path: file });
    expect([await search('env-copy.txt'), await search('src/key.txt'), await search('src/b.txt')]).toEqual([
      'approval/needed',
      'policy/denied',
      'done',
    ]);
    // A search of the file itself that a person approved finds what is there.
    const said = callback({ verdict: 'yes', scope: 'once' });
    const approved = await sessionIn(world, { approve: said.approve }, rules);
    for (const file of ['.env', 'env-copy.txt'])
      expect(await approved.perform({ type: 'grep', pattern: 'a note', path: file })).toMatchObject({
        matches: [{ path: file, text: 'TOKEN=a note' }],
        skipped: 0,
      });
    expect([said.calls(), await search('src/key.txt', approved)]).toEqual([2, 'policy/denied']);
  });
});

describe('a configuration that cannot be read', () => {
  test.each(['{"policy":{"denny":["WebFetch"]}}', '{"policy":', '{"policy":{"include":["missing.json"]}}'])(
    'leaves reading and nothing else, whoever says yes: %s',
    async (text) => {
      const world = await trustedWorld();
      mkdirSync(path.join(world.home, '.agent'), { recursive: true });
      writeFileSync(path.join(world.home, '.agent/config.json'), text);
      const said = callback({ verdict: 'yes', scope: 'once' });
      const session = await sessionIn(world, { approve: said.approve, policy: { opens: ['*'] } });
      expect(await outcome(session, { type: 'load_skill', skill: 'demo' })).toBe('done');
      expect(await outcome(session, { type: 'read_file', path: 'notes.md' })).toBe('done');
      expect([
        await outcome(session, { type: 'write_file', path: 'a.md', content: 'x' }),
        await outcome(session, { type: 'run_command', command: 'ls' }),
      ]).toEqual(['policy/denied', 'policy/denied']);
      expect(said.calls()).toBe(0);
    },
  );
});

interface InputWorld extends PolicyWorld {
  /** What may be brought in. */
  readonly data: string;
  /** What may not. */
  readonly secrets: string;
}

async function inputWorld(): Promise<InputWorld> {
  const world = await trustedWorld();
  const [data, secrets] = [path.join(world.home, 'data'), path.join(world.home, 'secrets')];
  for (const folder of [data, secrets, path.join(world.home, '.ssh')]) mkdirSync(folder);
  for (const file of ['data/a.txt', 'secrets/a.txt', '.ssh/id_rsa', 'data/.env'])
    writeFileSync(path.join(world.home, file), 'content\n');
  symlinkSync('../secrets', path.join(data, 'link'));
  symlinkSync('../secrets/a.txt', path.join(data, 'file-link.txt'));
  return { ...world, data, secrets };
}

const bring = (file: string): Action => ({
  type: 'run_command',
  command: 'cat "$WORK_DIR"/in',
  inputs: [{ from: `host://${file}`, to: 'work/in' }],
});

describe('files of this machine that are brought to a program', () => {
  test.each([
    ['data/a.txt', 'done'],
    ['data/./a.txt', 'done'],
    ['secrets/a.txt', 'approval/needed'],
    ['data/../secrets/a.txt', 'path/parent'],
    ['data/x/../../secrets/a.txt', 'path/parent'],
    ['data/link/a.txt', 'input/not-allowed'],
    ['data/file-link.txt', 'input/not-allowed'],
    ['data/.env', 'approval/needed'],
  ])('a rule that allows a folder means what really lies in it: %s', async (file, expected) => {
    const world = await inputWorld();
    const session = await sessionIn(world, {}, userPolicy({ allow: ['run_command', `host_input(${world.data}/**)`] }));
    expect(await outcome(session, bring(path.join(world.home) + '/' + file))).toBe(expected);
  });

  test.each([
    ['data/a.txt', 'done'],
    ['data/../secrets/a.txt', 'path/parent'],
    ['data/link/a.txt', 'input/not-allowed'],
  ])('so does a folder that a program opened: %s', async (file, expected) => {
    const world = await inputWorld();
    const execution = { executor: walledExecutor(), hostInputs: [world.data], artifacts: false } as const;
    const session = await sessionIn(world, { execution });
    expect(await outcome(session, bring(`${world.home}/${file}`))).toBe(expected);
  });

  test.each([
    ['data/a.txt', 'done'],
    ['secrets/a.txt', 'policy/denied'],
    ['data/../secrets/a.txt', 'path/parent'],
    ['data/link/a.txt', 'input/not-allowed'],
    ['.ssh/id_rsa', 'approval/needed'],
    ['data/../.ssh/id_rsa', 'approval/needed'],
  ])('where all is allowed, what may not be read is not brought either: %s', async (file, expected) => {
    const world = await inputWorld();
    const rules = userPolicy({ allow: ['*'], deny: [`Read(${world.secrets}/**)`] });
    expect(await outcome(await sessionIn(world, {}, rules), bring(`${world.home}/${file}`))).toBe(expected);
  });

  test('a folder brings neither records nor secrets nor what a rule denies', async () => {
    const world = await trustedWorld();
    const files = {
      'src/a.txt': 'fine',
      '.env': 'SECRET',
      '.agent/runs/1/events.jsonl': 'RECORD',
      'sub/.agent/approvals.json': 'RECORD',
      'logs/runs/1/run.json': 'RECORD',
      'private/plan.txt': 'DENIED',
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(world.project, name)), { recursive: true });
      writeFileSync(path.join(world.project, name), text);
    }
    const config = {
      runs: { directory: 'logs/runs' },
      policy: { allow: ['run_command', 'host_input'], deny: ['Read(private/**)'] },
    };
    const session = await sessionIn(world, {}, { config });
    const ran = await session.perform({
      type: 'run_command',
      command:
        'cd "$WORK_DIR"/in && find . -type f -not -path "./.agent/skills/*" | sort; grep -rhE "SECRET|RECORD|DENIED" . ; true',
      inputs: [{ from: `host://${world.project}`, to: 'work/in' }],
    });
    expect(ran).toMatchObject({ type: 'program-ran', result: { stdout: './notes.md\n./old.md\n./src/a.txt\n' } });
    expect(JSON.stringify(ran)).toContain('left out of');
    for (const file of ['logs/runs/1/run.json', '.agent/runs/1/events.jsonl', '.agent', 'private/plan.txt'])
      expect(await outcome(session, bring(path.join(world.project, file)))).toMatch(/denied|not-allowed/);
  });
});
