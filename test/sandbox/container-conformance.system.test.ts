import { describe, expect, test } from 'vitest';

import { containerExecutor } from '../../src/sandbox/executors/container/executor.ts';
import { verifies } from '../conformance/verifies.ts';
import { conformanceFile } from './conformance-suite.ts';
import { sharedDockerEngine } from './docker-engine.ts';

const { suite, failed, compared } = conformanceFile();
const engine = await sharedDockerEngine();
if (typeof engine === 'string') console.log(`skipped: the conformance of containers: ${engine}`);

describe('container', () => {
  suite(
    'container',
    () => {
      if (typeof engine === 'string') throw new TypeError(engine);
      return containerExecutor({ socket: engine.socket, rootFileSystem: engine.rootFileSystem });
    },
    () => (typeof engine === 'string' ? engine : undefined),
  );
});

describe('what containers do', () => {
  verifies(
    ['EXEC-1', 'EXEC-2', 'EXEC-3', 'EXEC-5', 'EXEC-6', 'EXEC-7', 'EXEC-8'],
    'no case of the conformance suite fails in containers',
    () => {
      expect(failed).toEqual([]);
    },
  );

  test('the pass table of docs/executor-suite.md says what happened here', () => {
    expect(compared().differences, 'UPDATE_DOCS=1 writes the table').toEqual([]);
  });
});
