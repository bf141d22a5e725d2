import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { followRun, readRun } from '../../src/journal/journal-reader.ts';
import type { JournalLine } from '../../src/core/run-events.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { scratch } from '../skills/registry/support.ts';
import { ANSWER, EVENTS, linesOf, startRun, writeRun } from './support.ts';

describe('reading a run', () => {
  test('gives run.json, and the lines as often as they are asked for', () => {
    const run = writeRun(scratch());
    const { path: place, info, torn, problems, lines } = readRun(run.path);
    expect({ place, torn, problems }).toEqual({ place: run.path, torn: false, problems: [] });
    expect(info).toEqual(JSON.parse(readFileSync(path.join(run.path, 'run.json'), 'utf8')));
    expect([...lines]).toHaveLength(EVENTS.length + 3);
    expect([...lines].map(({ seq }) => seq)).toEqual(Array.from({ length: EVENTS.length + 3 }, (_, at) => at + 1));
  });

  test('gives the start of long texts where that is enough, and opens no other file', () => {
    const run = writeRun(scratch());
    rmSync(path.join(run.path, 'observations'), { recursive: true });
    const events = [...readRun(run.path, { content: 'start' }).lines].map(({ event }) => event);
    expect(events.at(-3)).toEqual({
      type: 'observation',
      call: 2,
      observation: {
        type: 'answered',
        action: 'final_answer',
        answer: `${ANSWER.slice(0, 200)}… (${String(ANSWER.length)} bytes in observations/${sha256(ANSWER)})`,
      },
    });
  });

  test('refuses a long text that is not the one that was kept', () => {
    const run = writeRun(scratch());
    const file = path.join(run.path, 'observations', sha256(ANSWER));
    writeFileSync(file, ANSWER.replace('D', 'd'));
    expect(() => [...readRun(run.path).lines]).toThrow('damaged');
    rmSync(file);
    expect(() => [...readRun(run.path).lines]).toThrow('missing');
    symlinkSync('/etc/passwd', file);
    expect(() => [...readRun(run.path).lines]).toThrow('damaged');
  });

  test('leaves out what cannot be read, and a line that is not whole', () => {
    const run = startRun(scratch());
    run.append({ type: 'note', message: 'good' });
    const [first = '', second = ''] = linesOf(run.path);
    writeFileSync(path.join(run.path, 'events.jsonl'), `${first}\n\n{"seq":\n\xff\n[]\n${second}\n{"seq":3`, 'latin1');
    const { torn, lines } = readRun(run.path);
    expect([torn, [...lines].map(({ seq }) => seq)]).toEqual([true, [1, 2]]);
  });

  test('makes do without run.json, and says so', () => {
    const run = startRun(scratch());
    run.append({ type: 'note', message: 'good' });
    const { info } = readRun(run.path);
    rmSync(path.join(run.path, 'run.json'));
    const { hash } = [...readRun(run.path).lines].at(-1) ?? {};
    expect(readRun(run.path)).toMatchObject({
      info: { ...info, events: { count: 2, head: hash } },
      problems: ['run.json is missing'],
    });
  });

  test.each<[string, (run: string) => void, string]>([
    ['without events', (run) => rmSync(path.join(run, 'events.jsonl')), 'it has no events.jsonl'],
    ['that is not there', (run) => rmSync(run, { recursive: true }), 'it has no events.jsonl'],
    [
      'with a pipe for a journal',
      (run) => {
        rmSync(path.join(run, 'events.jsonl'));
        execFileSync('mkfifo', [path.join(run, 'events.jsonl')]);
      },
      'it is not a regular file',
    ],
    [
      'with a link for a journal',
      (run) => {
        renameSync(path.join(run, 'events.jsonl'), path.join(run, 'there'));
        symlinkSync('there', path.join(run, 'events.jsonl'));
      },
      'it is a link',
    ],
    [
      'with a folder for a journal',
      (run) => {
        rmSync(path.join(run, 'events.jsonl'));
        mkdirSync(path.join(run, 'events.jsonl'));
      },
      'it is not a regular file',
    ],
    [
      'of a later version',
      (run) => writeFileSync(path.join(run, 'run.json'), '{"schema": 2}'),
      'its schema version is 2, which a later version of skillwright wrote',
    ],
    [
      'that does not begin',
      (run) => {
        rmSync(path.join(run, 'run.json'));
        writeFileSync(path.join(run, 'events.jsonl'), '\n');
      },
      'do not start with run-start',
    ],
  ])('refuses a folder %s', (_, make, message) => {
    const run = writeRun(scratch());
    make(run.path);
    expect(() => readRun(run.path)).toThrow(message);
  });
});

async function collect(lines: AsyncIterable<JournalLine>, onLine: (line: JournalLine) => void = () => undefined) {
  const types: string[] = [];
  for await (const line of lines) {
    types.push(line.event.type);
    onLine(line);
  }
  return types;
}

describe('following a run', () => {
  test('gives lines as they come and ends with the run', async () => {
    const run = startRun(scratch());
    const { signal } = new AbortController();
    let notes = 0;
    const types = await collect(followRun(run.path, { signal, pollMs: 1 }), () => {
      notes += 1;
      if (notes < 5) run.append({ type: 'note', message: 'x'.repeat(notes * 2000) });
      else if (notes === 5) void setTimeout(20).then(() => run.end('done', ''));
    });
    expect(types).toEqual(['run-start', 'note', 'note', 'note', 'note', 'run-end']);
  });

  test('waits for the rest of a line', async () => {
    const run = writeRun(scratch());
    const file = path.join(run.path, 'events.jsonl');
    const whole = readFileSync(file);
    const info = JSON.parse(readFileSync(path.join(run.path, 'run.json'), 'utf8')) as object;
    writeFileSync(path.join(run.path, 'run.json'), JSON.stringify({ ...info, outcome: 'running' }));
    writeFileSync(file, whole.subarray(0, 1000));
    const controller = new AbortController();
    const following = collect(followRun(run.path, { signal: controller.signal, pollMs: 1, content: 'start' }));
    for (let at = 1000; at < whole.length; at += 700) {
      await setTimeout(2);
      appendFileSync(file, whole.subarray(at, at + 700));
    }
    expect(await following).toEqual([...readRun(run.path, { content: 'start' }).lines].map(({ event }) => event.type));
  });

  test('ends when it is told to', async () => {
    const run = startRun(scratch());
    const controller = new AbortController();
    const types = await collect(followRun(run.path, { signal: controller.signal, pollMs: 60_000 }), () =>
      setImmediate(() => controller.abort()),
    );
    expect(types).toEqual(['run-start']);
    run.end('done', '');
  });

  test('ends where the process of the run did not live to end it', async () => {
    const run = startRun(scratch());
    const file = path.join(run.path, 'run.json');
    const info = JSON.parse(readFileSync(file, 'utf8')) as { process: object };
    writeFileSync(file, JSON.stringify({ ...info, process: { ...info.process, boot: 'another' } }));
    const { signal } = new AbortController();
    expect(await collect(followRun(run.path, { signal }))).toEqual(['run-start']);
    run.end('done', '');
  });
});
