/**
 * How many cases a property is tried with. A normal run uses a quarter of what is asked for, so that `npm test` stays short;
 * `npm run check:random` sets PROPERTY_FACTOR=1 and draws new cases.
 */
const FACTOR = Number(process.env['PROPERTY_FACTOR'] ?? '0.25');
const FEWEST = 50;

export function runs(asked: number): number {
  return Math.max(Math.min(asked, FEWEST), Math.round(asked * FACTOR));
}
