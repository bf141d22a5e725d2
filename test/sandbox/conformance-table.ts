import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { CaseVerdict } from '../../src/sandbox/conformance/case.ts';
import { PROJECT } from '../files-below.ts';

export const TABLE_EXECUTORS = ['bubblewrap', 'namespaces', 'container', 'landlock', 'local'] as const;
export type TableExecutor = (typeof TABLE_EXECUTORS)[number];

/** By case, what happened on which executor. */
export type Verdicts = ReadonlyMap<string, ReadonlyMap<TableExecutor, string>>;

const PAGE = path.join(PROJECT, 'docs/executor-suite.md');
const BEGIN =
  '<!-- pass table: UPDATE_DOCS=1 npx vitest run test/sandbox/conformance.system.test.ts test/sandbox/container-conformance.system.test.ts -->';
const END = '<!-- end of the pass table -->';
const UNKNOWN = 'not run';

export function cellOf(verdict: CaseVerdict): string {
  if (verdict.type === 'passed') return 'pass';
  if (verdict.type === 'failed') return 'FAIL';
  return verdict.reason === 'no isolation' ? verdict.reason : `skipped: ${verdict.reason}`;
}

interface Page {
  readonly before: string;
  readonly after: string;
  readonly rows: Verdicts;
}

function readPage(): Page {
  const text = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = text.split(BEGIN);
  const [table = '', after = ''] = rest.split(END);
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| case '))
    .map((line) => {
      const [, name = '', ...cells] = line.split('|').map((cell) => cell.trim());
      return [name, new Map(TABLE_EXECUTORS.map((executor, at) => [executor, cells[at] ?? UNKNOWN] as const))] as const;
    });
  return { before, after, rows: new Map(rows) };
}

/** Executors that are not here keep what the page says about them. */
export function writeTable(names: readonly string[], ran: Verdicts): void {
  const { before, after, rows } = readPage();
  const cell = (name: string, executor: TableExecutor): string =>
    ran.get(name)?.get(executor) ?? rows.get(name)?.get(executor) ?? UNKNOWN;
  const lines = names.map(
    (name) => `| ${name} | ${TABLE_EXECUTORS.map((executor) => cell(name, executor)).join(' | ')} |`,
  );
  const table = [
    `| case | ${TABLE_EXECUTORS.join(' | ')} |`,
    `|---|${'---|'.repeat(TABLE_EXECUTORS.length)}`,
    ...lines,
  ];
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${table.join('\n')}\n\n${END}${after}`);
}

/** What is skipped differs by machine (kernel, interpreters); whether something passes or needs isolation does not. */
export function differences(names: readonly string[], ran: Verdicts): readonly string[] {
  const { rows } = readPage();
  const missing = names.filter((name) => !rows.has(name)).map((name) => `${name}: not on the page`);
  const gone = [...rows.keys()].filter((name) => !names.includes(name)).map((name) => `${name}: not a case any more`);
  const isMachine = (cell: string): boolean => cell.startsWith('skipped: ') || cell === UNKNOWN;
  const changed = [...ran].flatMap(([name, cells]) =>
    [...cells].flatMap(([executor, cell]) => {
      const written = rows.get(name)?.get(executor) ?? UNKNOWN;
      return written === cell || isMachine(written) || isMachine(cell)
        ? []
        : [`${name}: ${executor} is ${cell}, and the page says ${written}`];
    }),
  );
  return [...missing, ...gone, ...changed];
}
