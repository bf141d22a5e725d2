import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

// .ci/run names a file for the counts; a person sees the usual report.
const report = process.env['SKILLWRIGHT_REPORT'];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The suites share nothing but the file system and each cleans up after itself; one realm a worker is many times faster.
    isolate: false,
    // Half of the tests wait for processes of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 60_000,
    hookTimeout: 120_000,
    globalSetup: ['test/global-setup.ts'],
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});
