// Kills workers, servers and the database of a fleet, cuts their connections, and checks that every run has ended and was done once.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const DEFAULTS = { kills: '100', runs: '1000', workers: '4', servers: '2', clients: '16' };
const { values } = parseArgs({
  options: Object.fromEntries([...Object.keys(DEFAULTS), 'seed'].map((name) => [name, { type: 'string' }])),
});
const chosen = { ...DEFAULTS, seed: String(Math.floor(Math.random() * 1_000_000)), ...values };
console.log(Object.entries(chosen).flat().join(' '));
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--config', 'vitest.system.config.ts', 'test/fleet/storm.system.test.ts'],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...Object.fromEntries(Object.entries(chosen).map(([name, value]) => [`STORM_${name.toUpperCase()}`, value])),
    },
  },
);
process.exitCode = status ?? 1;
