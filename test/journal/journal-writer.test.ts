import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { VERSION } from '../../src/version.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import type { RunRecordOptions } from '../../src/journal/journal-writer.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import { thisProcess } from '../../src/platform/fs/lock-owner.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';
import { ANSWER, EVENTS, NOW, PDF, START, filesOf, linesOf, startRun, writeRun } from './support.ts';

const read = (run: string, file: string): string => readFileSync(path.join(run, file), 'utf8');

/** What an act throws, as far as a caller looks at it. */
function thrown(act: () => unknown): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    const { code, data } = error as { code?: string; data?: { cause?: string } };
    return [code, data?.cause];
  }
}

describe('a run folder', () => {
  verifies(
    'REG-8',
    'holds everything that happened, the skills there were, the state at the end and the answer',
    () => {
      const run = writeRun(scratch());
      expect(run.id).toMatch(/^20260102T030405Z-[0-9a-f]{8}$/);
      expect(filesOf(run.path)).toEqual(
        [
          'events.jsonl',
          'final.md',
          'index.json',
          `inputs/${sha256('an input')}`,
          `observations/${sha256('x'.repeat(5000))}`,
          `observations/${sha256(ANSWER)}`,
          'run.json',
          'state.json',
        ].toSorted(),
      );
      expect(read(run.path, 'final.md')).toBe(ANSWER);
      expect(JSON.parse(read(run.path, 'index.json'))).toEqual(START.index);
      expect(JSON.parse(read(run.path, 'state.json'))).toMatchObject({ turn: 1, loaded: [{ digest: 'sha256:md' }] });
      const lines = linesOf(run.path);
      expect(JSON.parse(read(run.path, 'run.json'))).toEqual({
        schema: 1,
        run: run.id,
        version: VERSION,
        request: 'fill in the form',
        chain: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        startedAt: NOW.toISOString(),
        endedAt: NOW.toISOString(),
        outcome: 'done',
        reason: 'answered',
        indexHash: 'sha256:index',
        indexDigest: sha256(read(run.path, 'index.json')),
        normalizedRequest: 'fill in the form',
        scanDigest: '',
        phases: ['Init', 'LoadSkillBody', 'Final'],
        skills: [PDF],
        resources: [],
        tools: [
          { tool: 'load_skill', calls: 1, failed: 1 },
          { tool: 'final_answer', calls: 1, failed: 0 },
        ],
        programs: [],
        invalidCalls: 0,
        executor: START.executor,
        policyHash: 'sha256:policy',
        approvals: [
          {
            call: 1,
            request: 'sha256:question',
            tool: 'load_skill',
            answer: { verdict: 'yes', scope: 'once', by: 'terminal' },
          },
        ],
        budgets: { turns: 12 },
        process: thisProcess(),
        events: { count: EVENTS.length + 3, head: (JSON.parse(lines.at(-1) ?? '') as { hash: string }).hash },
      });
    },
  );

  verifies('AGT-9', 'gives every event back as it was appended', () => {
    const run = writeRun(scratch());
    const events = [...readRun(run.path).lines].map(({ event }) => event);
    expect(events.slice(1, -2)).toEqual(EVENTS);
    expect(events.slice(-2)).toEqual([
      { type: 'content-keep', path: `inputs/${sha256('an input')}`, bytes: 8 },
      { type: 'run-end', outcome: 'done', reason: 'answered' },
    ]);
  });

  test('is for its owner alone', () => {
    const directory = path.join(scratch(), 'deep', 'runs');
    const run = writeRun(directory);
    const modes = (names: readonly string[]): readonly string[] =>
      names.map((name) => (statSync(path.join(run.path, name)).mode & 0o777).toString(8));
    expect(modes(['..', '.', 'observations', 'inputs'])).toEqual(['700', '700', '700', '700']);
    expect(new Set(modes(filesOf(run.path)))).toEqual(new Set(['600']));
  });

  test('is another one for every run, however many begin in one second', () => {
    const directory = scratch();
    const ids = Array.from({ length: 50 }, () => {
      const run = startRun(directory);
      run.end('done', '');
      return run.id;
    });
    expect(new Set(ids).size).toBe(50);
  });

  test('keeps equal content once, and says what it kept', () => {
    const run = startRun(scratch());
    const kept = { $ref: `artifacts/${sha256('bytes')}`, bytes: 5, start: 'bytes', isRedacted: false };
    expect([run.keep(Buffer.from('bytes'), 'artifacts'), run.keep(Buffer.from('bytes'), 'artifacts')]).toEqual([
      kept,
      kept,
    ]);
    run.end('done', '');
    expect([...readRun(run.path).lines].map(({ event }) => event.type)).toEqual([
      'run-start',
      'content-keep',
      'run-end',
    ]);
    expect(verifyRun(run.path).status).toBe('intact');
  });
});

