import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { isSkillError } from '../../../src/core/errors.ts';
import { openCapture } from '../../../src/sandbox/execution/output-capture.ts';
import { verifies } from '../../conformance/verifies.ts';
import { built, scratch } from '../../skills/registry/support.ts';
import { runs } from '../../property-runs.ts';

function captured(chunks: readonly (string | Uint8Array)[], limits = { inlineBytes: 16, maxBytes: 1000 }) {
  const file = path.join(scratch(), 'stdout');
  const capture = openCapture(file, limits);
  const taken = chunks.map((chunk) => capture.write(Buffer.from(chunk)));
  const { file: _, digest, ...rest } = capture.finish();
  expect(capture.finish().digest).toBe(digest);
  expect(digest).toBe(createHash('sha256').update(readFileSync(file)).digest('hex'));
  return { ...rest, taken, stored: readFileSync(file).toString('latin1') };
}

test('short output is returned whole', () => {
  expect(captured(['hello ', 'world\n'])).toEqual({
    text: 'hello world\n',
    bytes: 12,
    truncated: false,
    taken: [true, true],
    stored: 'hello world\n',
  });
  expect(captured([])).toEqual({ text: '', bytes: 0, truncated: false, taken: [], stored: '' });
  expect(captured(['0123456789abcdef']).text).toBe('0123456789abcdef');
});

verifies('EXEC-6', 'of long output the start and the end are shown, and the whole is in a file', () => {
  const all = '0123456789abcdefghij';
  expect(captured([all])).toEqual({
    text: '01234567\n[... 4 bytes left out ...]\ncdefghij',
    bytes: 20,
    truncated: true,
    taken: [true],
    stored: all,
  });
  expect(captured([...all]).text).toBe('01234567\n[... 4 bytes left out ...]\ncdefghij');
});

test('no character is split', () => {
  const { text, stored } = captured(['abcdef', 'ä€😀', 'x'.repeat(10), '😀€ä', 'ghijk']);
  expect(text).toBe('abcdefä\n[... 24 bytes left out ...]\näghijk');
  expect(Buffer.from(stored, 'latin1').toString()).toBe('abcdefä€😀xxxxxxxxxx😀€äghijk');
});

test('invalid bytes, NULs, control, terminal and hidden characters are sanitized', () => {
  const limits = { inlineBytes: 1000, maxBytes: 1000 };
  expect(captured([Buffer.from([0x61, 0xff, 0x62, 0xc3])], limits).text).toBe('a\uFFFDb\uFFFD');
  expect(captured(['a\0b\tc\r\nd\u001b[31mred\u001b[0m\u001b]52;c;eA==\u0007\u202e\u200b.'], limits).text).toBe(
    'ab\tc\ndred.',
  );
});

test('output over the limit is refused, and the captured part is kept', () => {
  expect(captured(['12345', '67890', 'more', 'x'], { inlineBytes: 100, maxBytes: 8 })).toEqual({
    text: '12345678',
    bytes: 8,
    truncated: true,
    taken: [true, false, false, false],
    stored: '12345678',
  });
  expect(captured(['12345678'], { inlineBytes: 100, maxBytes: 8 }).taken).toEqual([true]);
});

test('the result does not depend on the chunks', () => {
  const file = scratch();
  let number = 0;
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.nat(40)),
      fc.integer({ min: 2, max: 60 }),
      (all, cuts, inlineBytes) => {
        const whole = openCapture(path.join(file, String((number += 1))), { inlineBytes, maxBytes: 1000 });
        const pieces = openCapture(path.join(file, String((number += 1))), { inlineBytes, maxBytes: 1000 });
        whole.write(all);
        let at = 0;
        for (const cut of [...cuts, all.length]) {
          pieces.write(all.subarray(at, at + cut));
          at = Math.min(all.length, at + cut);
        }
        const { file: _one, ...first } = whole.finish();
        const { file: _two, ...second } = pieces.finish();
        expect(second).toEqual(first);
      },
    ),
    { numRuns: runs(300) },
  );
});

test('an existing file or link is not written to', () => {
  const folder = scratch();
  const secret = path.join(folder, 'secret');
  writeFileSync(secret, 'mine');
  symlinkSync(secret, path.join(folder, 'link'));
  symlinkSync(path.join(folder, 'absent'), path.join(folder, 'dangling'));
  for (const name of ['secret', 'link', 'dangling']) {
    const refused = (): unknown => openCapture(path.join(folder, name), { maxBytes: 10 });
    expect(refused).toThrow(/cannot write output to .*: (?:EEXIST|ELOOP)/);
  }
  expect(readFileSync(secret, 'utf8')).toBe('mine');
});

test('a file that cannot be created is reported, and a finished capture refuses output', () => {
  const capture = openCapture(path.join(scratch(), 'x'), { maxBytes: 10 });
  capture.finish();
  expect(capture.write(Buffer.from('late'))).toBe(false);
  try {
    openCapture(path.join(scratch(), 'missing', 'x'), { maxBytes: 10 });
    expect.unreachable();
  } catch (error) {
    expect(isSkillError(error) && [error.code, error.hint]).toEqual([
      'io/failed',
      'check the permissions of the run folder',
    ]);
  }
});

/** Takes 256 MB and prints how much more memory the process had at most, in MB. */
const LONG_OUTPUT = `
  const [, childProcess, outputCapture, folder, line] = process.argv;
  const { runChild } = await import(childProcess);
  const { openCapture } = await import(outputCapture);
  const stdout = openCapture(folder + '/stdout', { maxBytes: 2 ** 31 });
  const stderr = openCapture(folder + '/stderr', { maxBytes: 1000 });
  const limits = { wallMs: 160000, outputBytes: 2 ** 31 };
  const before = process.memoryUsage().rss;
  let most = before;
  const end = await runChild({ argv: ['sh', '-c', line], cwd: '/', env: { PATH: '/usr/bin:/bin' } }, {
    stdin: Buffer.alloc(0), limits, streams: { stdout, stderr },
    poll: () => void (most = Math.max(most, process.memoryUsage().rss)),
  });
  const { bytes, text } = stdout.finish();
  console.log(JSON.stringify({ reason: end.reason, bytes, text: text.length, grown: (most - before) / 2 ** 20 }));`;

test.each([
  ['of short lines', 'yes | head -c 268435456'],
  ['in one line', String.raw`head -c 268435456 /dev/zero | tr '\0' x`],
])(
  '256 MB %s cost constant memory',
  (_, line) => {
    const folder = scratch();
    const modules = ['sandbox/process/child-process.js', 'sandbox/execution/output-capture.js'].map(built);
    const words = ['--input-type=module', '-e', LONG_OUTPUT, ...modules, folder, line];
    const output = execFileSync(process.execPath, words, { encoding: 'utf8', timeout: 170_000 });
    const { grown, ...rest } = JSON.parse(output);
    const text = 16 * 1024 + '\n[... 268419072 bytes left out ...]\n'.length;
    expect(rest).toEqual({ reason: 'exited', bytes: 2 ** 28, text });
    expect(statSync(path.join(folder, 'stdout')).size).toBe(2 ** 28);
    expect(grown).toBeLessThan(100);
  },
  180_000,
);
