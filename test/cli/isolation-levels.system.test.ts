import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';
import { onMachineWithout, type Lack } from '../sandbox/forbidden-calls.ts';
import { spawnCli, temporaryFolder, writeFiles, type CliResult } from './run-cli.ts';
import { landlockGaps } from '../../src/sandbox/executors/landlock/executor.ts';
import { PROJECT } from '../files-below.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { needs } from '../needs.ts';
const COMMAND = [process.execPath, path.join(PROJECT, 'dist/command/skillwright.js')];
/** No engine; what else the machine lacks is denied by a seccomp filter. */
const NO_ENGINE = { DOCKER_HOST: 'unix:///nonexistent/docker.sock' };
/** Probe reports, one folder for each kind of machine. */
const CACHES = temporaryFolder();

function on(folder: string, lacks: readonly Lack[], words: readonly string[]): Promise<CliResult> {
  return spawnCli(folder, words, onKindOfMachine(lacks.join()), (argv) => onMachineWithout(lacks, argv));
}

function onKindOfMachine(kind: string): Readonly<Record<string, string>> {
  return { ...NO_ENGINE, SKILLWRIGHT_CACHE_DIR: path.join(CACHES, kind) };
}

/** A mount namespace in which bwrap is an empty file that cannot be executed. */
const withoutBubblewrap = (argv: readonly string[]): readonly string[] => [
  'unshare',
  '--mount',
  'sh',
  '-c',
  'for f in /usr/bin/bwrap /usr/local/bin/bwrap; do [ ! -e "$f" ] || mount --bind /dev/null "$f"; done; exec "$@"',
  'sh',
  ...argv,
];

const SKILL = '---\nname: theirs\ndescription: A skill of somebody else.\n---\nRun scripts/hello.sh.\n';

function projectWithSkill(): string {
  const folder = scratch();
  writeFiles(folder, {
    '.agents/skills/theirs/SKILL.md': SKILL,
    '.agents/skills/theirs/scripts/hello.sh': '#!/bin/sh\necho "hello from $(id -u)"\n',
    'table.csv': 'a,b\n1,2\n',
  });
  mkdirSync(path.join(folder, 'home'));
  return folder;
}

const EXEC_THEIRS = ['exec', 'theirs', 'hello.sh', '--trust-project'];
const EXEC_OURS = ['exec', 'csv-report', 'report.mjs', '--in', 'table.csv', '--', 'inputs/table.csv'];

describe('without bubblewrap and Docker', needs('root', 'namespaces'), () => {
  verifies(['EXEC-7', 'EXEC-12'], 'the demo runs its script in namespaces', async () => {
    const { status, out } = await spawnCli(
      scratch(),
      ['demo', '--plain'],
      onKindOfMachine('no bubblewrap'),
      withoutBubblewrap,
    );
    expect([status, out]).toEqual([0, expect.stringContaining('The script ran in a sandbox (namespaces)')]);
    expect(out).toContain('   - Rows: 8\n');
  });
});

describe('where user namespaces are forbidden too', needs('landlock'), () => {
  const lacks = ['user namespaces'] as const;

  verifies(
    ['EXEC-7', 'EXEC-12'],
    'built-in scripts run under landlock without a question, and others do not run',
    async () => {
      const folder = projectWithSkill();
      const demo = await on(folder, lacks, ['demo', '--plain']);
      expect([demo.status, demo.out]).toEqual([
        0,
        expect.stringContaining('The script ran under landlock, which is weaker'),
      ]);
      expect(demo.out).toContain('   - Rows: 8\n');
      const ours = await on(folder, lacks, EXEC_OURS);
      expect([ours.status, ours.out, ours.err]).toEqual([
        0,
        expect.stringContaining('table.csv: rows: 1, columns: 2'),
        expect.stringContaining('isolated by landlock'),
      ]);
      const theirs = await on(folder, lacks, EXEC_THEIRS);
      expect([theirs.status, theirs.out]).toEqual([4, '']);
      expect(theirs.err).toContain('only the weaker executor landlock works on this machine');
      expect(theirs.err).toContain('"allow_weaker": true');
    },
  );

  test('the user file allows landlock for every script, and a project file does not', async () => {
    const folder = projectWithSkill();
    const allowed = JSON.stringify({ execution: { allow_weaker: true } });
    writeFiles(folder, { '.agent/config.json': allowed });
    expect((await on(folder, lacks, EXEC_THEIRS)).status).toBe(4);
    writeFiles(folder, { 'home/.agent/config.json': allowed });
    const { status, out, err } = await on(folder, lacks, EXEC_THEIRS);
    expect([status, out, err]).toEqual([
      0,
      expect.stringContaining('hello from'),
      expect.stringContaining('isolated by landlock'),
    ]);
  });
});

