// What a hook mostly needs, a bundle of its own. What it seldom needs is in another.
import { runHook } from '#activation';

export async function answerHook(host: NodeJS.Process): Promise<boolean> {
  return runHook(host, async () => (await import('./hook-program.ts')).wholeHook);
}
