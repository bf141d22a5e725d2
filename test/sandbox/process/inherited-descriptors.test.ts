import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { built, scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';
import { childSlots, keepBytes, LEAKING_DESCRIPTORS } from '../../../src/sandbox/process/inherited-descriptors.ts';

/** Starts a program from a process that inherited descriptors, and prints what the program sees at them. */
const STARTER = `
  const { runChild } = await import(process.argv[1]);
  const { ${Object.keys({ LEAKING_DESCRIPTORS }).join()} } = await import(process.argv[2]);
  let text = '';
  const sink = { write: (chunk) => ((text += Buffer.from(chunk).toString()), true) };
  const limits = { wallMs: 10000, outputBytes: 1e6 };
  const argv = ['sh', '-c', process.argv[3]];
  const inherited = JSON.parse(process.argv[4]).map((part) => Buffer.from(part));
  await runChild({ argv, cwd: '/', env: { PATH: '/usr/bin:/bin' }, inherited }, { stdin: Buffer.alloc(0), limits, streams: { stdout: sink, stderr: sink } });
  console.log(JSON.stringify({ text, leaking: LEAKING_DESCRIPTORS }));`;

function startFrom(opened: string, line: string, inherited: readonly string[] = []): unknown {
  const modules = ['sandbox/process/child-process.js', 'sandbox/process/inherited-descriptors.js'].map(built);
  const node = [process.execPath, '--input-type=module', '-e', STARTER, ...modules, line, JSON.stringify(inherited)];
  const output = execFileSync('bash', ['-c', `exec ${opened}; exec "$@"`, 'bash', ...node], { encoding: 'utf8' });
  return JSON.parse(output);
}

test('a descriptor left open by the parent is not inherited by programs', needs('linux'), () => {
  const secret = path.join(scratch(), 'key');
  writeFileSync(secret, 'the key');
  const look = 'for fd in /proc/$$/fd/*; do test "${fd##*/}" -gt 2 && readlink "$fd" && cat "$fd"; done | sort -u';
  // The machine that runs this test may itself have left some open: they count too.
  expect(startFrom(`21<${secret} 300<${secret}`, look)).toEqual({
    text: '/dev/null\n',
    leaking: expect.arrayContaining([21, 300]),
  });
});

test('bytes for a program replace an open descriptor of the same number', needs('linux'), () => {
  const secret = path.join(scratch(), 'key');
  writeFileSync(secret, 'the key');
  const seen = startFrom(`17<${secret}`, 'cat <&3; cat <&4; cat /proc/self/fd/17', ['three ', 'four']);
  expect(seen).toEqual({ text: 'three four', leaking: expect.arrayContaining([17]) });
});

test('kept bytes are read from the start by every child', needs('linux'), () => {
  const kept = keepBytes(Buffer.from('abc'));
  const both = [childSlots([kept.inherited]), childSlots([kept.inherited])];
  const texts = both.map(({ stdio: [descriptor] }) => {
    if (typeof descriptor !== 'number') throw new TypeError('no descriptor');
    return readFileSync(descriptor, 'utf8');
  });
  expect(texts).toEqual(['abc', 'abc']);
  for (const slots of both) slots.close();
  kept.close();
  expect(() => childSlots([kept.inherited])).toThrow('ENOENT');
});

test('the file of the bytes is unlinked, and the descriptor is closed', () => {
  const before = readdirSync(tmpdir()).filter((name) => name.includes('skillwright-bytes'));
  const slots = childSlots([Buffer.from('abc')]);
  const [descriptor] = slots.stdio;
  if (typeof descriptor !== 'number') throw new TypeError('no descriptor');
  expect(readFileSync(descriptor, 'utf8')).toBe('abc');
  expect(readdirSync(tmpdir()).filter((name) => name.includes('skillwright-bytes'))).toEqual(before);
  slots.close();
  slots.close();
  // Taken by the next file that is opened: it was free.
  const next = openSync('/dev/null', 'r');
  closeSync(next);
  expect(next).toBeLessThanOrEqual(descriptor);
});
