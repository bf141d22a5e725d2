import { defineConfig, mergeConfig } from 'vitest/config';

import { SYSTEM_TESTS, shared } from './vitest.shared.config.ts';

/** The unit tests of `npm run check`. `npm test` runs the system tests as well. */
export default mergeConfig(
  shared,
  defineConfig({
    test: { include: ['test/**/*.test.ts'], exclude: [SYSTEM_TESTS], globalSetup: ['test/global-setup.ts'] },
  }),
);
