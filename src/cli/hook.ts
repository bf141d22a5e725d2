// The program that the hooks of agents start, a bundle of its own.
import { runHook } from '#activation';

// oxlint-disable-next-line typescript/no-floating-promises
runHook(process);