describe('a run that goes on', () => {
  test('says in run.json how far it is, every five seconds in which something happens', () => {
    let now = 1000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    const run = startRun(scratch());
    const told = (): unknown => (JSON.parse(read(run.path, 'run.json')) as { events: { count: number } }).events.count;
    const counts = [0, 4000, 1500, 4000, 2000].map((step) => {
      now += step;
      run.append({ type: 'note', message: 'on and on' });
      return told();
    });
    expect(counts).toEqual([1, 1, 4, 4, 6]);
    expect([...readRun(run.path).lines].map(({ elapsed }) => elapsed)).toEqual([0, 0, 4000, 5500, 9500, 11_500]);
    expect(verifyRun(run.path)).toEqual({ status: 'running', problems: [], seal: 'absent' });
    writeFileSync(path.join(run.path, 'events.jsonl'), `${linesOf(run.path).slice(0, 5).join('\n')}\n`);
    expect(verifyRun(run.path)).toMatchObject({ status: 'tampered', problems: [{ code: 'journal/cut' }] });
  });
});

describe('a line of a journal', () => {
  test('cannot be forged, broken or made to act on a screen by what is in it', () => {
    const run = startRun(scratch());
    const hostile = '"}\r\n{"seq":3,"hash":"00"}\u001B]52;c;AAAA\u0007\u2028\u2029\u0085\u202E\u0000';
    run.append({ type: 'note', message: hostile });
    run.end('done', hostile);
    expect(linesOf(run.path)).toHaveLength(3);
    for (const file of ['events.jsonl', 'run.json']) expect(read(run.path, file)).toMatch(/^[\n\x20-\x7e]*$/);
    expect([...readRun(run.path).lines][1]?.event).toEqual({ type: 'note', message: hostile });
  });

  test('has the time of the clock as it is, and an order that no clock changes', () => {
    const times = ['2026-01-02T00:00:03Z', '2026-01-02T00:00:02Z', '2026-01-01T00:00:01Z', '2025-01-01T00:00:00Z'];
    let at = -2;
    const run = startRun(scratch(), { now: () => new Date(times[Math.max(0, (at += 1))] ?? 0) });
    run.append({ type: 'note', message: 'later' });
    run.append({ type: 'note', message: 'latest' });
    run.end('done', '');
    const lines = [...readRun(run.path).lines];
    expect(lines.map(({ seq, time }) => [seq, time])).toEqual(
      times.map((time, place) => [place + 1, new Date(time).toISOString()]),
    );
    const elapsed = lines.map((line) => line.elapsed);
    expect(elapsed).toEqual(elapsed.toSorted((a, b) => a - b));
    expect(verifyRun(run.path).status).toBe('intact');
  });
});

function redactorOf(text: (text: string) => string): NonNullable<RunRecordOptions['redactor']> {
  return { isEmpty: false, text, bytes: (bytes) => Buffer.from(text(Buffer.from(bytes).toString('utf8'))) };
}

