import { afterAll, describe, expect } from 'vitest';

import { containerExecutor } from '../../src/sandbox/executors/container/executor.ts';
import { verifies } from '../conformance/verifies.ts';
import { attackCases, runAttack } from './attacks.ts';
import { startDockerEngine } from './docker-engine.ts';

const started = await startDockerEngine();
if (typeof started === 'string') console.log(`skipped: attacks on containers, because ${started}`);
const engine = typeof started === 'string' ? undefined : started;
const SECRET = `attack-secret-${String(process.pid)}-container`;

describe.skipIf(engine === undefined)('attacks on containers, where a Docker engine can be started', () => {
  afterAll(async () => {
    await engine?.stop();
  });

  for (const attack of attackCases) {
    const { number, name } = attack;
    verifies(
      number === 8 || number === 9 || number === 10 ? 'EXEC-8' : 'EXEC-7',
      `attack ${String(number)} on a container: a program that ${name} harms nobody`,
      async () => {
        const executor = containerExecutor({
          socket: engine?.socket ?? '',
          rootFileSystem: engine?.rootFileSystem ?? '',
        });
        const outcome = await runAttack(attack, executor, SECRET);
        expect(outcome).toEqual({ number, name, reason: outcome.reason, damage: [] });
      },
    );
  }
});
