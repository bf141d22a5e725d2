import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from './conformance/verifies.ts';
import { PROJECT } from './files-below.ts';
import { scratch } from './skills/registry/support.ts';

interface Report {
  readonly state: string;
  readonly again?: boolean;
  readonly passed: readonly string[];
  readonly skipped: readonly { readonly id: string; readonly missing: string }[];
  readonly failures: readonly { readonly name: string; readonly file: string; readonly error: string }[];
}

function summary(
  reports: readonly Partial<Report>[],
  status = 0,
): { readonly status: number | null; readonly out: string } {
  const folder = scratch();
  for (const [at, report] of reports.entries())
    writeFileSync(
      path.join(folder, `${String(at)}.json`),
      JSON.stringify({ state: '', passed: [], skipped: [], failures: [], ...report }),
    );
  const { status: code, stdout } = spawnSync(
    process.execPath,
    [path.join(PROJECT, 'scripts/ci-summary.js'), folder, String(status)],
    { encoding: 'utf8' },
  );
  return { status: code, out: stdout };
}

describe('the end of the log of CI', () => {
  verifies('TRUE-1', 'counts what each machine skipped, and why', () => {
    const skipped = [
      { id: 'a', missing: 'bubblewrap' },
      { id: 'b', missing: 'bubblewrap' },
      { id: 'c', missing: 'root' },
    ];
    expect(
      summary([
        { state: 'bare', passed: ['d'], skipped },
        { state: 'complete', passed: ['a', 'b', 'c', 'd'] },
      ]),
    ).toEqual({
      status: 0,
      out: '\nbare: 1 passed, 3 skipped\n     2  need bubblewrap\n     1  need root\n\ncomplete: 4 passed, 0 skipped\n\n5 passed, 0 failed\n',
    });
  });

  verifies('TRUE-1', 'fails for a test that was skipped everywhere, unless it needs another kind of machine', () => {
    const here = { id: 'a', missing: 'bubblewrap' };
    const elsewhere = { id: 'b', missing: 'control groups of version 2' };
    const { status, out } = summary([
      { state: 'bare', skipped: [here, elsewhere] },
      { state: 'complete', skipped: [here, elsewhere] },
    ]);
    expect([status, out.trim().split('\n').at(-1)]).toEqual([1, '0 passed, 1 failed']);
    expect(out).toContain('FAILED  a\n    skipped in every run: it needs bubblewrap\n');
  });

  test('names each failure with its machine, and a command that ended without a report', () => {
    const failures = [{ name: 'x > y', file: 'test/x.test.ts', error: 'Error: z' }];
    expect(summary([{ state: 'bare', failures }], 1).out).toContain(
      'FAILED  bare: x > y  (test/x.test.ts)\n    Error: z\n',
    );
    expect(summary([{ state: 'bare', passed: ['a'] }], 1)).toMatchObject({
      status: 1,
      out: expect.stringMatching(/a command ended early[^]*1 passed, 1 failed\n$/),
    });
  });

  test('calls a failure unstable if its file passes alone on the same machine', () => {
    const failure = { name: 'x > y', file: 'test/x.test.ts', error: 'Error: z' };
    const first = { state: 'bare', passed: ['test/a.test.ts > b'], failures: [failure] };
    const alone = { state: 'bare', again: true, passed: ['test/x.test.ts > x > y', 'test/x.test.ts > x > w'] };
    expect(summary([first, alone])).toEqual({
      status: 0,
      out:
        '\nUNSTABLE, passed in a second run of its file: bare: x > y  (test/x.test.ts)\n    Error: z\n' +
        '\nbare: 1 passed, 0 skipped\n\n2 passed, 0 failed\n',
    });
    const others: readonly Partial<Report>[] = [
      { ...alone, state: 'complete' },
      { ...alone, passed: ['test/a.test.ts > b'] },
      { ...alone, failures: [{ ...failure, name: 'x > w' }] },
      { ...alone, failures: [{ name: 'error outside of tests', file: '', error: 'Error' }] },
    ];
    expect(others.map((second) => summary([first, second], 1).status)).toEqual([1, 1, 1, 1]);
  });

  test('runs the files that failed again, unless a second run cannot help', () => {
    const failedFiles = (files: readonly string[]) => {
      const folder = scratch();
      const failures = files.map((file) => ({ file }));
      writeFileSync(path.join(folder, '1.json'), JSON.stringify({ state: 'bare', failures }));
      writeFileSync(path.join(folder, '2.json'), JSON.stringify({ state: 'complete', failures: [{ file: 'other' }] }));
      const script = path.join(PROJECT, 'scripts/failed-files.js');
      const { status, stdout } = spawnSync(process.execPath, [script, folder, 'bare'], { encoding: 'utf8' });
      return { status, stdout };
    };
    expect(failedFiles(['a', 'b', 'a'])).toEqual({ status: 0, stdout: 'a b\n' });
    for (const files of [[], ['a', ''], ['a', 'b', 'c', 'd', 'e', 'f']])
      expect(failedFiles(files)).toEqual({ status: 1, stdout: '' });
  });
});
