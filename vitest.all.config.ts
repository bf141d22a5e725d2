import { availableParallelism } from 'node:os';

import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

import { shared } from './vitest.shared.config.ts';

/**
 * Files that take longest, longest first. Without them a fresh clone, which has no durations of earlier runs, would start some of them last
 * and wait for them with idle processors.
 */
const LONGEST = [
  'sandbox/conformance',
  'runtime/packages/packages',
  'sandbox/attacks',
  'sandbox/container-attacks',
  'evals/page/chromium',
  'cli/run',
  'packs/root/crash',
  'examples',
  'runtime/execution',
  'skills/csv-report',
  'cli/isolation-levels',
  'sandbox/container-failures',
  'agent/resume-killed',
  'sandbox/container',
  'runtime/execution/mounts',
  'runtime/packages/container-packages',
  'runtime/secrets/secret-canary',
  'packs/archive/fuzz',
].map((name) => `/test/${name}.system.test.ts`);

/** The longest files, then the other system tests; the short files of the unit tests fill the gaps at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((end) => moduleId.endsWith(end));
      if (at !== -1) return at;
      return moduleId.endsWith('.system.test.ts') ? LONGEST.length : LONGEST.length + 1;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

/** Unit and system tests in one run, for `npm test`. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: ['test/**/*.test.ts'],
      globalSetup: ['test/global-setup.ts', 'test/system-setup.ts'],
      // More than there are processors: system tests spend much of their time in waiting for sandboxes and timeouts.
      maxWorkers: Math.max(2, availableParallelism()) + 2,
      sequence: { sequencer: LongestFirst },
    },
  }),
);
