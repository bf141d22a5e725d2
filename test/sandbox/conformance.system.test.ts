import { describe, expect, test } from 'vitest';

import { bubblewrapExecutor } from '../../src/sandbox/executors/bubblewrap/executor.ts';
import { namespacesExecutor } from '../../src/sandbox/executors/namespaces/executor.ts';
import { landlockExecutor } from '../../src/sandbox/executors/landlock/executor.ts';
import { localExecutor } from '../../src/sandbox/executors/local.ts';
import { verifies } from '../conformance/verifies.ts';
import { CASE_NAMES, conformanceFile } from './conformance-suite.ts';
import { has } from '../needs.ts';

const { suite, failed, compared } = conformanceFile();

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

describe('local', () => {
  suite('local', localExecutor, () => undefined);
});

describe('bubblewrap', () => {
  const reason = has('bubblewrap') ? undefined : 'bubblewrap is not installed';
  if (reason !== undefined) console.log(`skipped: the conformance of bubblewrap: ${reason}`);
  suite('bubblewrap', bubblewrapExecutor, () => reason);
});

describe('namespaces', () => {
  const reason = has('namespaces') ? undefined : 'user namespaces cannot be created here';
  if (reason !== undefined) console.log(`skipped: the conformance of namespaces: ${reason}`);
  suite('namespaces', namespacesExecutor, () => reason);
});

describe('landlock', () => {
  const reason = has('landlock') ? undefined : 'the kernel has no Landlock';
  if (reason !== undefined) console.log(`skipped: the conformance of landlock: ${reason}`);
  suite('landlock', landlockExecutor, () => reason, LANDLOCK_GAPS);
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
    expect(CASE_NAMES.length).toBeGreaterThanOrEqual(60);
    expect(new Set(CASE_NAMES).size).toBe(CASE_NAMES.length);
  });

  test('the pass table of docs/executor-suite.md says what happened here', () => {
    const { executors, differences } = compared();
    expect(differences, `compared for ${executors}; UPDATE_DOCS=1 writes the table`).toEqual([]);
  });
});
