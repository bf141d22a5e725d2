/** A short storm. `npm run storm` runs the long one: `npm run storm -- --kills 200 --seed 7`. */
import { expect, test } from 'vitest';

import { PROJECT } from '../../files-below.ts';
import { storm } from './storm.ts';
import { needs } from '../../needs.ts';

const kills = Number(process.env['STORM_KILLS'] ?? '6');
const seed = Number(process.env['STORM_SEED'] ?? '24');

test(
  `after ${String(kills)} kills of worker, server and database everything was done once (seed ${String(seed)})`,
  { ...needs('postgresql'), timeout: 3_600_000 },
  async () => {
    const result = await storm({
      project: PROJECT,
      kills,
      seed,
      onNote: process.env['STORM_KILLS'] === undefined ? () => undefined : (note) => console.log(note),
    });
    if (process.env['STORM_KILLS'] !== undefined) console.log(JSON.stringify({ seed, ...result }, undefined, 2));
    expect(result.problems).toEqual([]);
    expect(result.accepted).toBeGreaterThan(0);
  },
);
