import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { FIRST_HASH, linkLine } from '../../src/journal/journal-lines.ts';
import { createRun } from '../../src/journal/journal-writer.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { built, scratch } from '../skills/registry/support.ts';
import { ANSWER, START, filesOf, linesOf, startRun, writeRun } from './support.ts';
import { runs } from '../property-runs.ts';

const KEY = Buffer.alloc(32, 7);
const ANSWER_FILE = `observations/${sha256(ANSWER)}`;

function writeLines(run: string, lines: readonly string[]): void {
  writeFileSync(path.join(run, 'events.jsonl'), lines.map((line) => `${line}\n`).join(''));
}

/** Ties lines together anew, as somebody would who knows how it is done. */
function relink(lines: readonly string[]): readonly string[] {
  let hash = FIRST_HASH;
  return lines.map((line) => {
    const { hash: _, ...rest } = JSON.parse(line) as { hash: string };
    const linked = linkLine(hash, JSON.stringify(rest));
    hash = linked.hash;
    return linked.line.trimEnd();
  });
}

const edit = (run: string, file: string, change: (text: string) => string): void => {
  const place = path.join(run, file);
  writeFileSync(place, change(readFileSync(place, 'utf8')));
};

/** Codes and places of what is found. */
function found(run: string, sealKey: Uint8Array | undefined = KEY): readonly string[] {
  const { status, problems } = verifyRun(run, sealKey === undefined ? {} : { sealKey });
  return [
    status,
    ...problems.map(({ code, path: file, line }) => `${code} ${file}${line === undefined ? '' : `:${String(line)}`}`),
  ];
}

const good = (): string => writeRun(scratch(), { sealKey: KEY }).path;

