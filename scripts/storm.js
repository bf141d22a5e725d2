// Kills worker, server and database of a fleet at random moments and checks that everything was done once.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { kills: { type: 'string' }, seed: { type: 'string' } } });
const seed = values.seed ?? String(Math.floor(Math.random() * 1_000_000));
console.log(`seed ${seed}`);
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--config', 'vitest.system.config.ts', 'test/server/fleet/storm.system.test.ts'],
  { stdio: 'inherit', env: { ...process.env, STORM_KILLS: values.kills ?? '200', STORM_SEED: seed } },
);
process.exitCode = status ?? 1;