describe('secrets', () => {
  test('are taken out of everything before it is written', () => {
    const run = startRun(scratch(), { redactor: redactorOf((text) => text.replaceAll('hunter2', '******')) });
    run.append({ type: 'note', message: 'the password is hunter2' });
    run.append({
      type: 'action',
      call: 1,
      action: { type: 'run_command', command: 'x', env: { hunter2: 'hunter2', PATH: '/bin' } },
      askedBy: 'model',
    });
    run.append({ type: 'note', message: `${'long '.repeat(2000)}hunter2` });
    run.append({
      type: 'observation',
      call: 1,
      observation: { type: 'answered', action: 'final_answer', answer: 'it is hunter2' },
    });
    run.keep(Buffer.from('hunter2 in a file'), 'inputs');
    run.end('failed', 'because of hunter2');
    for (const file of filesOf(run.path)) expect(read(run.path, file)).not.toContain('hunter2');
    expect(read(run.path, 'final.md')).toBe('it is ******');
    expect(read(run.path, `inputs/${sha256('****** in a file')}`)).toBe('****** in a file');
    expect([...readRun(run.path).lines][2]?.event).toMatchObject({ action: { env: { '******': '******' } } });
    expect(verifyRun(run.path).status).toBe('intact');
  });

  test('that look like hashes do not take the hashes of the record with them', () => {
    const run = startRun(scratch(), { redactor: redactorOf((text) => text.replaceAll(/[0-9a-f]{64}/g, '***')) });
    run.keep(Buffer.from('x'.repeat(100)), 'inputs');
    run.append({ type: 'note', message: `key ${'0'.repeat(64)}` });
    run.end('done', '');
    expect(verifyRun(run.path)).toEqual({ status: 'intact', problems: [], seal: 'absent' });
    expect([...readRun(run.path).lines][2]?.event).toEqual({ type: 'note', message: 'key ***' });
  });
});

