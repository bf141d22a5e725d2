import { chmodSync, mkdtempSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Executor } from '../../src/core/execution.ts';
import { bubblewrapExecutor } from '../../src/sandbox/executors/bubblewrap/executor.ts';
import { namespacesExecutor } from '../../src/sandbox/executors/namespaces/executor.ts';
import { judgeCase } from '../../src/testing/executor/case.ts';
import type { CaseVerdict } from '../../src/testing/executor/case.ts';
import { executorConformance } from '../../src/testing/executor/suite.ts';
import { containerExecutor } from '../../src/sandbox/executors/container/executor.ts';
import { landlockExecutor } from '../../src/sandbox/executors/landlock/executor.ts';
import { localExecutor } from '../../src/sandbox/executors/local.ts';
import { removeTree } from '../../src/platform/fs/remove-tree.ts';
import { verifies } from '../conformance/verifies.ts';
import { TABLE_EXECUTORS, cellOf, differences, writeTable } from './conformance-table.ts';
import type { TableExecutor, Verdicts } from './conformance-table.ts';
import { startDockerEngine } from './docker-engine.ts';
import type { TestEngine } from './docker-engine.ts';
import { hasBubblewrap, hasLandlock, hasNamespaces } from './sandbox.ts';

const base = mkdtempSync(path.join(os.tmpdir(), 'skillwright-conformance-'));
chmodSync(base, 0o711);
const verdicts = new Map<string, Map<TableExecutor, string>>();
const failed: string[] = [];
const CASE_MS = 180_000;
const EMPTY_MS = 30_000;

/** The workspace that cases share is closed a moment after the last of them. */
async function untilEmpty(): Promise<void> {
  const deadline = Date.now() + EMPTY_MS;
  while (readdirSync(base).length > 0 && Date.now() < deadline) await delay(50);
}

function suite(
  name: TableExecutor,
  make: () => Executor,
  reasonToSkip: () => string | undefined,
  gaps: Readonly<Record<string, string>> = {},
): void {
  for (const { name: title, requirement, run } of executorConformance({ executor: make, base, skip: gaps })) {
    test.concurrent(`${requirement}: ${title}`, { timeout: CASE_MS }, async ({ skip }) => {
      const reason = reasonToSkip();
      if (reason !== undefined) skip(reason);
      const verdict: CaseVerdict = await judgeCase({ run });
      const cells = verdicts.get(title) ?? new Map<TableExecutor, string>();
      verdicts.set(title, cells.set(name, cellOf(verdict)));
      if (verdict.type === 'skipped') skip(verdict.reason);
      if (verdict.type === 'failed') {
        failed.push(`${name}: ${title}`);
        throw verdict.error;
      }
    });
  }
  afterAll(untilEmpty);
}

/** What Landlock leaves open; docs/executors.md and `doctor` name it. */
const LANDLOCK_GAPS = {
  'the records of the workspace are not seen': 'names and dates of files are seen',
  'a program sees no process of the host': 'the list of processes is seen',
  'without permission for a host no route leads anywhere': 'routes are seen, although no socket can be opened',
  // Files of root do not belong to the user that programs of root run as.
  ...(process.getuid?.() === 0
    ? {}
    : { 'a program cannot change the skill it runs from': 'permissions of your own files can be changed' }),
};

afterAll(async () => {
  expect(readdirSync(base)).toEqual([]);
  await removeTree(base);
});

describe('local', () => {
  suite('local', localExecutor, () => undefined);
});

describe('bubblewrap', () => {
  const reason = hasBubblewrap() ? undefined : 'bubblewrap is not installed';
  if (reason !== undefined) console.log(`skipped: the conformance of bubblewrap: ${reason}`);
  suite('bubblewrap', bubblewrapExecutor, () => reason);
});

describe('namespaces', () => {
  const reason = hasNamespaces() ? undefined : 'user namespaces cannot be created here';
  if (reason !== undefined) console.log(`skipped: the conformance of namespaces: ${reason}`);
  suite('namespaces', namespacesExecutor, () => reason);
});

describe('landlock', () => {
  const reason = hasLandlock() ? undefined : 'the kernel has no Landlock';
  if (reason !== undefined) console.log(`skipped: the conformance of landlock: ${reason}`);
  suite('landlock', landlockExecutor, () => reason, LANDLOCK_GAPS);
});

describe('container', () => {
  let engine: TestEngine | string = 'not started';
  beforeAll(async () => {
    engine = await startDockerEngine();
    if (typeof engine === 'string') console.log(`skipped: the conformance of containers: ${engine}`);
  });
  afterAll(async () => {
    await untilEmpty();
    if (typeof engine !== 'string') await engine.stop();
  });
  suite(
    'container',
    () => {
      if (typeof engine === 'string') throw new TypeError(engine);
      return containerExecutor({ socket: engine.socket, rootFileSystem: engine.rootFileSystem });
    },
    () => (typeof engine === 'string' ? engine : undefined),
  );
});

describe('what the executors do', () => {
  verifies(
    ['EXEC-1', 'EXEC-2', 'EXEC-3', 'EXEC-5', 'EXEC-6', 'EXEC-7', 'EXEC-8'],
    'no case of the conformance suite fails on any executor of this machine',
    () => {
      expect(failed).toEqual([]);
    },
  );

  test('there are at least sixty cases, each with a name of its own', () => {
    const names = executorConformance({ executor: localExecutor, base }).map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(60);
    expect(new Set(names).size).toBe(names.length);
  });

  test('the pass table of docs/executor-suite.md says what happened here', () => {
    const names = executorConformance({ executor: localExecutor, base }).map(({ name }) => name);
    const ran: Verdicts = verdicts;
    if (process.env['UPDATE_DOCS'] === '1') writeTable(names, ran);
    const compared = TABLE_EXECUTORS.filter((name) => [...ran.values()].some((cells) => cells.has(name)));
    expect(differences(names, ran), `compared for ${compared.join(', ')}; UPDATE_DOCS=1 writes the table`).toEqual([]);
  });
});
