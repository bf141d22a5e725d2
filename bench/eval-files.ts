import { existsSync } from 'node:fs';
import path from 'node:path';

import { readCases } from '../src/evals/cases/read-cases.ts';
import { groupBy } from '../src/evals/report/result.ts';
import type { BenchRow } from './row.ts';

/** What the census of the same files counted by hand: entries of `evals` files, beside scenarios and trigger queries. */
const COUNTED_CASES = 1394;

/** Evaluation files of public repositories, byte for byte: every one is read, or known not to hold cases. */
export function benchEvalFiles({ dataDir }: { readonly dataDir: string | undefined }): readonly BenchRow[] {
  const folder = dataDir === undefined ? undefined : path.join(dataDir, 'evals');
  if (folder === undefined || !existsSync(folder))
    return [{ name: 'evaluation files', value: Number.NaN, unit: '', note: 'needs the data folder' }];
  const start = performance.now();
  // The files that cases work on are not in the data.
  const { cases, files, suites, passedOver, problems } = readCases([folder], { missingFiles: 'warning' });
  const wallMs = performance.now() - start;
  const entries = suites.reduce((sum, suite) => sum + suite.entries, 0);
  const lost = files.length - suites.length - passedOver.length;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const inEvals = suites.reduce((sum, suite) => sum + (suite.shape === 'evals' ? suite.entries : 0), 0);
  const withoutFiles = new Set(
    problems
      .filter(({ message }) => message.endsWith('does not exist'))
      .map(({ file, line }) => `${file}:${String(line)}`),
  ).size;
  return [
    { name: 'evaluation files looked at', value: files.length, unit: 'files' },
    { name: 'evaluation files with cases', value: suites.length, unit: 'files' },
    { name: 'passed over with a reason', value: passedOver.length, unit: 'files' },
    { name: 'evaluation files lost', value: lost, unit: 'files', bound: '= 0', ok: lost === 0 },
    {
      name: 'cases read, of entries',
      value: cases.length / entries,
      unit: 'x',
      bound: '= 1',
      ok: cases.length === entries && errors === 0,
      note: `${String(cases.length)} of ${String(entries)}; ${String(withoutFiles)} places name files that are not in the data`,
    },
    {
      name: 'cases of evals.json against the census',
      value: inEvals / COUNTED_CASES,
      unit: 'x',
      bound: '= 1',
      ok: inEvals === COUNTED_CASES,
      note: `${String(inEvals)} of ${String(COUNTED_CASES)}`,
    },
    {
      name: 'trigger queries',
      value: cases.filter(({ expect }) => expect.trigger !== undefined).length,
      unit: 'queries',
    },
    ...[...groupBy(suites, ({ shape }) => shape)].map(([shape, found]) => {
      const count = found.reduce((sum, suite) => sum + suite.entries, 0);
      return { name: `shape ${shape}`, value: found.length, unit: 'files', note: `${String(count)} entries` };
    }),
    { name: 'time for a file', value: wallMs / files.length, unit: 'ms' },
  ];
}
