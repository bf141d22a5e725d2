import { beforeAll, describe, expect } from 'vitest';

import { containerExecutor } from '../../src/sandbox/executors/container/executor.ts';
import { verifies } from '../conformance/verifies.ts';
import { attackCases } from './attacks.ts';
import { runAttacks, type AttackReport } from './run-attacks.ts';
import { sharedDockerEngine } from './docker-engine.ts';
import { skipUnless } from '../needs.ts';

const started = await sharedDockerEngine();
if (typeof started === 'string') console.log(`skipped: attacks on containers, because ${started}`);
const engine = typeof started === 'string' ? undefined : started;
const ATTACKS_MS = 240_000;
const SECRET = `attack-secret-${String(process.pid)}-container`;

describe('attacks on containers', skipUnless(engine !== undefined, 'dockerd'), () => {
  let report: AttackReport = { outcomes: [], later: [] };
  beforeAll(async () => {
    const { socket = '', rootFileSystem = '' } = engine ?? {};
    report = await runAttacks(containerExecutor({ socket, rootFileSystem }), SECRET);
  }, ATTACKS_MS);

  for (const [at, { number, name }] of attackCases.entries())
    verifies(
      number === 8 || number === 9 || number === 10 ? 'EXEC-8' : 'EXEC-7',
      `attack ${String(number)} on a container: a program that ${name} harms nobody`,
      () => {
        expect(report.outcomes[at]).toEqual({ number, name, reason: report.outcomes[at]?.reason, damage: [] });
      },
    );

  verifies('EXEC-7', 'nothing is damaged after the last attack on a container has ended', () => {
    expect(report.later).toEqual([]);
  });
});
