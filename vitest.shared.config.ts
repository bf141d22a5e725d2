import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

import { runReport } from './test/run-report.ts';
import { skippedTests } from './test/skipped-tests.ts';
import { slowestFiles } from './test/slowest-files.ts';

// .ci/run names a folder for counts and failures.
const report = process.env['TEST_REPORT'];

// Node reads these certificates at every start, which doubles the time it takes; tests reach no server that needs them.
delete process.env['NODE_EXTRA_CA_CERTS'];

// No test depends on who runs it: the same locale, time zone, permissions of new files and settings of git everywhere. Workers inherit them.
for (const name of Object.keys(process.env)) if (/^(?:LC_|LANGUAGE$|GIT_)/.test(name)) delete process.env[name];
Object.assign(process.env, { LANG: 'C.UTF-8', TZ: 'UTC', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' });
process.umask(0o022);

// tsc and esbuild are Go programs, which spend up to a fifth of their time on collecting garbage at the default of 100.
process.env['GOGC'] = '400';

/** Tests that start sandboxes, engines and other programs, or need seconds. */
export const SYSTEM_TESTS = 'test/**/*.system.test.ts';

/** The doors of the parts, as source files. */
const { imports }: { imports: Record<string, { source: string }> } = JSON.parse(readFileSync('package.json', 'utf8'));
const doors = Object.entries(imports).map(([door, { source }]) => ({
  find: new RegExp(`^${door}$`),
  replacement: fileURLToPath(new URL(source, import.meta.url)),
}));

export const shared = defineConfig({
  resolve: { alias: doors },
  test: {
    // Test files share nothing but the file system, and one realm per worker is many times faster.
    isolate: false,
    maxWorkers: Math.max(2, availableParallelism()),
    // These only catch what hangs: a slow machine must not fail a test.
    testTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
    // The pictures of the console are made by `npm run screenshots` only.
    exclude: process.env['SCREENSHOTS'] === undefined ? ['test/console/screenshots.system.test.ts'] : [],
    // Transformed files are kept in node_modules/.vite between runs.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/random-seed.ts'],
    reporters: ['default', slowestFiles, skippedTests, ...(report === undefined ? [] : [runReport(report)])],
  },
});