describe('what is taken to be written later', () => {
  const later = (run: string): readonly unknown[] =>
    linesOf(run)
      .slice(1)
      .map((line) => JSON.parse(line).event.message);
  const note = (message: string): RunEvent => ({ type: 'note', message });

  test('is written by a flush, in order, as if each had been written by itself', () => {
    const run = startRun(scratch());
    run.hold(note('a'));
    run.hold(note('b'));
    expect(later(run.path)).toEqual([]);
    run.flush();
    expect(later(run.path)).toEqual(['a', 'b']);
    run.hold(note('c'));
    run.append(note('d'));
    run.hold(note('e'));
    run.end('done', '');
    expect(later(run.path).slice(0, 5)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(verifyRun(run.path)).toEqual({ status: 'intact', problems: [], seal: 'absent' });
  });

  test('is written before the program waits for anything', async () => {
    const run = startRun(scratch());
    run.hold(note('a'));
    for (let step = 0; step < 100; step += 1) await Promise.resolve();
    run.hold(note('b'));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(later(run.path)).toEqual(['a', 'b']);
    run.end('done', '');
  });

  test('is written at once where every line is to be on the disk', () => {
    const run = startRun(scratch(), { sync: 'each' });
    run.hold(note('a'));
    expect(later(run.path)).toEqual(['a']);
    run.end('done', '');
  });

  test('and fails is reported to the next reader, and run.json describes what was written', async () => {
    const run = startRun(scratch());
    run.append(note('a'));
    appendFileSync(path.join(run.path, 'events.jsonl'), 'x');
    run.hold(note('b'));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(thrown(() => run.flush())).toEqual(['record/failed', 'another process writes to it']);
    expect(thrown(() => run.hold(note('c')))).toEqual(['record/failed', 'another process writes to it']);
    const info = JSON.parse(read(run.path, 'run.json')) as { outcome: string; events: { count: number } };
    expect([info.outcome, info.events.count]).toEqual(['record-failed', 2]);
  });
});

describe('what cannot be recorded', () => {
  test.each([
    ['removed', (run: string) => rmSync(run, { recursive: true }), 'the file was removed'],
    [
      'replaced',
      (run: string) => {
        rmSync(path.join(run, 'events.jsonl'));
        writeFileSync(path.join(run, 'events.jsonl'), '');
      },
      'another file replaced it',
    ],
    ['moved', (run: string) => renameSync(run, `${run}-elsewhere`), 'the file was removed'],
    [
      'written to by somebody else',
      (run: string) => appendFileSync(path.join(run, 'events.jsonl'), 'x\n'),
      'another process writes to it',
    ],
  ])('is refused at once and for good: a journal that was %s', (_, act, cause) => {
    const run = startRun(scratch());
    run.append({ type: 'note', message: 'good' });
    act(run.path);
    expect(thrown(() => run.append({ type: 'note', message: 'bad' }))).toEqual(['record/failed', cause]);
    expect(thrown(() => run.append({ type: 'note', message: 'again' }))).toEqual(['record/failed', cause]);
    expect(thrown(() => run.keep(Buffer.from('x')))).toEqual(['record/failed', cause]);
    expect(thrown(() => run.end('done', ''))).toEqual(['record/failed', cause]);
  });

  test('leaves the lines before it, and a run that says so', () => {
    const run = startRun(scratch());
    run.append({ type: 'note', message: 'good' });
    appendFileSync(path.join(run.path, 'events.jsonl'), 'foreign');
    expect(thrown(() => run.append({ type: 'note', message: 'bad' }))).toEqual([
      'record/failed',
      'another process writes to it',
    ]);
    expect(linesOf(run.path)).toHaveLength(2);
    expect(readRun(run.path).info).toMatchObject({ outcome: 'record-failed', events: { count: 2 } });
    expect(verifyRun(run.path)).toEqual({ status: 'torn', problems: [], seal: 'absent' });
  });

  test('is a long text whose folder cannot be written', () => {
    const run = startRun(scratch());
    writeFileSync(path.join(run.path, 'observations'), 'in the way');
    expect(thrown(() => run.append({ type: 'note', message: 'x'.repeat(5000) }))).toEqual([
      'record/failed',
      'observations is not a folder',
    ]);
    expect(linesOf(run.path)).toHaveLength(1);
  });

  test('is a long text whose folder leads elsewhere', () => {
    const base = scratch();
    const run = startRun(path.join(base, 'runs'));
    mkdirSync(path.join(base, 'elsewhere'));
    symlinkSync(path.join(base, 'elsewhere'), path.join(run.path, 'observations'));
    expect(thrown(() => run.append({ type: 'note', message: 'x'.repeat(5000) }))).toEqual([
      'record/failed',
      'observations is not a folder',
    ]);
    expect(readdirSync(path.join(base, 'elsewhere'))).toEqual([]);
  });

  test('is a value that is too deep; the record goes on without it', () => {
    const run = startRun(scratch());
    const deep: unknown = JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`);
    const event = { type: 'note', long: 'x'.repeat(5000), message: deep } as unknown as {
      type: 'note';
      message: string;
    };
    expect(thrown(() => run.append(event))).toEqual(['input/invalid', undefined]);
    run.append({ type: 'note', message: 'fine' });
    run.end('done', '');
    expect(verifyRun(run.path).status).toBe('intact');
  });

  test('is anything after the end', () => {
    const run = writeRun(scratch());
    expect(thrown(() => run.append({ type: 'note', message: 'more' }))).toEqual(['record/failed', 'ended']);
    expect(thrown(() => run.end('done', ''))).toEqual(['record/failed', 'ended']);
    expect(verifyRun(run.path).status).toBe('intact');
  });
});

describe('a directory for runs', () => {
  test('that is a link is not used, wherever it leads', () => {
    const base = scratch();
    mkdirSync(path.join(base, 'elsewhere'));
    symlinkSync('elsewhere', path.join(base, 'runs'));
    symlinkSync('nowhere', path.join(base, 'broken'));
    for (const name of ['runs', 'broken'])
      expect(thrown(() => startRun(path.join(base, name)))).toEqual(['record/failed', 'it is a symbolic link']);
    expect(readdirSync(path.join(base, 'elsewhere'))).toEqual([]);
  });

  test('that is not a folder, or open to everybody, is not used', () => {
    const base = scratch();
    writeFileSync(path.join(base, 'file'), '');
    mkdirSync(path.join(base, 'open'));
    chmodSync(path.join(base, 'open'), 0o777);
    expect(thrown(() => startRun(path.join(base, 'file')))).toEqual(['record/failed', 'it is not a folder']);
    expect(thrown(() => startRun(path.join(base, 'open')))).toEqual(['record/failed', 'it is writable by everyone']);
    expect(thrown(() => startRun(path.join(base, 'file', 'runs')))).toEqual(['record/failed', 'EEXIST']);
  });
});
