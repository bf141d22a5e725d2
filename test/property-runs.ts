/**
 * How many cases a property is tried with. A normal run uses a quarter of what is asked for, so that `npm test` stays short;
 * `npm run check:random` sets PROPERTY_FACTOR=1 and draws new cases.
 */
const FACTOR = Number(process.env['PROPERTY_FACTOR'] ?? '0.25');
const FEWEST = 50;

/** Every case, or in a normal run every third one, for cases that are numbered and start processes. */
export const STEP = FACTOR >= 1 ? 1 : 3;

/** `fewest` is for cases that start processes: fifty of them would take too long. */
export function runs(asked: number, fewest = FEWEST): number {
  return Math.max(Math.min(asked, fewest), Math.round(asked * FACTOR));
}
