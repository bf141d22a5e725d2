import type { Reporter, TestCase, TestModule } from 'vitest/node';

import { PACKAGES } from './needs.ts';

/** What a skipped test lacks: its own note, or the meta data that `needs` gave to it or to a suite around it. */
export function missingFor(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  return note ?? test.meta().missing ?? 'something that the test does not name';
}

/** Counts of skipped tests by what they lack, most first. */
function countSkipped(modules: readonly TestModule[]): readonly (readonly [missing: string, tests: number])[] {
  const counts = new Map<string, number>();
  for (const { children } of modules)
    for (const test of children.allTests('skipped')) {
      const missing = missingFor(test);
      counts.set(missing, (counts.get(missing) ?? 0) + 1);
    }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

function skippedLine([missing, tests]: readonly [string, number]): string {
  const install = (PACKAGES as Partial<Record<string, string>>)[missing];
  return `skipped: ${String(tests)} ${tests === 1 ? 'test needs' : 'tests need'} ${missing}${install === undefined ? '' : ` (package ${install})`}`;
}

let hasPattern = false;

/** Says after a run what was not tested: one line for each thing that this machine lacks. */
export const skippedTests: Reporter = {
  onInit({ config }) {
    hasPattern = config.testNamePattern !== undefined;
  },
  onTestRunEnd(modules) {
    // Of tests that `-t` leaves out there is nothing to say.
    if (hasPattern) return;
    for (const counted of countSkipped(modules)) console.log(skippedLine(counted));
  },
};
