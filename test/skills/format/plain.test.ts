import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readHeadAsYaml } from '../../../src/skills/format/read-head.ts';
import { readSimpleHead } from '../../../src/skills/format/simple-head.ts';
import { sourceOf } from '../../core/skill-source.ts';
import { anyText, mostlyRight, yamlIsh } from './yaml-ish.ts';
import { runs } from '../../property-runs.ts';

const RUNS = runs(1500);

const asWritten = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.replaceAll('\n', '\r\n'),
  (text: string) => `\uFEFF${text}`,
  (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`,
  (text: string) => text.replace('\n', '\r\n'),
);

/** How many texts the plain reader accepted. Each result must equal that of the YAML library, including the order of keys. */
function countAgreed(texts: fc.Arbitrary<string>): number {
  let accepted = 0;
  fc.assert(
    fc.property(texts, asWritten, fc.constantFrom('lenient' as const, 'strict' as const), (inner, write, mode) => {
      const source = sourceOf(write(`---\n${inner}\n---\nbody\n`));
      const plain = readSimpleHead(source, { mode });
      if (plain === undefined) return;
      accepted += 1;
      const full = readHeadAsYaml(source, { mode });
      expect(plain).toEqual(full);
      expect(JSON.stringify(plain)).toBe(JSON.stringify(full));
    }),
    { numRuns: RUNS },
  );
  return accepted;
}

const piecesOf = (...pieces: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 7 }).map((parts) => parts.join(''));
const tools = piecesOf(
  'Read',
  'Bash(git:*)',
  'B(a, b)',
  'x__y:z',
  ' ',
  ', ',
  ',',
  '(',
  ')',
  '*',
  'é',
  '"',
  "'",
  '\n  ',
);
const words = piecesOf(
  'a',
  'null',
  ' ',
  ', ',
  '.',
  '-',
  '"b c"',
  '#',
  ': ',
  '~',
  '<',
  'true',
  '\n  - ',
  '\n  ',
  '\n    ',
);
const lines = piecesOf('\n  a', '\n  b c', '\n   d', '\n', ' ', '#', ': ', "'", 'e', '\n  - ', '\n e', '技');
const pairs = piecesOf(
  '\n  k: v',
  '\n  version: "1"',
  '\n  k: null',
  '\n  paths: x',
  '\n  k:',
  '\n    l: w',
  '\n    n: 2',
  '\n    q: "2"',
  '\n    l: true',
  '\n      m: x',
  '\n    - i',
  '\n  t: [a, b c]',
  '\n  t: [a, true]',
  '\n  t: [a , b]',
  '\n  t: [nullable, 1]',
  '\n  技: é',
  '\n  constructor: x',
  ' a:',
  ' #',
  '\n k: v',
  '\n',
);
const field = fc.oneof(
  tools.map((text) => `allowed-tools: ${text}`),
  tools.map((text) => `disallowed-tools: ${text}`),
  fc.tuple(fc.constantFrom('|', '>', '|-', '>-', '>+'), lines).map(([sign, text]) => `license: ${sign}${text}`),
  fc
    .tuple(fc.constantFrom('x:', 'x: [', 'x: ', 'x:\n  - '), words, fc.constantFrom('', ']'))
    .map((all) => all.join('')),
  pairs.map((text) => `metadata:${text}`),
  fc.constantFrom('version: 2', 'author: "a"', 'user-invocable: false', 'disable-model-invocation: yes', 'x: null', ''),
);

describe('the reader without the YAML library', () => {
  it('returns the result of the YAML library for every text it accepts, in both modes', () => {
    expect(countAgreed(yamlIsh)).toBeGreaterThan(RUNS / 20);
    expect(countAgreed(fc.oneof({ weight: 9, arbitrary: mostlyRight }, anyText))).toBeGreaterThan(RUNS / 20);
  });

  it('returns the result of the YAML library for tools, lists, blocks and metadata', () => {
    const texts = fc
      .tuple(fc.array(field, { minLength: 1, maxLength: 3 }), fc.nat(3))
      .map(([fields, at]) => fields.toSpliced(at, 0, 'name: pdf-forms', 'description: x').join('\n'));
    expect(countAgreed(texts)).toBeGreaterThan(RUNS / 10);
  });

  it('returns the result of the YAML library for names, descriptions, long lines and many lines', () => {
    const names = piecesOf('pdf-forms', 'PDF', ' ', '-', '_', 'é', 'x'.repeat(60), '"', "'", '\\', '/', '.', '<', '7');
    const description = piecesOf(
      'Fills forms.',
      ' ',
      '<b>',
      '>',
      '"',
      "'",
      '\\u200b',
      '\\x3c',
      ': ',
      '技能',
      '\u{1f600}',
      'w '.repeat(260),
      '\n  w',
      '\n  <',
    );
    const values = piecesOf(
      'a',
      '1.0',
      'true',
      '"2"',
      '[a, b]',
      '\n  - a',
      '\n  b: c',
      '<x>',
      'y'.repeat(505),
      '#',
      '',
    );
    const keys = fc.constantFrom(
      'x',
      'model',
      'homepage',
      'version',
      'author',
      'Version',
      'compatibility',
      'license',
      'k'.repeat(45),
      'meta-data',
    );
    const anyField = fc.oneof(
      field,
      fc.tuple(keys, values).map(([key, value]) => `${key}: ${value}`),
      fc.integer({ min: 1, max: 220 }).map((count) => `list:\n${'  - a\n'.repeat(count)}z: y`),
      fc.integer({ min: 1, max: 40 }).map((count) => Array.from({ length: count }, (_, at) => `f${at}: y`).join('\n')),
      fc.integer({ min: 1, max: 210 }).map((count) => '\n'.repeat(count)),
    );
    const texts = fc
      .tuple(
        fc.array(anyField, { maxLength: 4 }),
        fc.nat(3),
        fc.oneof(fc.constant('pdf-forms'), names),
        fc.constantFrom('', '>-\n  ', '|\n  ', '"', "'"),
        description,
      )
      .map(([fields, at, name, sign, text]) => {
        const close = sign === '"' || sign === "'" ? sign : '';
        return fields.toSpliced(at, 0, `name: ${name}`, `description: ${sign}${text}${close}`).join('\n');
      });
    expect(countAgreed(texts)).toBeGreaterThan(RUNS / 10);
  });

  it('accepts frontmatter as most skills have it', () => {
    const reading = readSimpleHead(
      sourceOf(
        [
          '---',
          'name: pdf-forms',
          'description: >-',
          '  Fills forms.',
          '  Use it when asked.',
          'allowed-tools: Read, Bash(git add:*), Read',
          'tags: [pdf, "two words"]',
          'metadata:',
          '  version: "1.2"',
          '  author: me',
          '  tags: [one, two words]',
          '  owner:',
          '    team: "7"',
          '    level: 2',
          '---',
          '',
        ].join('\n'),
      ),
      { mode: 'lenient' },
    );
    expect(reading?.head).toEqual({
      name: 'pdf-forms',
      description: 'Fills forms. Use it when asked.',
      controls: {
        disableModelInvocation: false,
        userInvocable: true,
        allowedTools: ['Read', 'Bash(git add:*)'],
        runMode: 'inline',
      },
      meta: { version: '1.2', author: 'me', tags: '["one","two words"]', owner: '{"team":"7","level":2}' },
    });
  });
});
