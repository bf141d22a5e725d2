import { mkdirSync, mkdtempSync, readFileSync, rmSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { sandboxArguments } from '../../src/sandbox/executors/bubblewrap/arguments.ts';
import { gatedCommand, splitEnvironment } from '../../src/sandbox/executors/bubblewrap/gate.ts';
import { openBubblewrap } from '../../src/sandbox/executors/bubblewrap/executor.ts';
import { encodeWords } from '../../src/sandbox/executors/namespaces/plan.ts';
import { skillMounts } from '../../src/sandbox/executors/linux/mounts.ts';
import { sandboxEntries } from '../../src/sandbox/executors/linux/profile.ts';
import { setupOutput } from '../../src/sandbox/executors/linux/setup-output.ts';
import { explainFailure } from '../../src/sandbox/executors/linux/unavailable.ts';
import { PROFILE } from './profile.ts';
import { textSink } from './sandbox.ts';
import { childSlots } from '../../src/sandbox/process/inherited-descriptors.ts';

const LIMITS = { processes: 66, fileBytes: 67_108_864, openFiles: 1024, cpuSeconds: 121 };

describe('the profile', () => {
  test('matches the reviewed golden file', async () => {
    const args = sandboxArguments({
      entries: sandboxEntries(PROFILE),
      cwd: '/workspace/skills/pdf',
      env: { PATH: '/usr/bin', OUTPUT_DIR: '/workspace/out' },
      filter: 4,
      files: [5, 6, 7, 8],
    });
    const lines = args.join(' ').replaceAll(' --', '\n--');
    await expect(`${lines}\n`).toMatchFileSnapshot('golden/bubblewrap.txt');
  });

  test('takes no argument that would become two', () => {
    expect(() => encodeWords(['--setenv', 'A', 'x\0--bind\0/\0/host'])).toThrow('contains a NUL');
    expect(Buffer.from(encodeWords(['--a', 'b c', ''])).toString()).toBe('--a\0b c\0\0');
  });

  test('the gate script matches the reviewed golden file', async () => {
    const { argv } = gatedCommand({
      argv: ['printf', '%s', "it's"],
      limits: { ...LIMITS, dataBytes: 268_435_456 },
      lateEnv: { LD_PRELOAD: "/x'; echo y; '" },
    });
    const [shell, option, script, ...words] = argv;
    expect([shell, option, words]).toEqual(['/bin/sh', '-c', ['sh', 'printf', '%s', "it's"]]);
    await expect(`${script ?? ''}\n`).toMatchFileSnapshot('golden/gate.txt');
  });

  test.each([true, false])(
    'every inherited file is at the descriptor that the arguments name; with perl: %s',
    (hasPerl) => {
      const launcher = openBubblewrap('/usr/bin/bwrap', Buffer.from('filter'), hasPerl);
      const entries = sandboxEntries(PROFILE);
      const contents = entries.flatMap((entry) => (entry.type === 'file' ? [entry.content] : []));
      for (const [entry, argv] of [
        [undefined, ['true']],
        ['/dev/null', ['true']],
        [undefined, Array<string>(5000).fill('word')],
        ['/dev/null', Array<string>(5000).fill('word')],
      ] as const) {
        const request = { entries, cwd: '/', env: {}, argv, limits: LIMITS, hasEntry: entry !== undefined };
        const launch = launcher.launch(request);
        const slots = childSlots(launch.inherited(entry));
        const textAt = (descriptor: number): string => {
          const ours = slots.stdio[descriptor - 3];
          return typeof ours === 'number' ? readFileSync(ours, 'utf8') : '';
        };
        const args = textAt(3).split('\0');
        const files = args.flatMap((arg, at) => (arg === '--file' ? [textAt(Number(args[at + 1]))] : []));
        expect(textAt(Number(args[args.indexOf('--seccomp') + 1]))).toBe('filter');
        const isLong = argv.length > 4096 && !hasPerl;
        if (hasPerl) expect(textAt(Number(launch.argv.at(-1)))).toMatch(/^set\0mode\0gate\0/);
        expect(files.slice(isLong ? 1 : 0)).toEqual(contents);
        if (isLong) expect(files[0]).toBe(`set -- ${argv.map((word) => `'${word}'`).join(' ')}\n`);
        slots.close();
      }
      launcher.close();
      launcher.close();
    },
  );

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

  test('known errors of bubblewrap are explained', () => {
    const explain = (complaint: string) => explainFailure(complaint, 'install it');
    expect(explain("bwrap: Can't mount proc on /newroot/proc: Operation not permitted")?.reason).toContain('Docker');
    expect(explain('spawn /usr/bin/bwrap EMFILE')?.install).toContain('ulimit -n');
    expect(explain("bwrap: Can't find source path /base/w/work: Permission denied")).toBeUndefined();
    expect(explain('bwrap: No permissions to create new namespace')?.reason).toContain('No permissions');
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

  test('a snapshot whole where it has its links, and by its entries where not', () =>
    inFolder((folder) => {
      writeFileSync(path.join(folder, 'SKILL.md'), '');
      mkdirSync(path.join(folder, 'out'));
      symlinkSync('SKILL.md', path.join(folder, 'README'));
      expect(skillMounts(folder, '/s').toSorted((a, b) => (a.target < b.target ? -1 : 1))).toEqual([
        { type: 'link', linkTarget: 'SKILL.md', target: '/s/README' },
        { type: 'bind', source: path.join(folder, 'SKILL.md'), target: '/s/SKILL.md' },
        { type: 'link', linkTarget: '../../work/inputs', target: '/s/inputs' },
        // Programs share one folder for output, whatever the skill has under that name.
        { type: 'link', linkTarget: '../../out', target: '/s/out' },
        { type: 'link', linkTarget: '../../work', target: '/s/work' },
      ]);
      rmdirSync(path.join(folder, 'out'));
      symlinkSync('../../out', path.join(folder, 'out'));
      symlinkSync('../../work', path.join(folder, 'work'));
      symlinkSync('../../work/inputs', path.join(folder, 'inputs'));
      expect(skillMounts(folder, '/s')).toEqual([{ type: 'bind', source: folder, target: '/s' }]);
    }));
});
