import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

// .ci/run names a folder for the counts; a person sees the usual report.
const report = process.env['SKILLWRIGHT_REPORT'];

/** Tests that start sandboxes, engines and other programs, or need minutes. */
export const SYSTEM_TESTS = 'test/**/*.system.test.ts';

export const shared = defineConfig({
  test: {
    // The suites share nothing but the file system and each cleans up after itself; one realm a worker is many times faster.
    isolate: false,
    // Half of the tests wait for processes of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    // Only for what hangs: what is slow on a busy machine is no failure.
    testTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/random-seed.ts'],
    reporters:
      report === undefined
        ? ['default']
        : ['default', ['json', { outputFile: `${report}/${String(process.pid)}.json` }]],
  },
});
