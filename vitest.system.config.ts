import { defineConfig, mergeConfig } from 'vitest/config';

import { SYSTEM_TESTS, shared } from './vitest.shared.config.ts';

/** Programs that are really run: sandboxes, containers, attacks, floods. */
export default mergeConfig(shared, defineConfig({ test: { include: [SYSTEM_TESTS] } }));
