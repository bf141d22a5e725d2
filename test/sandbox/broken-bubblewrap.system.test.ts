import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { bubblewrapExecutor } from '../../src/sandbox/executors/bubblewrap/executor.ts';
import { verifies } from '../conformance/verifies.ts';
import { needs } from '../needs.ts';
import { collected, openBubblewrap, programSpec, textSink } from './sandbox.ts';

describe('a sandbox that is missing or broken', () => {
  async function broken(script: string | undefined): Promise<unknown> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-broken-'));
    chmodSync(folder, 0o755);
    const command = path.join(folder, 'bwrap');
    if (script !== undefined) writeFileSync(command, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    try {
      const opened = await openBubblewrap({ command });
      await opened.close();
      return 'attached';
    } catch (error) {
      return error;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  const help = '[ "$1" = --help ] && exec /usr/bin/bwrap --help';

  test('is unavailable where it is not installed, with the command that installs it', async () => {
    expect(await broken(undefined)).toMatchObject({
      code: 'executor/unavailable',
      data: { executor: 'bubblewrap', reasons: ['bubblewrap is not installed'], install: 'apt-get install bubblewrap' },
    });
  });

  verifies('TRUE-1', 'is unavailable where it does not start, with what it printed', async () => {
    expect(await broken('echo "error while loading shared libraries: libcap.so.2" >&2; exit 127')).toMatchObject({
      code: 'executor/unavailable',
      message: expect.stringContaining(
        'bwrap does not start: exit code 127: error while loading shared libraries: libcap.so.2',
      ),
      data: { install: 'apt-get install --reinstall bubblewrap' },
    });
    expect(await broken('kill -ILL $$')).toMatchObject({ message: expect.stringMatching(/does not start: SIGILL/) });
  });

  test('is unavailable where it lacks an option, which is named', async () => {
    const old = await broken('echo "  --args FD  --unshare-all"');
    expect(old).toMatchObject({ code: 'executor/unavailable', message: expect.stringContaining('--disable-userns') });
  });

  test('is unavailable where the kernel denies it', needs('bubblewrap'), async () => {
    const refused = await broken(`${help}\necho "bwrap: setting up uid map: Permission denied" >&2; exit 1`);
    expect(refused).toMatchObject({ code: 'executor/unavailable', message: expect.stringContaining('uid map') });
  });

  test('is unavailable where it prints nothing or skips the gate', needs('bubblewrap'), async () => {
    expect(await broken(`${help}\nexit 0`)).toMatchObject({ code: 'executor/unavailable' });
  });

  test('is unavailable where the seccomp filter arrives truncated', needs('bubblewrap'), async () => {
    // Descriptor 4 holds it: read a part of it away.
    const cut = await broken(`${help}\nhead -c 4 <&4 > /dev/null; exec /usr/bin/bwrap "$@"`);
    expect(cut).toMatchObject({ code: expect.stringMatching(/^executor/) });
  });

  test(
    'that a probe has cleared skips the trial run, and its first program fails with the same message',
    needs('bubblewrap'),
    async () => {
      const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-broken-'));
      chmodSync(folder, 0o755);
      const command = path.join(folder, 'bwrap');
      const write = (script: string): void => writeFileSync(command, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const refusal = { code: 'executor/unavailable', message: expect.stringContaining('uid map') };
      write(`echo "$1" >> ${folder}/asked; exec /usr/bin/bwrap "$@"`);
      writeFileSync(path.join(folder, 'asked'), '', { mode: 0o666 });
      chmodSync(path.join(folder, 'asked'), 0o666);
      const opened = await openBubblewrap({ command, isKnown: true });
      try {
        expect(readFileSync(path.join(folder, 'asked'), 'utf8')).toBe('');
        write('echo "bwrap: setting up uid map: Permission denied" >&2; exit 1');
        await expect(collected(opened.workspace, ['true'])).rejects.toMatchObject(refusal);
        const sinks = { stdout: textSink(), stderr: textSink(), terminal: false };
        const talked = await opened.workspace.start?.(programSpec(['true']), sinks);
        await expect(talked?.ended).rejects.toMatchObject(refusal);
        write('exec /usr/bin/bwrap "$@"');
        expect((await collected(opened.workspace, ['echo', 'stands'])).stdout).toBe('stands\n');
        // From then on it is known here as well: what fails is this one program.
        write('exit 1');
        await expect(collected(opened.workspace, ['true'])).rejects.toMatchObject({ code: 'executor/failed' });
      } finally {
        await opened.close();
        rmSync(folder, { recursive: true });
      }
    },
  );

  test('never takes root for an identity', needs('root'), () => {
    expect(() => bubblewrapExecutor({ identity: { uid: 0, gid: 0 } })).toThrow('programs never run as root');
  });
});
