import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

import { runReport } from './test/run-report.ts';
import { slowestFiles } from './test/slowest-files.ts';

// .ci/run names a folder for counts, failures and second tries.
const report = process.env['SKILLWRIGHT_REPORT'];

// Node reads these certificates at every start, which doubles the time it takes; tests reach no server that needs them.
delete process.env['NODE_EXTRA_CA_CERTS'];

/** Tests that start sandboxes, engines and other programs, or need seconds. */
export const SYSTEM_TESTS = 'test/**/*.system.test.ts';

export const shared = defineConfig({
  test: {
    // Test files share nothing but the file system, and one realm per worker is many times faster.
    isolate: false,
    maxWorkers: Math.max(2, availableParallelism()),
    // These only catch what hangs: a slow machine must not fail a test.
    testTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
    // CI shares its machine and judges a change, not a moment: it tries a failed test once more and names it at its end.
    retry: report === undefined ? 0 : 1,
    // Transformed files are kept in node_modules/.vite between runs.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/random-seed.ts'],
    reporters: ['default', slowestFiles, ...(report === undefined ? [] : [runReport(report)])],
  },
});
