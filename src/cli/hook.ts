// The program that the hooks of agents start, a bundle of its own. What it seldom needs is in another.
import { runHook } from '#activation';

// oxlint-disable-next-line typescript/no-floating-promises
runHook(process, async () => (await import('./hook-program.ts')).wholeHook);
