import { readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { scratch } from '../skills/registry/support.ts';
import { spawnCli } from './run-cli.ts';

const leftovers = (): readonly string[] =>
  readdirSync(os.tmpdir()).filter((name) => name.startsWith('skillwright-demo-'));

describe('demo', () => {
  verifies(['CLI-1', 'TRUE-1'], 'shows a run with no key and no network, and leaves nothing behind', async () => {
    const folder = scratch();
    const before = leftovers();
    const { status, out, err } = await spawnCli(folder, ['demo', '--plain']);
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain('   - Rows: 8\n');
    expect(out).toContain('skillwright runs verify: intact.');
    expect(out).toContain('The same for a copy with one changed number: tampered.');
    expect(leftovers().filter((name) => !before.includes(name))).toEqual([]);
    expect(readdirSync(folder).filter((name) => name !== 'home')).toEqual([]);
  });

  test('runs whatever the umask is, also where programs of root run as another user', async () => {
    const { status, out } = await spawnCli(scratch(), ['demo', '--plain'], {}, (argv) => [
      'sh',
      '-c',
      'umask 077; exec "$@"',
      'sh',
      ...argv,
    ]);
    expect([status, out]).toEqual([0, expect.stringContaining('   - Rows: 8\n')]);
  });

  test('without anything that isolates it runs nothing and says so', async () => {
    const { status, out } = await spawnCli(scratch(), ['demo', '--plain', '--executor', 'none']);
    expect(status).toBe(0);
    expect(out).toContain('No script ran: --executor none.');
    expect(out).toContain('The skill csv-report fits, but program execution is disabled.');
    expect(out).not.toContain('Rows: 8');
    expect(out).not.toContain('sandbox');
  });

  test('an engine that is not there is said with what would help', async () => {
    const folder = scratch();
    const env = { DOCKER_HOST: `unix://${folder}/none.sock` };
    const { status, out } = await spawnCli(folder, ['demo', '--plain', '--executor', 'container'], env);
    expect([status, out]).toEqual([
      0,
      expect.stringMatching(/No script ran: no executor isolates programs on this[^]*\n {3}To fix this: /),
    ]);
  });

  test('ignores the skills and settings of the user', async () => {
    const folder = scratch();
    const { status, out } = await spawnCli(folder, ['demo', '--plain', '--executor', 'none'], {
      SKILLS_ROOT: path.join(PROJECT, 'test'),
      OPENAI_API_KEY: 'key-123456789',
    });
    expect([status, out]).toEqual([
      0,
      expect.stringContaining('Skills: csv-report, skill-author, text-diff (built in).'),
    ]);
  });

  test('gives one JSON value', async () => {
    const { out } = await spawnCli(scratch(), ['demo', '--json', '--executor', 'none']);
    expect(JSON.parse(out)).toMatchObject({
      schema: 1,
      result: { outcome: 'done' },
      verified: 'intact',
      verifiedAfterChange: 'tampered',
    });
  });
});
