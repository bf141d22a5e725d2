import { availableParallelism } from 'node:os';

import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

import { shared } from './vitest.shared.config.ts';

/** System tests first: the short files of the unit tests fill the gaps at the end. */
class SystemFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSystem = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith('.system.test.ts');
    return [...sorted.filter(isSystem), ...sorted.filter((file) => !isSystem(file))];
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
      sequence: { sequencer: SystemFirst },
    },
  }),
);
