import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { DIAGNOSTIC_RULES } from '../../../src/core/diagnostic-codes.ts';
import { readHead } from '../../../src/skills/format/read-head.ts';
import { verifies } from '../../conformance/verifies.ts';
import { MALFORMED } from './malformed.ts';
import { codesOf, fenced, placesOf, read, sourceOf } from '../../core/skill-source.ts';
import { anyText } from './yaml-ish.ts';
import { runs } from '../../property-runs.ts';

describe('a malformed file', () => {
  it.each(MALFORMED)(
    '$title: is told where it stands, and loads what can be understood',
    ({ text, places, description }) => {
      const reading = read(text);
      expect(placesOf(reading)).toEqual(places);
      expect(reading.head?.description).toBe(description);
    },
  );

  it.each(MALFORMED)(
    '$title: gives the same head and the same places in strict mode, as errors or warnings',
    ({ text }) => {
      const lenient = read(text);
      const strict = read(text, 'strict');
      expect(strict.head).toEqual(lenient.head);
      expect(placesOf(strict)).toEqual(placesOf(lenient));
      for (const { code, severity } of strict.diagnostics) expect(severity).toBe(DIAGNOSTIC_RULES[code].strict);
      for (const { code, severity } of lenient.diagnostics) expect(severity).toBe(DIAGNOSTIC_RULES[code].lenient);
    },
  );
});

describe('any text at all', () => {
  it('is read without a throw; what is left out is told with a code that leaves out, nothing told can act in a terminal, and every mode reads the same head', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.constantFrom('---\n', '', '\ufeff--- \n'),
        fc.constantFrom('\n---\nbody', '', '\r\n---\r\n'),
        (inner, open, close) => {
          const reading = read(open + inner + close);
          expect(read(open + inner + close, 'strict', { validUtf8: false }).head).toEqual(reading.head);
          // The head of a skill without a description is kept for the systems that load it.
          const excluding = reading.diagnostics.some(
            ({ code }) => DIAGNOSTIC_RULES[code].excludes && code !== 'description/missing',
          );
          expect(reading.head === undefined).toBe(excluding);
          for (const { message, line, column } of reading.diagnostics) {
            expect(message).not.toMatch(/[\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]/);
            expect(line).toBeGreaterThan(0);
            expect(column).toBeGreaterThan(0);
          }
        },
      ),
      { numRuns: runs(3000) },
    );
  });

  it('never yields a name that is a path or empty, and never a hidden character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 40 }), (name, directory) => {
        const { head } = read(fenced(`name: ${JSON.stringify(name)}`, 'description: x'), 'lenient', { directory });
        if (head === undefined) return;
        expect(head.name).not.toMatch(/[/\\\0-\x1f\x7f-\x9f\u202a-\u202e]|\.\.|^$|^\.$/);
      }),
      { numRuns: runs(3000) },
    );
  });
});

