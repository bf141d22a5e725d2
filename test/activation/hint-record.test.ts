import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { hintsFile, keepHint } from '../../src/activation/hint-record.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'hint-record-'));
  mkdirSync(path.join(home, '.agent/activation'), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const HINT = { time: '2026-11-18T20:00:00Z', agent: 'codex', request: 'f'.repeat(32), skills: ['a'] };

test('a full record loses its older half and keeps whole lines', () => {
  const file = hintsFile({ home }) ?? '';
  const line = (at: number): string => `${JSON.stringify({ ...HINT, time: String(at).padStart(8, '0') })}\n`;
  const count = Math.ceil(2_000_001 / line(0).length);
  writeFileSync(file, Array.from({ length: count }, (_, at) => line(at)).join(''));
  keepHint(home, HINT);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual(HINT);
  const times = lines.slice(0, -1).map((text) => Number((JSON.parse(text) as { time: string }).time));
  expect(times).toEqual(Array.from({ length: times.length }, (_, at) => count - times.length + at));
  expect(statSync(file).size).toBeLessThan(1_100_000);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('nothing happens where the record cannot be written', () => {
  rmSync(path.join(home, '.agent'), { recursive: true });
  keepHint(home, HINT);
  mkdirSync(hintsFile({ home }) ?? '', { recursive: true });
  keepHint(home, HINT);
  expect(statSync(hintsFile({ home }) ?? '').isDirectory()).toBe(true);
});
