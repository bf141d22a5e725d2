import { writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonErrorOffset } from '../../../src/agent/json-object.ts';
import { readCases, type ReadCases } from '../../../src/evals/cases/read-cases.ts';
import { folderOf, skillMd } from './support.ts';
import { runs } from '../../property-runs.ts';

const KEYS = [
  'id',
  'input',
  'prompt',
  'query',
  'task',
  'expect',
  'expected',
  'assertions',
  'expected_output',
  'should_trigger',
  'expected_skill',
  'acceptable_skills',
  'skills',
  'files',
  'mock',
  'turns',
  'constraints',
  'max_turns',
  'trigger',
  'sequence',
  'output',
  'contains',
  'regex',
  'context',
  'defaults',
  'setup',
  'tags',
  'rubric',
  '__proto__',
  'constructor',
];
const WORDS = [
  '',
  'x',
  'target',
  'must_occur a before b',
  'forbid a',
  '../..',
  '/(a)\\1/',
  '(',
  'true',
  '\u0000',
  '1e5',
  'contains:"x"',
];

/** Random values that resemble cases. */
const { value: caseish } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(...WORDS, null, true, false, 0, 7, -1, 1e300),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 6 })
      .map((pairs) => Object.fromEntries(pairs)),
  ),
}));

const LISTS = ['evals', 'cases', 'scenarios', 'test_cases', 'shouldTrigger', 'negative'];

/** Returns a function that writes a text into a case file of a skill and reads it. */
function reader(name: string): (text: string) => ReadCases {
  const root = folderOf({ 'target/SKILL.md': skillMd('target'), [`target/evals/${name}`]: '' });
  const file = path.join(root, 'target/evals', name);
  return (text) => {
    writeFileSync(file, text);
    return readCases([file]);
  };
}

/** Every entry must become a case or an error, and every other file must have a reason. */
function expectNothingLost({ cases, problems, suites, passedOver }: ReadCases): void {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [suite] = suites;
  if (suite === undefined) expect(errors.length + passedOver.length).toBeGreaterThan(0);
  else {
    expect(cases.length).toBeLessThanOrEqual(suite.entries);
    expect(errors.length).toBeGreaterThanOrEqual(suite.entries > cases.length ? 1 : 0);
  }
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  for (const { line, column, message, hint } of problems) {
    expect(line * column).toBeGreaterThan(0);
    expect(message !== '' && hint !== '').toBe(true);
  }
}

describe('reading random files', () => {
  test('never throws and drops nothing', () => {
    const read = reader('a.json');
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), caseish), (value) => expectNothingLost(read(JSON.stringify(value)))),
      { numRuns: runs(300) },
    );
  });

  test('turns each entry into a case or an error with its line', () => {
    const read = reader('a.json');
    fc.assert(
      fc.property(fc.constantFrom('', ...LISTS), fc.array(caseish, { minLength: 1, maxLength: 4 }), (key, entries) => {
        const whole = key === '' ? entries : { [key]: entries };
        const lines = JSON.stringify(whole, undefined, 1).split('\n');
        const { cases, problems, suites } = read(lines.join('\n'));
        if (suites.length === 0) return;
        // Entries start at lines that are indented by the depth of the list.
        const indent = key === '' ? 1 : 2;
        const starts = lines.flatMap((line, place) =>
          line.search(/[^ ]/) === indent && !/^ *[\]}]/.test(line) ? [place + 1] : [],
        );
        const entryAt = (line: number): number => starts.filter((start) => start <= line).length;
        const named = new Set(problems.filter(({ severity }) => severity === 'error').map(({ line }) => entryAt(line)));
        const kept = new Set(cases.map(({ place }) => entryAt(place.line)));
        for (let entry = 1; entry <= entries.length; entry += 1) expect(named.has(entry) || kept.has(entry)).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });

  test('reads or rejects any YAML, CSV or JSON text', () => {
    const piece = fc.constantFrom(
      '- ',
      'input: ',
      'x',
      '\n',
      '  ',
      '[',
      ']',
      '{',
      '}',
      ':',
      ',',
      '"',
      "'",
      '&a ',
      '*a',
      '|\n',
      '#',
      '\t',
      '!!x ',
      '---\n',
      'expect:',
    );
    for (const name of ['a.yaml', 'a.csv', 'a.jsonl', 'a.json']) {
      const read = reader(name);
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => expectNothingLost(read(pieces.join('')))),
        { numRuns: runs(200) },
      );
    }
  });
});

describe('the position of a JSON error', () => {
  test.each([
    ['{"a":\n  [1,}', 11],
    ['{"a" 1}', 5],
    ['[1 2]', 3],
    ['{a:1}', 1],
    ['"abc', 4],
    ['[1,2', 4],
    ['{"a":1}x', 7],
    ['[01]', 1],
    ["['a']", 1],
    ['', 0],
    ['[1,]', 3],
  ])('%j', (text, offset) => {
    expect(jsonErrorOffset(text)).toBe(offset);
  });

  test('is the end of valid JSON, and inside damaged JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), (value, seed) => {
        const text = JSON.stringify(value, undefined, 1);
        expect(jsonErrorOffset(text)).toBe(text.length);
        const at = seed % text.length;
        const cut = text.slice(0, at) + text.slice(at + 1);
        if (!isJson(cut)) expect(jsonErrorOffset(cut)).toBeLessThanOrEqual(cut.length);
        else expect(jsonErrorOffset(cut)).toBe(cut.length);
      }),
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