describe('a person at a terminal there', needs('landlock', 'python3 with pty'), () => {
  test('is asked with all that stays open: no, once, and always, which the user file keeps', async () => {
    const folder = projectWithSkill();
    const file = path.join(folder, 'home/.agent/config.json');
    mkdirSync(path.dirname(file));
    writeFileSync(file, '{ "packages": { "offline": true } }');
    const env = { ...onKindOfMachine('user namespaces'), HOME: path.join(folder, 'home') };
    const execute = (steps: readonly Step[]): Promise<Screen> =>
      atTerminal(onMachineWithout(['user namespaces'], [...COMMAND, ...EXEC_THEIRS]), steps, { cwd: folder, env });
    const answer = (key: string): Promise<Screen> => execute([{ until: '[n] no' }, { seconds: 0.6 }, { keys: key }]);
    const refused = await answer('n');
    expect([refused.status, refused.text]).toEqual([4, expect.not.stringContaining('hello from')]);
    for (const gap of landlockGaps()) expect(refused.text.replaceAll(/\s+/g, ' ')).toContain(gap);
    expect((await answer('y')).text).toContain('isolated by landlock');
    expect(readFileSync(file, 'utf8')).toBe('{ "packages": { "offline": true } }');
    expect((await answer('a')).text).toContain('hello from');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      packages: { offline: true },
      execution: { allow_weaker: true },
    });
    const later = await execute([]);
    expect([later.status, later.text]).toEqual([0, expect.not.stringContaining('[n] no')]);
  });
});

describe('where nothing isolates', () => {
  const lacks = ['user namespaces', 'landlock'] as const;

  verifies(
    ['EXEC-7', 'EXEC-12'],
    'built-in scripts run, the output says that nothing isolates them, and nothing else runs',
    async () => {
      const folder = projectWithSkill();
      const demo = await on(folder, lacks, ['demo', '--plain']);
      expect([demo.status, demo.out]).toEqual([0, expect.stringContaining('The script ran WITHOUT ISOLATION')]);
      expect(demo.out).toContain('   - Rows: 8\n');
      const ours = await on(folder, lacks, EXEC_OURS);
      expect([ours.status, ours.out, ours.err]).toEqual([
        0,
        expect.stringContaining('table.csv: rows: 1, columns: 2'),
        expect.stringContaining('not isolated'),
      ]);
      expect(ours.err).toContain('the program ran without isolation');
      for (const words of [EXEC_THEIRS, ['exec', 'csv-report', '--command', 'id'], [...EXEC_THEIRS, '--yes']]) {
        const refused = await on(folder, lacks, words);
        expect([refused.status, refused.out]).toEqual([4, '']);
        expect(refused.err).toContain('no executor isolates programs on this machine');
      }
    },
  );

  test('a copy of a built-in skill with one more byte is not built in', async () => {
    const folder = projectWithSkill();
    writeFiles(folder, {
      '.agents/skills/csv-report/SKILL.md': '---\nname: csv-report\ndescription: Reports on tables.\n---\n',
      '.agents/skills/csv-report/scripts/report.mjs': 'console.log("changed");\n',
    });
    const { status, out } = await on(folder, lacks, ['--trust-project', '--source', 'project', ...EXEC_OURS]);
    expect([status, out]).toEqual([4, '']);
  });
});
