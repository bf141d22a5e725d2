import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Reporter, TestCase, TestModule } from 'vitest/node';

import { PROJECT } from './files-below.ts';
import { missingFor } from './skipped-tests.ts';

interface ActionProblem {
  readonly name: string;
  readonly file: string;
  readonly error: string;
}

/** Writes counts, failures and skipped tests to a file of `folder`, from which scripts/ci-summary.js prints the end of the log of CI. */
export function runReport(folder: string): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const testsOf = (state: 'passed' | 'skipped'): readonly { readonly id: string; readonly test: TestCase }[] =>
        modules.flatMap((module) =>
          [...module.children.allTests(state)].map((test) => ({ id: `${fileOf(module)} > ${test.fullName}`, test })),
        );
      const report = {
        // .ci/run says on which machine.
        state: process.env['TEST_REPORT_STATE'] ?? '',
        again: process.env['TEST_REPORT_AGAIN'] !== undefined,
        passed: testsOf('passed').map(({ id }) => id),
        skipped: testsOf('skipped').map(({ id, test }) => ({ id, missing: missingFor(test) })),
        failures: [
          ...modules.flatMap(failuresOf),
          ...unhandledErrors.map((error) => ({ name: 'error outside of tests', file: '', error: textOf([error]) })),
        ],
      };
      // One file per process, because CI runs vitest several times.
      writeFileSync(path.join(folder, `${String(process.pid)}.json`), JSON.stringify(report));
    },
  };
}

const fileOf = (module: TestModule): string => path.relative(PROJECT, module.moduleId);

function failuresOf(module: TestModule): readonly ActionProblem[] {
  const file = fileOf(module);
  // Errors of a file are those of its imports; errors of a suite are those of its hooks.
  const containers = [{ name: 'the file', errors: module.errors() }].concat(
    [...module.children.allSuites()].map((suite) => ({ name: suite.fullName, errors: suite.errors() })),
  );
  const tests = [...module.children.allTests('failed')].map((test) => ({
    name: test.fullName,
    errors: [...(test.result().errors ?? [])],
  }));
  return [...containers.filter(({ errors }) => errors.length > 0), ...tests].map(({ name, errors }) => ({
    name,
    file,
    error: textOf(errors),
  }));
}

interface Thrown {
  readonly message: string;
  readonly stack?: string | undefined;
  readonly [other: string]: unknown;
}

function textOf(errors: readonly Thrown[]): string {
  return errors
    .map(({ message, stack, diff }) => `${stack ?? message}\n${typeof diff === 'string' ? diff : ''}`)
    .join('\n')
    .replaceAll(/^\s+at .*(?:node_modules|node:).*\n/gm, '');
}
