import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { listRuns, runLife } from '../../src/journal/run-folder.ts';
import { findRun } from '../../src/journal/run-units.ts';
import { isSkillError } from '../../src/core/errors.ts';
import { thisProcess } from '../../src/platform/fs/lock-owner.ts';
import { scratch } from '../skills/registry/support.ts';
import { startRun, writeRun } from './support.ts';

function threeRuns(directory: string): readonly string[] {
  return ['2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z', '2026-02-01T00:00:00Z'].map(
    (time) => writeRun(directory, { now: () => new Date(time) }).id,
  );
}

describe('the runs of a directory', () => {
  test('are listed with the newest first, and nothing else is', () => {
    const directory = path.join(scratch(), 'runs');
    const [first = '', second = '', third = ''] = threeRuns(directory);
    mkdirSync(path.join(directory, 'notes'));
    mkdirSync(path.join(directory, `.removed-${first}`));
    writeFileSync(path.join(directory, '20260101T000000Z-00000000'), 'a file');
    symlinkSync(first, path.join(directory, '20260101T000000Z-11111111'));
    expect(listRuns(directory).map(({ id, reading }) => [id, reading.type])).toEqual([
      [third, 'run'],
      [second, 'run'],
      [first, 'run'],
    ]);
    expect(listRuns(path.join(directory, 'nothing'))).toEqual([]);
  });

  test('are listed also where one cannot be read', () => {
    const directory = scratch();
    const [one = '', two = '', three = ''] = threeRuns(directory);
    writeFileSync(path.join(directory, one, 'run.json'), '{"schema":1,"run":"x"}');
    writeFileSync(path.join(directory, two, 'run.json'), '{"schema":99}');
    renameSync(path.join(directory, three, 'run.json'), path.join(directory, three, 'gone.json'));
    expect(listRuns(directory).map(({ reading }) => reading)).toEqual([
      { type: 'absent' },
      { type: 'newer', schema: 99 },
      { type: 'invalid', reason: 'it has an unexpected form' },
    ]);
  });

  test('are found by id, by a start of it, or as the last one', () => {
    const directory = scratch();
    const [first = '', , third = ''] = threeRuns(directory);
    expect(findRun(directory, first)).toBe(path.join(directory, first));
    expect(findRun(directory, '20260102')).toBe(path.join(directory, first));
    expect(findRun(directory, 'last')).toBe(path.join(directory, third));
  });

  test.each(['', '202601', '../x', '..', '.', '/etc', '__proto__', '2026\u0000', 'x'.repeat(5000)])(
    'are not found by %j',
    (name) => {
      const directory = scratch();
      threeRuns(directory);
      const act = (): unknown => findRun(directory, name);
      expect(act).toThrow(name === '202601' ? '"202601" is a prefix of 2 runs' : 'there is no run');
      try {
        act();
      } catch (error) {
        expect(isSkillError(error) && error.code).toBe('run/unknown');
      }
    },
  );
});

test.each([0, -1, 1.5, 2 ** 31, 1e300, '1', null])('a process with the number %j is none', (pid) => {
  const run = startRun(scratch());
  const file = path.join(run.path, 'run.json');
  const info = JSON.parse(readFileSync(file, 'utf8')) as { process: object };
  writeFileSync(file, JSON.stringify({ ...info, process: { ...info.process, pid } }));
  const [listed] = listRuns(path.dirname(run.path));
  expect(listed?.reading).toEqual({ type: 'invalid', reason: 'it has an unexpected form' });
});

test('a run is running as long as its process may be, and killed after that', () => {
  const run = startRun(scratch());
  const [{ reading } = { reading: { type: 'absent' } as const }] = listRuns(path.dirname(run.path));
  if (reading.type !== 'run') throw new Error('it cannot be read');
  const { info } = reading;
  const self = thisProcess();
  expect(runLife(info)).toBe('running');
  expect(runLife({ ...info, process: { ...self, boot: 'x' } })).toBe('killed');
  expect(runLife({ ...info, process: { ...self, space: '1' } })).toBe('running');
  expect(runLife({ ...info, process: null })).toBe('killed');
  expect(runLife({ ...info, outcome: 'failed' })).toBe('ended');
});
