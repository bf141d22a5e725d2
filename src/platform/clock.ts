/** A monotonic clock in milliseconds. The global `performance` would load a module of Node that costs a listing two milliseconds. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
