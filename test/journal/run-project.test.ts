import { mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';
import { createRun } from '../../src/journal/journal-writer.ts';
import { listRuns } from '../../src/journal/run-folder.ts';
import { findRun, projectOfRun } from '../../src/journal/run-units.ts';
import { scratch } from '../skills/registry/support.ts';
import { START } from './support.ts';

interface Folders {
  readonly base: string;
  readonly project: string;
  readonly other: string;
}

function folders(): Folders {
  const base = scratch();
  const [project, other] = [path.join(base, 'project'), path.join(base, 'other')];
  for (const folder of [project, other]) mkdirSync(path.join(folder, '.agent/runs'), { recursive: true });
  return { base, project, other };
}

/** The project of a run in `runs`, for a command that is started in `cwd`. */
function find(
  runs: string,
  cwd: string,
  {
    named,
    isSealed = false,
    isCopied = false,
  }: { readonly named?: string; readonly isSealed?: boolean; readonly isCopied?: boolean } = {},
): string | undefined {
  return projectOfRun(named === undefined ? {} : { project: named }, {
    folder: path.join(runs, 'ID'),
    cwd,
    directory: path.join(cwd, '.agent/runs'),
    isSealed,
    isCopied,
  });
}

describe('the project of a run', () => {
  test('is the one that the record lies in, wherever the command is started', () => {
    const { base, project, other } = folders();
    const runs = path.join(project, '.agent/runs');
    expect([find(runs, project, { named: project }), find(runs, other, { named: project }), find(runs, other)]).toEqual(
      [project, project, project],
    );
    // Moved or copied: the recorded path is the old one.
    expect(find(runs, other, { named: path.join(base, 'gone') })).toBe(project);
    expect(find(runs, project, { named: other })).toBe(project);
  });

  test('is believed of a record from elsewhere only with a seal', () => {
    const { base, project, other } = folders();
    const runs = path.join(base, 'shared');
    mkdirSync(runs);
    expect(find(runs, other, { named: project, isSealed: true })).toBe(project);
    expect([find(runs, other, { named: project }), find(runs, other)]).toEqual([undefined, undefined]);
    expect(find(runs, project, { named: project })).toBe(project);
  });
});

test('a record that was copied into another project belongs to the one that it names', () => {
  const { project, other } = folders();
  const runs = path.join(other, '.agent/runs');
  expect(find(runs, other, { named: project, isCopied: true, isSealed: true })).toBe(project);
  expect(find(runs, other, { named: project, isCopied: true })).toBeUndefined();
  expect(find(runs, other, { named: other, isCopied: true })).toBe(other);
});

describe('last', () => {
  test('is the run that started last, not the one with the highest id, and no subagent', () => {
    const directory = path.join(scratch(), 'runs');
    const run = (time: string, parent?: string): string => {
      const now = (): Date => new Date(time);
      const record = createRun(directory, { ...START, ...(parent === undefined ? {} : { parent }) }, { now });
      record.end('done', '');
      return record.id;
    };
    const older = run('2026-03-01T10:00:00Z');
    const newer = run('2026-03-01T11:00:00Z');
    const child = run('2026-03-01T12:00:00Z', newer);
    const renamed = '20270101T000000Z-00000000';
    renameSync(path.join(directory, older), path.join(directory, renamed));
    expect(listRuns(directory).map(({ id }) => id)).toEqual([child, newer, renamed]);
    expect(path.basename(findRun(directory, 'last'))).toBe(newer);
    // Of the same millisecond, the one that was created later.
    const same = [1, 2, 3, 4].map(() => run('2026-03-01T13:00:00Z'));
    expect(path.basename(findRun(directory, 'last'))).toBe(same.at(-1));
  });
});
