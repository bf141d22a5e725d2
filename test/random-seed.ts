/**
 * Properties are tried with the same cases on every machine, so that a red run is a red commit. `PROPERTY_SEED=random` looks for
 * new ones; a number is what a failure printed. Not a name that begins as our settings do: the commands under test would tell of it.
 */
import fc from 'fast-check';

import { runs } from './property-runs.ts';

const chosen = process.env['PROPERTY_SEED'] ?? '20261115';
fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  numRuns: runs(100),
  ...(chosen === 'random' ? {} : { seed: Number(chosen) }),
});
