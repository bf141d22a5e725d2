/** Writes cases of one skill, and returns what is found in them. */
import path from 'node:path';
import { expect } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { lintSuite, type LintOptions } from '../../../src/evals/lint/lint-suite.ts';
import { folderOf } from '../cases/support.ts';

export const SKILL = `---
name: tax-report
description: Writes tax reports. Use when asked about taxes.
---

# Tax report

The rate of Freedonia is 37.25 percent. End each answer with END-OF-REPORT.
`;

interface Written {
  readonly quarantine?: object;
  readonly input?: string;
  readonly output?: object;
  readonly expect?: object;
  readonly mock?: object;
}

/** Findings about cases of the skill, as `severity rule: cases`. */
export function findingsOf(
  cases: readonly Written[],
  options: Partial<LintOptions> = {},
  skill = SKILL,
): readonly string[] {
  const written = cases.map(({ input, output, ...rest }, place) => ({
    id: `c${String(place + 1)}`,
    input: input ?? REQUESTS[place] ?? `Request ${String(place)} about something of its own`,
    expect: { output },
    ...rest,
  }));
  const root = folderOf({ 'tax-report/SKILL.md': skill, 'tax-report/evals/cases.json': { cases: written } });
  const read = readCases([path.join(root, 'tax-report')]);
  expect(read.problems).toEqual([]);
  return lintSuite(read.cases, { kind: 'cases', skills: [path.join(root, 'tax-report')], ...options }).map(
    ({ severity, rule, line, hint }) => {
      expect({ line, hint }).toEqual({ line: expect.any(Number), hint: expect.stringMatching(/\w/) });
      return `${severity} ${rule}`;
    },
  );
}

const REQUESTS = ['How high is the tax on a boat?', 'Compare two flats in Rome.', 'When is the deadline this year?'];
