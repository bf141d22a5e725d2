/**
 * Properties are tried with the same cases on every machine, so that a red run is a red commit. `SKILLWRIGHT_SEED=random` looks for
 * new ones; a number is what a failure printed.
 */
import fc from 'fast-check';

const chosen = process.env['SKILLWRIGHT_SEED'] ?? '20261115';
if (chosen !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(chosen) });
