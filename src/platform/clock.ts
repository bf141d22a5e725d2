/** The longest delay that timers support, about 24 days: a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A delay for a timer from an option, a flag or a setting. */
export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER_MS);
}

/** A monotonic clock in milliseconds. The global `performance` would load a module of Node that costs a listing two milliseconds. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