describe('hostile frontmatter', () => {
  const bombs: readonly (readonly [string, readonly string[]])[] = [
    ['billion laughs', ['a: &a ["x","x","x","x"]', 'b: &b [*a,*a,*a,*a]', 'c: &c [*b,*b,*b,*b]', 'description: *c']],
    ['an alias flood', ['a: &a text', `b: [${'*a, '.repeat(5000)}*a]`]],
    ['a cycle', ['a: &a [*a]']],
  ];
  it.each(bombs)('%s is refused', (_, lines) => {
    const reading = read(fenced('name: pdf-forms', 'description: x', ...lines));
    expect(reading.head).toBeUndefined();
    expect(codesOf(reading)).toContain('frontmatter/alias');
  });

  it('a scalar of 2 MB is refused', () => {
    expect(codesOf(read(fenced(`description: ${'x'.repeat(2_000_000)}`)))).toEqual(['frontmatter/too-large']);
    expect(codesOf(read(`---\ndescription: ${'x'.repeat(2_000_000)}`))).toEqual(['frontmatter/too-large']);
    expect(codesOf(read(fenced(`description: ${'数'.repeat(30_000)}`)))).toEqual(['frontmatter/too-large']);
  });

  it('more than 200 lines are told, and load', () => {
    const reading = read(fenced('name: pdf-forms', 'description: x', ...Array.from({ length: 199 }, () => '# note')));
    expect(placesOf(reading)).toEqual(['frontmatter/too-many-lines@202:1']);
    expect(reading.head?.description).toBe('x');
  });

  it('a prototype is out of reach', () => {
    const { head } = read(
      fenced(
        'name: pdf-forms',
        'description: x',
        'metadata:',
        '  __proto__: polluted',
        '  a: b',
        '  c: {"__proto__": {"x": 1}, "d": 1}',
      ),
    );
    expect(head?.meta).toEqual({ a: 'b', c: '{"d":1}' });
    expect(Object.getPrototypeOf(head?.meta)).toBeNull();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('a wrong type is told once, whatever it is', () => {
    for (const value of ['{a: b}', '[a, b]', '{a: {b: [c]}}']) {
      const reading = read(fenced('name: pdf-forms', 'description: x', `license: ${value}`, `compatibility: ${value}`));
      expect(codesOf(reading)).toEqual(['field/type', 'field/type']);
    }
  });

  it('thousands of mistakes give a hundred reports', () => {
    const reading = read(
      fenced('name: pdf-forms', 'description: x', ...Array.from({ length: 3000 }, (_, index) => `k${index}: a: b`)),
    );
    expect(reading.diagnostics).toHaveLength(100);
    expect(reading.head?.description).toBe('x');
  });

  it('bytes that were not UTF-8 are told where they stand', () => {
    const reading = read(fenced('name: pdf-forms', 'description: a\ufffdb'), 'lenient', { validUtf8: false });
    expect(placesOf(reading)).toEqual(['file/not-utf8@3:15']);
  });

  verifies('FMT-6', 'angle brackets leave the skill out where the configuration says so', () => {
    const source = sourceOf(fenced('name: pdf-forms', 'description: a <b> c'));
    const blocked = readHead(source, { mode: 'lenient', blockAngleBrackets: true });
    expect(blocked.head).toBeUndefined();
    expect(blocked.diagnostics.map(({ code, severity }) => [code, severity])).toEqual([
      ['text/angle-brackets', 'error'],
    ]);
    expect(readHead(source, { mode: 'lenient' }).diagnostics.map(({ severity }) => severity)).toEqual(['warning']);
    expect(readHead(source, { mode: 'strict' }).diagnostics.map(({ severity }) => severity)).toEqual(['error']);
  });

  it.each([
    ['> in a comment', '5:5', ['author: me', '# a > b']],
    ['> in a comment', '4:16', ['author: me # a > b']],
    ['> in a comment', '4:13', ['author: # a > b', '  me']],
    ['> in a comment', '6:5', ['author: |', '  me', '# a > b', 'license: MIT']],
    ['> in a comment', '6:5', ['metadata:', '  team: me', '# a > b', '  city: x']],
    ['> in a comment', '4:21', ['tags: [a, "b"] # a, > b']],
    ['< in author', '4:14', ['author: "x # <b>"']],
    ['< in author', '5:5', ['author: |', '  # <b>']],
    ['> in author', '4:14', ['author: me#a > b']],
    ['< in metadata', '5:8', ['metadata:', '  te: a<b # c']],
  ])('%s, at %s, is where a bracket is said to be', (message, place, lines) => {
    const source = sourceOf(fenced('name: pdf-forms', 'description: a', ...lines));
    const { diagnostics } = readHead(source, { mode: 'lenient', blockAngleBrackets: true });
    const found = diagnostics.filter(({ code }) => code === 'text/angle-brackets');
    expect(found.map((one) => [one.message, `${String(one.line)}:${String(one.column)}`])).toEqual([[message, place]]);
  });

  it.each([
    ['there is no name', "the folder's name is used", ['description: a']],
    ['the name "../x" contains a slash or a backslash', "the folder's name is used", ['name: ../x', 'description: a']],
    ['"description" is given twice', 'the first one is used', ['name: pdf-forms', 'description: a', 'description: b']],
    [
      '"user-invocable" is given twice',
      'the stricter one is used',
      ['name: pdf-forms', 'description: a', 'user-invocable: true', 'user-invocable: false'],
    ],
    ['the description is a list, expected text', 'it is used as written', ['name: pdf-forms', 'description: [a]']],
    [
      'metadata "a" is a list, expected text',
      'it is kept as JSON text',
      ['name: pdf-forms', 'description: a', 'metadata:', '  a: [b]'],
    ],
    [
      'user-invocable is inside the value of "metadata"',
      'its strictest meaning is used',
      ['name: pdf-forms', 'description: a', 'metadata: "user-invocable: false"'],
    ],
  ])('%s: only lenient reading says that %s', (message, instead, lines) => {
    const source = sourceOf(fenced(...lines));
    const messages = (mode: 'lenient' | 'strict'): readonly string[] =>
      readHead(source, { mode }).diagnostics.map((diagnostic) => diagnostic.message);
    expect(messages('lenient')).toContain(`${message}; ${instead}`);
    expect(messages('strict')).toContain(message);
    expect(messages('strict').filter((one) => one.includes(instead))).toEqual([]);
  });
});
