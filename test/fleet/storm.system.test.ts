/** A short storm. `npm run storm` runs the long one: `npm run storm -- --kills 100 --runs 1000 --seed 7`. */
import { describe, expect } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { storm } from './storm.ts';
import { needs } from '../needs.ts';

const isLong = process.env['STORM_KILLS'] !== undefined;
const option = (name: string, short: number): number => Number(process.env[`STORM_${name}`] ?? String(short));
const seed = option('SEED', 24);

describe('a storm', { ...needs('postgresql'), timeout: 7_200_000 }, () => {
  verifies(
    'DIST-2',
    'after kills and cut connections at random statements every run has ended and was done once',
    async () => {
      const result = await storm({
        project: PROJECT,
        kills: option('KILLS', 5),
        runs: option('RUNS', 0),
        seed,
        workers: option('WORKERS', 2),
        servers: option('SERVERS', 1),
        clients: option('CLIENTS', 4),
        onNote: isLong ? (note) => console.log(`${new Date().toISOString()} ${note}`) : () => undefined,
      });
      if (isLong) console.log(JSON.stringify({ seed, ...result }, undefined, 2));
      expect(result.problems).toEqual([]);
      expect(result.accepted).toBeGreaterThan(0);
    },
  );
});
