import { availableParallelism } from 'node:os';

import { defineConfig, mergeConfig } from 'vitest/config';

import { SYSTEM_TESTS, shared } from './vitest.shared.config.ts';

/** Tests that run real programs: sandboxes, containers, attacks, kills, servers. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: [SYSTEM_TESTS],
      globalSetup: ['test/global-setup.ts', 'test/system-setup.ts'],
      // One more than there are processors: with as many, a third of their time passes in waiting for sandboxes and timeouts.
      maxWorkers: Math.max(2, availableParallelism()) + 1,
    },
  }),
);
