import path from 'node:path';

import type { Reporter, TestModule } from 'vitest/node';

import { PROJECT } from './files-below.ts';

const SHOWN = 10;

/** Prints the slowest test files at the end of a run, so that a suite that grows is noticed. */
export const slowestFiles: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const slowest = modules
      .map((module) => ({ file: path.relative(PROJECT, module.moduleId), ms: module.diagnostic().duration }))
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, SHOWN);
    // A person who runs one file does not ask.
    if (modules.length <= SHOWN) return;
    const rows = slowest.map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${file}`);
    console.log(`\nSlowest ${String(SHOWN)} of ${String(modules.length)} files:\n${rows.join('\n')}\n`);
  },
};
