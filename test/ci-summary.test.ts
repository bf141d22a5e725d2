import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from './conformance/verifies.ts';
import { PROJECT } from './files-below.ts';
import { scratch } from './skills/registry/support.ts';

interface Report {
  readonly state: string;
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
});
