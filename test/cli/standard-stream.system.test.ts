import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { SHARED_CACHE, skillText, temporaryFolder, writeFiles } from './run-cli.ts';
import { skipUnless } from '../needs.ts';

const BIN = path.join(PROJECT, 'dist/command/skillwright.js');
const SKILLS = 40;

/** Pipes of a shell are pipes; those that Node makes for a child are sockets. */
function shell(folder: string, script: string): string {
  return execFileSync('sh', ['-c', script], {
    encoding: 'utf8',
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: path.join(folder, 'home'),
      ...SHARED_CACHE,
      NODE: process.execPath,
      LIST: `${process.execPath} ${BIN} list --only-root --root skills`,
    },
    timeout: 170_000,
    maxBuffer: 64 * 1024 * 1024,
  });
}

function folderOf(skills: number, description: string): string {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'home'));
  for (let number = 0; number < skills; number += 1)
    writeFiles(folder, { [`skills/s-${String(number)}/SKILL.md`]: skillText(`s-${String(number)}`, description) });
  return folder;
}

describe('standard output', skipUnless(process.platform !== 'win32', 'a system with POSIX files'), () => {
  const folder = folderOf(SKILLS, 'Does this, and 那个.');

  test('is the same in a file, in a pipe and in a file that is added to', () => {
    const piped = shell(folder, '$LIST | cat');
    expect(piped.split('\n').length).toBe(SKILLS + 1);
    expect(shell(folder, '$LIST > out; cat out')).toBe(piped);
    expect(shell(folder, 'echo before > more; $LIST >> more; echo after >> more; cat more')).toBe(
      `before\n${piped}after\n`,
    );
    expect(shell(folder, '$LIST > /dev/null')).toBe('');
  });

  test('a reader that goes away is no error', () => {
    expect(shell(folder, '{ sleep 0.5; $LIST 2>err; echo $? > status; } | true; cat err status')).toBe('0\n');
    expect(shell(folder, `{ sleep 0.2; $NODE ${BIN} --version 2>err; echo $? > status; } | true; cat err status`)).toBe(
      '0\n',
    );
  });

  test(
    'output that finds no room is said and ends with 1, on a device and in a file',
    skipUnless(existsSync('/dev/full'), '/dev/full'),
    () => {
      const expected = 'error: cannot write the output (ENOSPC)\nhint: free some disk space\n1\n';
      expect(shell(folder, '$LIST >/dev/full 2>err; echo $? > status; cat err status')).toBe(expected);
      expect(shell(folder, `$NODE ${BIN} --version >/dev/full 2>err; echo $? > status; cat err status`)).toBe(expected);
      // A file may have no more than so many blocks: what is written beyond them is refused as a full disk refuses it.
      const limited = 'trap "" XFSZ; ulimit -f 1; $LIST --json >out 2>err; echo $? >status; cat err status';
      expect(shell(folder, limited)).toBe('error: cannot write the output (EFBIG)\n1\n');
    },
  );

  test('messages that find no room or no reader keep nothing from being done', () => {
    const listed = shell(folder, '$LIST');
    expect(shell(folder, '$LIST --root gone 2>/dev/full; echo $?')).toBe(`${listed}0\n`);
    const broken = `$NODE ${BIN} inspect nothing-of-this-name`;
    expect(shell(folder, `${broken} 2>/dev/full; echo $?`)).toBe('1\n');
    expect(shell(folder, `{ { sleep 0.5; ${broken} 2>&3; echo $? > status; } 3>&1 >&2 | true; } ; cat status`)).toBe(
      '1\n',
    );
  });

  test('a full pipe that does not wait gets the rest later', () => {
    const { length } = Buffer.from(shell(folder, '$LIST --json'));
    expect(length).toBeGreaterThan(8_000);
    // Node makes its pipes such; killed, it leaves them so.
    const filled =
      "$NODE -e \"process.stdout.write('x'.repeat(64000)); process.kill(process.pid, 'SIGKILL')\" 2>/dev/null";
    const script = `{ ${filled}; $LIST --json; echo $? > status; } | { sleep 1; wc -c; }; cat status`;
    const [count, status] = shell(folder, script).trim().split(/\s+/).map(Number);
    expect({ status, isWhole: Math.abs((count ?? 0) - 64_000 - length) < 20 }).toEqual({ status: 0, isWhole: true });
  });

  test('more than a pipe holds reaches a slow reader whole', () => {
    const large = folderOf(300, 'Does what it says, and says it at length. '.repeat(20));
    const direct = shell(large, '$LIST > out; wc -c < out; wc -l < out');
    expect(Number(direct.trim().split(/\s+/)[0])).toBeGreaterThan(200_000);
    expect(shell(large, '$LIST | { sleep 0.5; cat > out; }; wc -c < out; wc -l < out')).toBe(direct);
  });
});
