/**
 * Measures the processor time of this process, in milliseconds, from now on. Checks of a running program pace themselves by it: the time
 * on a clock also contains the waiting for a processor that the program occupies, and a program must not be checked less often for that.
 */
export function cpuTimer(): () => number {
  const began = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
}
