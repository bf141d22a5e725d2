import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { gatedCommand, splitEnvironment } from '../../src/sandbox/executors/bubblewrap/gate.ts';
import { SharedFiles, descriptorsOf, inheritedFiles } from '../../src/sandbox/executors/bubblewrap/inherited-files.ts';
import { installationRoot, skillMounts } from '../../src/sandbox/executors/bubblewrap/mounts.ts';
import { SANDBOX_FILES, encodeArguments, sandboxArguments } from '../../src/sandbox/executors/bubblewrap/profile.ts';
import { setupOutput } from '../../src/sandbox/executors/bubblewrap/setup-output.ts';
import { explainFailure } from '../../src/sandbox/executors/bubblewrap/support.ts';
import { childSlots } from '../../src/platform/process/inherited-descriptors.ts';
import { programSpec, textSink } from './sandbox.ts';

describe('the profile', () => {
  test('is the one that was looked at', async () => {
    const args = sandboxArguments({
      system: [
        { type: 'bind', source: '/usr', target: '/usr' },
        { type: 'link', linkTarget: 'usr/bin', target: '/bin' },
        { type: 'bind', source: '/etc/ssl/certs', target: '/etc/ssl/certs' },
        { type: 'bind', source: '/home/u/.nvm/v20', target: '/home/u/.nvm/v20' },
      ],
      skills: [{ type: 'bind', source: '/base/snapshots/d/pdf', target: '/workspace/skills/pdf' }],
      writable: ['work', 'runs', 'out'].map((name) => ({ name, source: `/base/w/${name}` })),
      cwd: 'skills/pdf',
      env: { PATH: '/usr/bin', OUTPUT_DIR: '/workspace/out' },
      descriptors: { seccomp: 4, passwd: 5, group: 6, hosts: 7, names: 8 },
      temporaryBytes: 67_108_864,
      sharedMemoryBytes: 16_777_216,
      bridgeSocket: '/base/net.sock',
    });
    const lines = args.join(' ').replaceAll(' --', '\n--');
    await expect(`${lines}\n`).toMatchFileSnapshot('golden/bubblewrap.txt');
  });

  test('takes no argument that would become two', () => {
    expect(() => encodeArguments(['--setenv', 'A', 'x\0--bind\0/\0/host'])).toThrow('contains a NUL');
    expect(Buffer.from(encodeArguments(['--a', 'b c', ''])).toString()).toBe('--a\0b c\0\0');
  });

  test('the gate is the one that was looked at', async () => {
    const { argv } = gatedCommand({
      argv: ['printf', '%s', "it's"],
      limits: programSpec([]).limits,
      processes: 66,
      cpuSeconds: 121,
      dataBytes: 268_435_456,
      lateEnv: { LD_PRELOAD: "/x'; echo y; '" },
      terminal: true,
    });
    const [shell, option, script, ...words] = argv;
    expect([shell, option, words]).toEqual([
      '/bin/sh',
      '-c',
      ['sh', '/usr/bin/script', '-qefc', "exec 'printf' '%s' 'it'\\''s'", '/dev/null'],
    ]);
    await expect(`${script ?? ''}\n`).toMatchFileSnapshot('golden/gate.txt');
  });

  test('the gate of a program with a control group is the one that was looked at', async () => {
    const { argv } = gatedCommand({
      argv: ['true'],
      limits: programSpec([]).limits,
      processes: 66,
      cpuSeconds: 121,
      lateEnv: {},
      terminal: false,
      entryDescriptor: 5,
    });
    await expect(`${argv[2] ?? ''}\n`).toMatchFileSnapshot('golden/gate-group.txt');
  });

  test('all that bubblewrap is given lies where it is told', () => {
    const shared = new SharedFiles(Buffer.from('filter'));
    const args = Buffer.from('args');
    for (const [entry, words] of [
      [undefined, undefined],
      ['/dev/null', undefined],
      [undefined, 'words'],
      ['/dev/null', 'words'],
    ] as const) {
      const slots = childSlots(inheritedFiles({ args, entry, shared, words }));
      const textAt = (descriptor: number | undefined): string => {
        const ours = slots.stdio[(descriptor ?? 0) - 3];
        return typeof ours === 'number' ? readFileSync(ours, 'utf8') : '';
      };
      const at = descriptorsOf({ hasEntry: entry !== undefined, hasWords: words !== undefined });
      expect(textAt(3)).toBe('args');
      expect([at.seccomp, at.passwd, at.group, at.hosts, at.names].map(textAt)).toEqual([
        'filter',
        SANDBOX_FILES.passwd,
        SANDBOX_FILES.group,
        SANDBOX_FILES.hosts,
        SANDBOX_FILES.names,
      ]);
      expect(at.words === undefined ? undefined : textAt(at.words)).toBe(words);
      slots.close();
    }
    shared.close();
    shared.close();
  });

  test('variables that would change the gate are set behind it', () => {
    const env = { PATH: '/bin', LD_PRELOAD: 'a', LD_AUDIT: 'b', BASH_ENV: 'c', ENV: 'd', IFS: 'e', NODE_OPTIONS: 'f' };
    expect(splitEnvironment(env)).toEqual({
      early: { PATH: '/bin', NODE_OPTIONS: 'f' },
      late: { LD_PRELOAD: 'a', LD_AUDIT: 'b', BASH_ENV: 'c', ENV: 'd', IFS: 'e' },
    });
  });

  test('what the sandbox says before the gate is not the program speaking', () => {
    const target = textSink();
    const sink = setupOutput(target);
    const write = (text: string): boolean => sink.write(Buffer.from(text));
    expect([
      write('bwrap: '),
      sink.isReady(),
      write('odd\n\u0006first'),
      sink.isReady(),
      write(' \u0006second'),
    ]).toEqual([true, false, true, true, true]);
    expect([sink.text(), target.text()]).toEqual(['bwrap: odd', 'first \u0006second']);
  });

  test("what is known about bubblewrap's complaints is said", () => {
    expect(explainFailure("bwrap: Can't mount proc on /newroot/proc: Operation not permitted")?.reason).toContain(
      'Docker',
    );
    expect(explainFailure('spawn /usr/bin/bwrap EMFILE')?.install).toContain('ulimit -n');
    expect(explainFailure("bwrap: Can't find source path /base/w/work: Permission denied")).toBeUndefined();
    expect(explainFailure('bwrap: No permissions to create new namespace')?.reason).toContain('No permissions');
  });
});