describe('an unmodified run', () => {
  test('is intact, and its seal is good where the key is', () => {
    const run = good();
    expect(verifyRun(run, { sealKey: KEY })).toEqual({ status: 'intact', problems: [], seal: 'good' });
  });

  test('is intact elsewhere too, where its seal cannot be checked', () => {
    const run = good();
    const copy = path.join(scratch(), 'a copy');
    cpSync(run, copy, { recursive: true });
    expect(verifyRun(copy)).toEqual({ status: 'intact', problems: [], seal: 'no-key' });
    expect(verifyRun(copy, { sealKey: Buffer.alloc(32, 8) })).toEqual({
      status: 'unsealed',
      problems: [],
      seal: 'no-key',
    });
    expect(verifyRun(copy, { sealKey: KEY }).seal).toBe('good');
  });

  test('is intact however it ended', () => {
    for (const outcome of ['failed', 'refused', 'cancelled', 'record-failed'] as const) {
      const run = startRun(scratch());
      run.end(outcome, 'so it went');
      expect(verifyRun(run.path)).toEqual({ status: 'intact', problems: [], seal: 'absent' });
    }
  });

  test('is running while it is, and torn once its process is gone', () => {
    const run = startRun(scratch());
    run.append({ type: 'note', message: 'x'.repeat(5000) });
    expect(verifyRun(run.path)).toEqual({ status: 'running', problems: [], seal: 'absent' });
    const script = `const { createRun } = await import(process.argv[1]);
      const run = createRun(process.argv[2], JSON.parse(process.argv[3]));
      run.append({ type: 'note', message: 'the last word' }); console.log(run.path);`;
    const dead = execFileSync(
      process.execPath,
      ['--input-type=module', '-e', script, built('journal/journal-writer.js'), scratch(), JSON.stringify(START)],
      { encoding: 'utf8' },
    ).trim();
    expect(verifyRun(dead)).toEqual({ status: 'torn', problems: [], seal: 'absent' });
    appendFileSync(path.join(dead, 'events.jsonl'), '{"seq":3,"time":"20');
    expect(verifyRun(dead)).toEqual({ status: 'torn', problems: [], seal: 'absent' });
    // What a power cut leaves.
    edit(dead, 'events.jsonl', (text) => text.replace(/\{"seq":3.*/, '\0\0\0\0\n'));
    expect(verifyRun(dead)).toEqual({ status: 'torn', problems: [], seal: 'absent' });
    rmSync(path.join(dead, 'run.json'));
    expect(found(dead)).toEqual(['tampered', 'run/missing run.json']);
  });
});

describe('what is found', () => {
  test.each<[string, (run: string) => void, readonly string[]]>([
    [
      'an edited line',
      (run) =>
        edit(run, 'events.jsonl', (text) => text.replace('"load_skill","skill":"pdf"}', '"load_skill","skill":"pdg"}')),
      ['line/edited events.jsonl:3'],
    ],
    [
      'a missing line',
      (run) => writeLines(run, linesOf(run).toSpliced(4, 1)),
      ['line/order events.jsonl:5', 'journal/cut events.jsonl'],
    ],
    [
      'a line twice',
      (run) => writeLines(run, linesOf(run).toSpliced(4, 0, linesOf(run)[4] ?? '')),
      ['line/order events.jsonl:6'],
    ],
    [
      'lines in another order',
      (run) => writeLines(run, linesOf(run).toSpliced(4, 2, linesOf(run)[5] ?? '', linesOf(run)[4] ?? '')),
      ['line/order events.jsonl:5', 'line/order events.jsonl:6', 'line/order events.jsonl:7'],
    ],
    ['lines cut off at the end', (run) => writeLines(run, linesOf(run).slice(0, -2)), ['journal/cut events.jsonl']],
    [
      'half a line cut off',
      (run) => edit(run, 'events.jsonl', (text) => text.slice(0, -9)),
      ['journal/cut events.jsonl'],
    ],
    ['no line left', (run) => writeLines(run, []), ['journal/cut events.jsonl']],
    ['bytes at the end', (run) => appendFileSync(path.join(run, 'events.jsonl'), 'x'), ['journal/cut events.jsonl']],
    [
      'a line that follows from the last one',
      (run) => {
        const last = JSON.parse(linesOf(run).at(-1) ?? '') as { seq: number; hash: string };
        const line = { seq: last.seq + 1, time: '', elapsed: 1, event: { type: 'note', message: 'more' } };
        appendFileSync(path.join(run, 'events.jsonl'), linkLine(last.hash, JSON.stringify(line)).line);
      },
      ['journal/added events.jsonl'],
    ],
    [
      'a line that is no JSON, the others still being judged',
      (run) => writeLines(run, linesOf(run).with(2, 'nonsense').with(6, '')),
      ['line/unreadable events.jsonl:3', 'line/unreadable events.jsonl:7'],
    ],
    [
      'bytes that are no text',
      (run) => {
        const bytes = readFileSync(path.join(run, 'events.jsonl'));
        bytes[40] = 0xff;
        writeFileSync(path.join(run, 'events.jsonl'), bytes);
      },
      ['line/unreadable events.jsonl:1'],
    ],
    [
      'a chain that was tied anew after an edit',
      (run) => writeLines(run, relink(linesOf(run).map((line) => line.replace('naïve', 'clever')))),
      ['run/edited run.json'],
    ],
    [
      'an edited run.json',
      (run) => edit(run, 'run.json', (text) => text.replace('"done"', '"failed"')),
      ['run/edited run.json', 'seal/wrong run.json'],
    ],
    ['a run.json that is none', (run) => writeFileSync(path.join(run, 'run.json'), '{}'), ['run/edited run.json']],
    ['no run.json', (run) => rmSync(path.join(run, 'run.json')), ['run/missing run.json']],
    [
      'a seal of another run',
      (run) => edit(run, 'run.json', (text) => text.replace(/(:[0-9a-f]{8})[0-9a-f]{8}/, '$100000000')),
      ['seal/wrong run.json'],
    ],
    ['no events.jsonl', (run) => rmSync(path.join(run, 'events.jsonl')), ['journal/missing events.jsonl']],
    ['content that is gone', (run) => rmSync(path.join(run, ANSWER_FILE)), [`file/missing ${ANSWER_FILE}`]],
    [
      'content that was edited',
      (run) => edit(run, ANSWER_FILE, (text) => text.replace('D', 'd')),
      [`file/edited ${ANSWER_FILE}`],
    ],
    ['content that grew', (run) => appendFileSync(path.join(run, ANSWER_FILE), 'x'), [`file/edited ${ANSWER_FILE}`]],
    [
      'an input that was edited',
      (run) => writeFileSync(path.join(run, 'inputs', sha256('an input')), 'An input'),
      [`file/edited inputs/${sha256('an input')}`],
    ],
    [
      'content nobody spoke of',
      (run) => writeFileSync(path.join(run, 'inputs', sha256('new')), 'new'),
      [`file/added inputs/${sha256('new')}`],
    ],
    ['a file nobody spoke of', (run) => writeFileSync(path.join(run, 'a\u001B[2J'), ''), ['file/added a\\x1b[2J']],
    ['an edited index.json', (run) => edit(run, 'index.json', (text) => `${text} `), ['file/edited index.json']],
    [
      'an edited state.json',
      (run) => edit(run, 'state.json', (text) => text.replace('1', '2')),
      ['file/edited state.json'],
    ],
    ['an edited final.md', (run) => edit(run, 'final.md', () => 'other'), ['file/edited final.md']],
    ['no final.md', (run) => rmSync(path.join(run, 'final.md')), ['file/missing final.md']],
  ])('%s', (_, tamper, problems) => {
    const run = good();
    tamper(run);
    expect(found(run)).toEqual(['tampered', ...problems]);
  });

  test('is that a run was written anew as a whole, where it was sealed', () => {
    const directory = scratch();
    const run = writeRun(directory, { sealKey: KEY });
    const other = createRun(directory, { ...START, request: 'something else' }, { sealKey: randomBytes(32) });
    other.end('done', '');
    for (const file of readdirSync(run.path)) rmSync(path.join(run.path, file), { recursive: true });
    cpSync(other.path, run.path, { recursive: true });
    expect(found(run.path)).toEqual(['tampered', 'folder/renamed .']);
    // As if the id were the same: in a folder that is not named as a run.
    const copy = path.join(scratch(), 'copy');
    cpSync(other.path, copy, { recursive: true });
    expect(verifyRun(copy, { sealKey: KEY })).toEqual({ status: 'unsealed', problems: [], seal: 'no-key' });
    const seal = /"seal": "([0-9a-f]{16})/.exec(
      readFileSync(path.join(writeRun(directory, { sealKey: KEY }).path, 'run.json'), 'utf8'),
    )?.[1];
    edit(copy, 'run.json', (text) => text.replace(/"seal": "[0-9a-f]{16}/, `"seal": "${seal ?? ''}`));
    expect(found(copy)).toEqual(['tampered', 'seal/wrong run.json']);
  });

  test('is any one change to a byte or a line of any file', () => {
    const base = scratch();
    const run = writeRun(path.join(base, 'runs'), { sealKey: KEY }).path;
    const files = filesOf(run);
    const whole = new Map(files.map((file) => [file, readFileSync(path.join(run, file))]));
    const changes = fc.record({
      file: fc.constantFrom(...files),
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      to: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      byte: fc.integer({ min: 0, max: 255 }),
      how: fc.constantFrom('set', 'insert', 'drop', 'cut', 'drop line', 'swap lines', 'repeat line'),
    });
    fc.assert(
      fc.property(changes, ({ file, at, to, byte, how }) => {
        const before = whole.get(file) ?? Buffer.alloc(0);
        const after = changed(before, { at, to, byte, how });
        fc.pre(!after.equals(before));
        writeFileSync(path.join(run, file), after);
        const { status } = verifyRun(run, { sealKey: KEY });
        writeFileSync(path.join(run, file), before);
        expect(status === 'intact' ? `${how} in ${file} at ${String(at)}` : '').toBe('');
      }),
      { numRuns: runs(1000) },
    );
    expect(verifyRun(run, { sealKey: KEY }).status).toBe('intact');
  });
});

interface Change {
  readonly at: number;
  readonly to: number;
  readonly byte: number;
  readonly how: string;
}

function changed(bytes: Buffer, { at, to, byte, how }: Change): Buffer {
  const place = Math.floor(at * bytes.length);
  const piece = (value: Buffer): Buffer => Buffer.concat([bytes.subarray(0, place), value]);
  if (how === 'set') return Buffer.concat([piece(Buffer.from([byte])), bytes.subarray(place + 1)]);
  if (how === 'insert') return Buffer.concat([piece(Buffer.from([byte])), bytes.subarray(place)]);
  if (how === 'drop') return Buffer.concat([piece(Buffer.alloc(0)), bytes.subarray(place + 1)]);
  if (how === 'cut') return piece(Buffer.alloc(0));
  const lines = bytes.toString('latin1').split('\n');
  const [first, second] = [Math.floor(at * lines.length), Math.floor(to * lines.length)];
  if (how === 'drop line') lines.splice(first, 1);
  else if (how === 'repeat line') lines.splice(second, 0, lines[first] ?? '');
  else [lines[first], lines[second]] = [lines[second] ?? '', lines[first] ?? ''];
  return Buffer.from(lines.join('\n'), 'latin1');
}

describe('a folder that is no run', () => {
  test.each<[string, (run: string) => void, readonly string[]]>([
    ['is not there', (run) => rmSync(run, { recursive: true }), ['unreadable', 'folder/not-a-run .']],
    ['was killed before its first line', (run) => (rmSync(run, { recursive: true }), mkdirSync(run)), ['torn']],
    [
      'is of a later version',
      (run) => edit(run, 'run.json', (text) => text.replace('"schema": 1', '"schema": 2')),
      ['unreadable', 'folder/newer .'],
    ],
    [
      'is a file',
      (run) => (rmSync(run, { recursive: true }), writeFileSync(run, '')),
      ['unreadable', 'folder/not-a-run .'],
    ],
  ])('%s', (_, make, expected) => {
    const run = good();
    make(run);
    expect(found(run)).toEqual(expected);
  });

  test('is any other folder', () => {
    const folder = scratch();
    expect(found(folder)).toEqual(['unreadable', 'folder/not-a-run .']);
  });

  test.each<[string, (file: string) => void, string]>([
    ['a pipe', (file) => execFileSync('mkfifo', [file]), 'it is not a regular file'],
    [
      'a link',
      (file) => (renameSync(`${file}.kept`, `${file}.there`), symlinkSync(`${file}.there`, file)),
      'it is a link',
    ],
    ['a folder', (file) => mkdirSync(file), 'it is not a regular file'],
  ])('has %s in the place of its journal, which is not read', (_, put, message) => {
    const run = good();
    const file = path.join(run, 'events.jsonl');
    renameSync(file, `${file}.kept`);
    put(file);
    expect(verifyRun(run, { sealKey: KEY })).toEqual({
      status: 'tampered',
      problems: [{ code: 'journal/missing', path: 'events.jsonl', message }],
      seal: 'good',
    });
  });

  test('has pipes in place of its files, which are not waited for', () => {
    const run = good();
    for (const file of ['run.json', 'index.json', 'final.md', ANSWER_FILE]) {
      rmSync(path.join(run, file));
      execFileSync('mkfifo', [path.join(run, file)]);
    }
    expect(found(run)[0]).toBe('tampered');
  });
});

describe('a folder made to harm its reader', () => {
  const line = (event: unknown, seq = 1): string => JSON.stringify({ seq, time: '', elapsed: 0, event, hash: '' });
  const start = { type: 'run-start', schema: 1, run: 'x', request: '', version: '', indexHash: '', policyHash: '' };
  test.each<[string, readonly unknown[]]>([
    [
      'events of no form',
      [start, null, [], 'x', { type: 'constructor' }, { type: '__proto__' }, { type: 'action', call: 1 }],
    ],
    [
      'sessions of no form',
      [start, { type: 'session', event: { type: 'session-start' } }, { type: 'session', event: {} }],
    ],
    ['references that lead out', [start, { type: 'note', message: { $ref: '../../etc/passwd', bytes: 1, start: '' } }]],
    ['a process that is none', [{ ...start, process: { pid: 1.5, start: '', boot: '', space: '' } }]],
    ['a content that leads out', [start, { type: 'content-keep', path: '../x', bytes: 1 }]],
  ])('is judged all the same: %s', (_, events) => {
    const run = good();
    writeLines(run, relink(events.map((event, place) => line(event, place + 1))));
    expect(found(run)[0]).toBe('tampered');
  });

  test('with a million levels is verified', () => {
    const run = good();
    const deep = `{"type":"note","message":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
    const json = `{"seq":1,"time":"","elapsed":0,"event":${deep}}`;
    writeFileSync(path.join(run, 'events.jsonl'), linkLine(FIRST_HASH, json).line);
    expect(found(run).slice(0, 2)).toEqual(['tampered', 'line/unreadable events.jsonl:1']);
  });

  test('with a line without an end is not read into memory', () => {
    const run = good();
    writeFileSync(path.join(run, 'events.jsonl'), Buffer.alloc(40 * 1024 * 1024, 'x'));
    expect(found(run).slice(0, 2)).toEqual(['tampered', 'line/unreadable events.jsonl:1']);
  });
});
