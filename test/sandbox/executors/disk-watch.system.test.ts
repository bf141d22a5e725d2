/** The disk limits of a program that closes its folders to us. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { bundleProgram } from '../../bundle-program.ts';
import { temporaryFolder } from '../../cli/run-cli.ts';

/** Root may read every folder, so the watch runs as another user. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const PROGRAM = `
  import { diskWatch } from './sandbox/executors/disk-watch.ts';
  const [folder] = process.argv.slice(2);
  const limits = { diskBytes: 1024 * 1024, files: 10, fileBytes: 1024 * 1024 };
  const disk = diskWatch({ folders: [folder], limits, processes: () => [] });
  console.log(JSON.stringify([disk.isExceeded(false), disk.isExceeded(true)]));
`;

let program = '';
let base = '';
beforeAll(async () => {
  base = temporaryFolder();
  chmodSync(base, 0o755);
  program = await bundleProgram(PROGRAM, base);
});

/** What the watch says while the program runs, and after it. */
function watched(name: string, sizes: readonly number[], mode: number): unknown {
  const folder = path.join(base, name);
  const closed = path.join(folder, 'closed');
  mkdirSync(closed, { recursive: true });
  for (const [place, bytes] of sizes.entries()) writeFileSync(path.join(closed, String(place)), Buffer.alloc(bytes, 1));
  for (const one of [folder, closed]) if (USER.uid !== undefined) chownSync(one, USER.uid, USER.gid);
  chmodSync(closed, mode);
  return JSON.parse(execFileSync(process.execPath, [program, folder], { ...USER, cwd: folder, encoding: 'utf8' }));
}

describe.skipIf(process.platform === 'win32')('a folder that the program closed', () => {
  test.each([0o000, 0o100, 0o400])('is not over a limit by itself: mode %o', (mode) => {
    expect(watched(`small-${String(mode)}`, [10], mode)).toEqual([false, false]);
  });

  test('is counted at the end: its bytes and its files', () => {
    expect(watched('large', [2 * 1024 * 1024], 0o000)).toEqual([false, true]);
    expect(watched('many', Array<number>(20).fill(0), 0o000)).toEqual([false, true]);
    expect(statSync(path.join(base, 'many/closed')).mode & 0o777).toBe(0o700);
  });
});
