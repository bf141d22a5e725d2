import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { defineConfig, mergeConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

import { shared } from './vitest.shared.config.ts';

/**
 * Files that take longest, longest first. Without them a fresh clone, which has no durations of earlier runs, would start some of them last
 * and wait for them with idle processors.
 */
const LONGEST = [
  'sandbox/conformance',
  'sandbox/container-conformance',
  'console/console',
  'docs/tutorials',
  'fleet/console',
  'packs/root/crash',
  'runtime/packages/package-places',
  'fleet/faults',
  'fleet/fleet',
  'package',
  'sandbox/attacks',
  'runtime/packages/packages',
  'examples',
  'cli/isolation-levels',
  'sandbox/container-failures',
  'sandbox/container',
  'runtime/secrets/secret-canary',
  'fleet/teams',
  'runtime/execution/mounts',
  'sandbox/probe/detect',
  'mcp/server',
  'sandbox/container-attacks',
  'built-in-skills/csv-report',
  'sandbox/conformance/suite',
  'docs/how-to',
  'agent/resume-killed',
  'fleet/operation',
  'fleet/storm',
  'cli/run',
  'cli/chat',
  'runtime/packages/container-packages',
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

const SOURCE = fileURLToPath(new URL('src/', import.meta.url));
const BUILT = fileURLToPath(new URL('dist/', import.meta.url));

/** `npm test` builds first, so tests import the built library: a fresh clone need not transform each source file once more. */
const builtLibrary: Plugin = {
  name: 'built-library',
  enforce: 'pre',
  resolveId(source, importer) {
    if (importer === undefined || !source.startsWith('.')) return undefined;
    const file = path.resolve(path.dirname(importer), source);
    if (!file.startsWith(SOURCE) || !file.endsWith('.ts')) return undefined;
    const built = `${BUILT}${file.slice(SOURCE.length, -'ts'.length)}js`;
    return existsSync(built) ? built : undefined;
  },
};

/** Unit and system tests in one run, for `npm test`. */
export default mergeConfig(
  shared,
  defineConfig({
    plugins: [builtLibrary],
    test: {
      server: { deps: { external: [/\/dist\/.*\.js$/] } },
      include: ['test/**/*.test.ts'],
      globalSetup: ['test/global-setup.ts', 'test/system-setup.ts'],
      // More than there are processors: system tests spend much of their time in waiting for sandboxes and timeouts.
      maxWorkers: Math.max(2, availableParallelism()) + 2,
      sequence: { sequencer: LongestFirst },
    },
  }),
);
