import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readColonHead } from '../../src/format/colon-head.ts';
import { DIAGNOSTIC_RULES } from '../../src/core/diagnostic-codes.ts';
import { openQuickHeadReader, readQuickHead } from '../../src/format/quick-head.ts';
import { readPlainHead } from '../../src/format/skill-head.ts';
import { NoteTeller } from '../../src/format/deferred-diagnostics.ts';
import { sourceOf } from '../core/skill-source.ts';
import { anyText, mostlyRight } from './yaml-ish.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 3000);

/** As a scan gives it: up to the end of the first closing fence. */
function cut(text: string): string {
  const end = /\n(?:-{3,}|\.\.\.)[ \t\r]*(?:\n|$)/.exec(text.slice(3));
  return end === null ? text : text.slice(0, 3 + end.index + end[0].length);
}

const asWritten = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.replaceAll('\n', '\r\n'),
  (text: string) => `\uFEFF${text}`,
  (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`,
  (text: string) => text.replace('\n', '\r\n'),
);

interface Agreed {
  readonly taken: number;
  /** Those of which something was noted, and told from the notes. */
  readonly told: number;
}

/**
 * How many texts the quick reader took on; each with the head of the reader that knows every case, the order of its keys included, or
 * with the reason why there is none; and how many were told of by notes alone, in the words of that reader. One reader reads them all,
 * as in a scan: what it remembers of one text may change nothing for the next.
 */
function countAgreed(texts: fc.Arbitrary<string>, written: typeof asWritten = asWritten): Agreed {
  const reader = openQuickHeadReader();
  const tellers = { lenient: new NoteTeller({ mode: 'lenient' }), strict: new NoteTeller({ mode: 'strict' }) };
  let taken = 0;
  let told = 0;
  fc.assert(
    fc.property(texts, written, (inner, write) => {
      const text = cut(write(`---\n${inner}\n---\n`));
      const quick = reader.read(text, 'pdf-forms');
      expect(openQuickHeadReader().read(text, 'pdf-forms')).toEqual(quick);
      if (quick === undefined) return;
      taken += 1;
      const { head, notes } = quick;
      for (const mode of ['lenient', 'strict'] as const) {
        const reading = readPlainHead(sourceOf(text), { mode }) ?? readColonHead(sourceOf(text), { mode });
        expect(reading).toBeDefined();
        const byNotes =
          head === undefined || notes === undefined ? undefined : tellers[mode].tell(sourceOf(text), head, notes);
        if (byNotes !== undefined) {
          expect(byNotes).toEqual(reading?.diagnostics);
          expect(JSON.stringify(byNotes)).toBe(JSON.stringify(reading?.diagnostics));
          if (byNotes.length > 0) told += 1;
        }
        if (head === undefined) {
          expect(reading?.head).toBeUndefined();
          expect(reading?.diagnostics.find(({ code }) => DIAGNOSTIC_RULES[code].excludes)).toMatchObject({
            code: 'description/missing',
            message: 'there is no description',
          });
        } else {
          expect(head).toEqual(reading?.head);
          expect(JSON.stringify(head)).toBe(JSON.stringify(reading?.head));
        }
      }
    }),
    { numRuns: RUNS },
  );
  return { taken, told };
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

describe('the quick reader', () => {
  it('gives the head of the plain reader wherever it gives one', () => {
    expect(countAgreed(fc.oneof({ weight: 9, arbitrary: mostlyRight }, anyText)).taken).toBeGreaterThan(RUNS / 20);
  });

  it('gives the same for every shape that it knows a short way for', () => {
    const texts = fc
      .tuple(fc.array(field, { minLength: 1, maxLength: 3 }), fc.nat(3))
      .map(([fields, at]) => fields.toSpliced(at, 0, 'name: pdf-forms', 'description: x').join('\n'));
    const { taken, told } = countAgreed(texts);
    expect(taken).toBeGreaterThan(RUNS / 10);
    // About one in fifty is.
    expect(told).toBeGreaterThan(RUNS / 200);
  });

  it('notes all there is to tell of names, tools, fields, brackets and long lines, wherever they stand', () => {
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
    const asTheyAre: typeof asWritten = fc.constantFrom((text: string) => text);
    expect(countAgreed(texts, asTheyAre).told).toBeGreaterThan(RUNS / 10);
  });

  it('gives the same where colons break the description, and where there is none', () => {
    const colons = piecesOf(
      'Use when',
      ': ',
      ':',
      ' ',
      'b: c',
      '#',
      ' #',
      '"',
      "'",
      '[',
      '{',
      '- ',
      '技',
      '<',
      '\n  d',
      '\n\n',
    );
    const odd = fc.constantFrom(
      '',
      '\n',
      '# c',
      'disallowed-tools: x',
      '  user-invocable: no',
      'x:\n  - paths: y',
      'constructor: x',
    );
    const others = fc.oneof(field, field, odd, fc.constantFrom('user: a', 'all: b', 'note: allowed-tools'));
    const description = fc.oneof(
      { weight: 5, arbitrary: colons.map((text) => `description: Use when: ${text}`) },
      colons.map((text) => `description: ${text}`),
      fc.constantFrom('', 'description:', 'note: Use when: asked'),
    );
    const texts = fc
      .tuple(fc.array(others, { maxLength: 3 }), fc.nat(3), description)
      .map(([fields, at, line]) => fields.toSpliced(at, 0, 'name: pdf-forms', line).join('\n'));
    const { taken, told } = countAgreed(texts);
    expect(taken).toBeGreaterThan(RUNS / 40);
    expect(told).toBeGreaterThan(RUNS / 40);
  });

  it('leaves text where metadata should be to others, whatever stands below it', () => {
    const text = '---\nname: pdf-forms\ndescription: x\nmetadata: a:\n  k: v\n---\n';
    expect(readQuickHead(text, 'pdf-forms')).toBeUndefined();
  });

  it('holds no more of what strangers write than it needs, and reads on', () => {
    const reader = openQuickHeadReader();
    for (let number = 0; number < 2000; number += 1) {
      const id = String(number);
      const lines = [
        '---',
        'name: a',
        'description: b',
        `key-${id}: x`,
        `allowed-tools: T${id} Read`,
        'metadata:',
        `  m-${id}: y`,
      ];
      expect(reader.read([...lines, '---', ''].join('\n'), 'a')).toMatchObject({
        head: { controls: { allowedTools: [`T${id}`, 'Read'] }, meta: { [`m-${id}`]: 'y' } },
      });
    }
  });

  it('takes on what most skills look like', () => {
    const head = readQuickHead(
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
      'pdf-forms',
    );
    expect(head).toEqual({
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
