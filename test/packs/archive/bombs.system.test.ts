import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

import { HOSTILE_ARCHIVES } from '../../corpus/archives.ts';
import { PROJECT } from '../../files-below.ts';
import { scratch } from '../../registry/support.ts';
import { unpack } from './support.ts';

const BOMBS = HOSTILE_ARCHIVES.filter(({ attack = 0 }) => attack >= 59 && attack <= 62);

/** What a process of its own says of an archive; `kibibytes` is how far it pushed the most memory it ever had. */
interface Measured {
  readonly code?: string;
  readonly kibibytes: number;
  readonly milliseconds: number;
}

const PROGRAM = `
import { readFileSync } from 'node:fs';
const { openArchive } = await import(process.argv[1]);
const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
const before = peak();
const started = performance.now();
const opened = await openArchive(process.argv[2]);
const outcome = opened.type === 'archive' ? await opened.extract(process.argv[3]) : opened;
const milliseconds = performance.now() - started;
console.log(JSON.stringify({ code: outcome.code, kibibytes: peak() - before, milliseconds }));
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
  test.each(BOMBS)('$attack $name: $code', async ({ bytes, code }) => {
    expect(await unpack(bytes())).toEqual({ code, message: expect.any(String) });
  });

  test.runIf(process.platform === 'linux')('none of them takes 50 MB', () => {
    const measured = BOMBS.map(({ name, bytes, code }) => ({ name, expected: code, ...measure(bytes()) }));
    console.log(measured.map((row) => JSON.stringify(row)).join('\n'));
    expect(measured.filter(({ expected, code }) => code !== expected)).toEqual([]);
    expect(measured.filter(({ kibibytes }) => kibibytes > 50_000)).toEqual([]);
  });
});
