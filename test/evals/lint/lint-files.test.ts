/** What one check for all cases, and files that a model can read, say about a suite. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { lintSuite } from '../../../src/evals/lint/lint-suite.ts';
import { folderOf } from '../cases/support.ts';

const SKILL = `---
name: tax-report
description: Writes tax reports. Use when asked about taxes.
---

# Tax report

End each answer with END-OF-REPORT.
`;
const GOOD = { contains: 'forty-two boats' };

interface Asked {
  readonly input: string;
  readonly output: object;
}

/** Findings about cases of the skill, as `severity rule`. */
function findingsOf(asked: readonly Asked[]): readonly string[] {
  const cases = asked.map(({ input, output }, place) => ({ id: `c${String(place)}`, input, expect: { output } }));
  const root = folderOf({ 'tax-report/SKILL.md': SKILL, 'tax-report/evals/cases.json': { cases } });
  const skill = path.join(root, 'tax-report');
  return lintSuite(readCases([skill]).cases, { kind: 'cases', skills: [skill] }).map(
    ({ severity, rule }) => `${severity} ${rule}`,
  );
}

describe('one check for unlike requests', () => {
  const VERBS = 'Weigh,Paint,Compare,Who invented,Sell,Describe'.split(',');
  const THINGS = 'boats,lamps,rivers,violins,gardens,clouds'.split(',');
  const alike = (output: object, count = 6) =>
    VERBS.slice(0, count).map((verb, place) => ({ input: `${verb} ${THINGS[place] ?? ''}`, output }));

  test.each<[string, object]>([
    ['a class', { regex: String.raw`^## Result\s` }],
    ['an alternation', { regex: '^Result: (yes|no|maybe)' }],
    ['a table', { regex: String.raw`(?m)^\| .* \|$` }],
    ['a link', { regex: 'https?://' }],
    ['a file', { files: [{ path: 'a.txt', contains: 'Done' }] }],
  ])('is named: %s', (_name, output) => {
    expect(findingsOf(alike(output))).toEqual(['warning same-check']);
  });

  test('is not named where half of the cases have another one', () => {
    const other = { regex: '^Result: (late|early)' };
    const mixed = alike({ regex: '^Result: (yes|no|maybe)' }).map((one, at) =>
      at < 3 ? one : { ...one, output: other },
    );
    expect(findingsOf(mixed)).toEqual([]);
    expect(findingsOf(alike({ regex: '^Result: (yes|no|maybe)' }, 3))).toEqual([]);
  });
});

describe('files of a skill', () => {
  const findings = (files: Readonly<Record<string, string | Buffer>>, output: object = GOOD): readonly string[] => {
    const cases = { cases: [{ id: 'a', input: 'How high is the tax on a boat?', expect: { output } }] };
    const root = folderOf({ 'tax-report/SKILL.md': SKILL, 'tax-report/evals/cases.json': cases });
    for (const [name, bytes] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(root, 'tax-report', name)), { recursive: true });
      writeFileSync(path.join(root, 'tax-report', name), bytes);
    }
    const skill = path.join(root, 'tax-report');
    return lintSuite(readCases([skill]).cases, { kind: 'cases', skills: [skill] }).map(
      ({ rule, message }) => `${rule}: ${message}`,
    );
  };

  test.each<[string, string | Buffer]>([
    ['node_modules/a/k.txt', 'forty-two boats'],
    ['utf-16le.txt', Buffer.from('\uFEFFforty-two boats', 'utf16le')],
    ['zeros.bin', Buffer.from('\0\0forty-two boats\0')],
  ])('that a model can read are examined: %s', (name, bytes) => {
    expect(findings({ [name]: bytes })).toEqual([
      `expected-in-skill: ${name} contains the expected text "forty-two boats"`,
    ]);
  });

  test('that cannot be examined are named, images aside', () => {
    const files = {
      'a.zip': Buffer.from('504b0304aa', 'hex'),
      'large.txt': ' '.repeat(600_000),
      'logo.png': Buffer.of(0),
    };
    expect(findings(files)).toEqual(['not-examined: not examined for expected texts: a.zip, large.txt']);
  });

  test('are searched for the text of an expression in a schema', () => {
    const output = { json_schema: { properties: { answer: { pattern: '^END-OF-REPORT' } } } };
    expect(findings({}, output)).toEqual(['expected-in-skill: SKILL.md contains the expected text "END-OF-REPORT"']);
  });
});
