import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

import { HOSTILE_ARCHIVES } from '../../corpus/archives.ts';
import { PROJECT } from '../../files-below.ts';
import { scratch } from '../../skills/registry/support.ts';
import { unpack } from './support.ts';

const BOMBS = HOSTILE_ARCHIVES.filter(({ attack = 0 }) => attack >= 59 && attack <= 62);

const MOST_KIBIBYTES = 50_000;

/** What a process of its own says of an archive; `kibibytes` is how far it pushed the most memory it ever had. */
interface Measured {
  readonly code?: string;
  readonly message?: string;
  readonly kibibytes: number;
  /** Whether anything was left of what it extracted. */
  readonly isThere: boolean;
}

const PROGRAM = `
import { existsSync, readFileSync } from 'node:fs';
const { openArchive } = await import(process.argv[1]);
const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
const before = peak();
const opened = await openArchive(process.argv[2]);
const { code, message } = opened.type === 'archive' ? await opened.extract(process.argv[3]) : opened;
console.log(JSON.stringify({ code, message, kibibytes: peak() - before, isThere: existsSync(process.argv[3]) }));
`;

function measure(bytes: Buffer): Measured {
  const folder = scratch();
  const archive = path.join(folder, 'archive');
  writeFileSync(archive, bytes);
  const door = pathToFileURL(path.join(PROJECT, 'dist/packs/archive/archive.js')).href;
  const options = ['--input-type=module', '--eval', PROGRAM, door, archive, path.join(folder, 'to')];
  const output: unknown = JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' }));
  // The program above writes nothing else.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return output as Measured;
}

describe('bombs', () => {
  // Memory is read from Linux; elsewhere a process of its own would show nothing more.
  test.each(BOMBS)('$attack $name: $code, in less than 50 MB', async ({ bytes, code }) => {
    if (process.platform !== 'linux')
      return expect(await unpack(bytes())).toEqual({ code, message: expect.any(String) });
    const { kibibytes, ...outcome } = measure(bytes());
    expect(outcome).toEqual({ code, message: expect.any(String), isThere: false });
    expect(kibibytes).toBeLessThan(MOST_KIBIBYTES);
  });
});
