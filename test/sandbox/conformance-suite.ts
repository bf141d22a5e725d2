import { chmodSync, mkdtempSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';

import type { Executor } from '../../src/core/execution.ts';
import { judgeCase, type CaseVerdict } from '../../src/sandbox/conformance/case.ts';
import { executorConformance } from '../../src/sandbox/conformance/suite.ts';
import { localExecutor } from '../../src/sandbox/executors/local.ts';
import { removeTree } from '../../src/platform/fs/remove-tree.ts';
import { TABLE_EXECUTORS, cellOf, differences, writeTable, type TableExecutor } from './conformance-table.ts';

const CASE_MS = 180_000;
const EMPTY_MS = 30_000;

/** The conformance suite for the executors of one test file, and what it must give for all of them. */
export interface ConformanceFile {
  readonly suite: (
    name: TableExecutor,
    make: () => Executor,
    reasonToSkip: () => string | undefined,
    gaps?: Readonly<Record<string, string>>,
  ) => void;
  /** The cases that failed. */
  readonly failed: readonly string[];
  /** Differences to the pass table of docs/executor-suite.md, with the executors that were compared. */
  readonly compared: () => { readonly executors: string; readonly differences: readonly string[] };
}

export const CASE_NAMES = executorConformance({ executor: localExecutor, base: os.tmpdir() }).map(({ name }) => name);

export function conformanceFile(): ConformanceFile {
  const base = mkdtempSync(path.join(os.tmpdir(), 'skillwright-conformance-'));
  chmodSync(base, 0o711);
  const verdicts = new Map<string, Map<TableExecutor, string>>();
  const failed: string[] = [];
  // The workspace that cases share is closed a moment after the last of them.
  const untilEmpty = async (): Promise<void> => {
    const deadline = Date.now() + EMPTY_MS;
    while (readdirSync(base).length > 0 && Date.now() < deadline) await delay(50);
  };
  afterAll(async () => {
    expect(readdirSync(base)).toEqual([]);
    await removeTree(base);
  });
  return {
    failed,
    suite: (name, make, reasonToSkip, gaps = {}) => {
      for (const { name: title, requirement, run } of executorConformance({ executor: make, base, skip: gaps })) {
        test.concurrent(`${requirement}: ${title}`, { timeout: CASE_MS }, async ({ skip }) => {
          const reason = reasonToSkip();
          if (reason !== undefined) skip(reason);
          const verdict: CaseVerdict = await judgeCase({ run });
          const cells = verdicts.get(title) ?? new Map<TableExecutor, string>();
          verdicts.set(title, cells.set(name, cellOf(verdict)));
          if (verdict.type === 'skipped') skip(`nothing, it does not apply: ${verdict.reason}`);
          if (verdict.type === 'failed') {
            failed.push(`${name}: ${title}`);
            throw verdict.error;
          }
        });
      }
      afterAll(untilEmpty);
    },
    compared: () => {
      if (process.env['UPDATE_DOCS'] === '1') writeTable(CASE_NAMES, verdicts);
      const executors = TABLE_EXECUTORS.filter((name) => [...verdicts.values()].some((cells) => cells.has(name)));
      return { executors: executors.join(', '), differences: differences(CASE_NAMES, verdicts) };
    },
  };
}