describe('what is shown of the host', () => {
  function inFolder(run: (folder: string) => void): void {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-view-'));
    try {
      run(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  test('an interpreter with what was installed around it, and never the home folder', () =>
    inFolder((folder) => {
      const make = (file: string): string => {
        mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
        writeFileSync(path.join(folder, file), '');
        return path.join(folder, file);
      };
      const home = path.join(folder, 'home');
      make('home/.nvm/v20/lib/x');
      const managed = make('home/.nvm/v20/bin/node');
      make('home/lib/x');
      const own = make('home/bin/node');
      const alone = make('home/tools/node');
      symlinkSync(managed, path.join(folder, 'link'));
      expect(
        [managed, path.join(folder, 'link'), own, alone, path.join(folder, 'missing')].map((file) =>
          installationRoot(file, [home]),
        ),
      ).toEqual([path.join(home, '.nvm/v20'), path.join(home, '.nvm/v20'), own, alone, undefined]);
    }));

  test('a snapshot whole where it has its links, and by its entries where not', () =>
    inFolder((folder) => {
      writeFileSync(path.join(folder, 'SKILL.md'), '');
      mkdirSync(path.join(folder, 'out'));
      symlinkSync('SKILL.md', path.join(folder, 'README'));
      expect(skillMounts(folder, '/s').toSorted((a, b) => (a.target < b.target ? -1 : 1))).toEqual([
        { type: 'link', linkTarget: 'SKILL.md', target: '/s/README' },
        { type: 'bind', source: path.join(folder, 'SKILL.md'), target: '/s/SKILL.md' },
        { type: 'link', linkTarget: '../../work/inputs', target: '/s/inputs' },
        { type: 'bind', source: path.join(folder, 'out'), target: '/s/out' },
        { type: 'link', linkTarget: '../../work', target: '/s/work' },
      ]);
      symlinkSync('../../work', path.join(folder, 'work'));
      symlinkSync('../../work/inputs', path.join(folder, 'inputs'));
      expect(skillMounts(folder, '/s')).toEqual([{ type: 'bind', source: folder, target: '/s' }]);
    }));
});
