import { defineConfig, mergeConfig } from 'vitest/config';

import { SYSTEM_TESTS, shared } from './vitest.shared.config.ts';

/** The tests of `npm run check`: all but those that need sandboxes, engines and minutes. `npm test` runs both. */
export default mergeConfig(shared, defineConfig({ test: { include: ['test/**/*.test.ts'], exclude: [SYSTEM_TESTS] } }));
