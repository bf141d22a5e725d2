/**
 * How many cases a property is tried with. A normal run uses a tenth of what is asked for, so that `npm test` stays short;
 * `npm run check:random` sets PROPERTY_FACTOR=1 and draws new cases.
 */
const FACTOR = Number(process.env['PROPERTY_FACTOR'] ?? '0.1');
const FEWEST = 25;

/** Every case, or in a normal run every third one, for cases that are numbered and take long. */
export const STEP = FACTOR >= 1 ? 1 : 3;

/** `fewest` is for cases that start processes: twenty-five of them would take too long. */
export function runs(asked: number, fewest = FEWEST): number {
  return Math.max(Math.min(asked, fewest), Math.round(asked * FACTOR));
}
