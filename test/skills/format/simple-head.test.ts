import { describe, expect, it } from 'vitest';

import { readSimpleHead } from '../../../src/skills/format/simple-head.ts';
import { verifies } from '../../conformance/verifies.ts';
import { codesOf, fenced, placesOf, read, sourceOf } from '../../core/skill-source.ts';

const DESCRIPTION = 'description: x';

describe('the head of a skill', () => {
  verifies('FMT-2', 'every field is text, just as written', () => {
    const text = fenced(
      'name: pdf-forms',
      'description: >-',
      '  Fills PDF forms',
      '  and more.',
      'license: Apache-2.0 # see LICENSE',
      "compatibility: 'Needs Python 3.11+; it''s slow'",
      'metadata:',
      '  author: "Jo"',
      "  version: '1.10'",
      '  empty:',
      '  tags: [a, b]',
    );
    expect(read(text).head).toEqual({
      name: 'pdf-forms',
      description: 'Fills PDF forms and more.',
      license: 'Apache-2.0',
      compatibility: "Needs Python 3.11+; it's slow",
      controls: { disableModelInvocation: false, userInvocable: true, runMode: 'inline' },
      meta: { author: 'Jo', version: '1.10', tags: '["a","b"]' },
    });
  });

  verifies('FMT-3', 'version and author are taken from the top level first, else from metadata', () => {
    const { head } = read(
      fenced('name: pdf-forms', DESCRIPTION, 'version: 1.10', 'metadata:', '  version: "2"', '  author: me'),
    );
    expect(head?.meta).toEqual({ version: '1.10', author: 'me' });
  });

  it.each([
    ['null', '{"a":null}'],
    ['1.10', '{"a":1.10}'],
    ['true', '{"a":true}'],
    ['"true"', '{"a":"true"}'],
    ['0x10', '{"a":"0x10"}'],
    ['[x, {y: z}]', '{"a":["x",{"y":"z"}]}'],
  ])('keeps nested metadata as JSON text: %s', (value, json) => {
    const { head } = read(fenced('name: pdf-forms', DESCRIPTION, 'metadata:', `  nested: {a: ${value}}`));
    expect(head?.meta['nested']).toBe(json);
  });

  it('says which host reads a field that is not ours', () => {
    const { diagnostics } = read(fenced('name: pdf-forms', DESCRIPTION, 'model: opus', 'colour: red'));
    expect(diagnostics.map(({ code, severity, message }) => [code, severity, message])).toEqual([
      ['field/other-agent', 'info', '"model" is not a field of the specification; Claude Code reads it'],
      ['field/unknown', 'warning', '"colour" is not a field of the specification'],
    ]);
  });

  it('is told about a lower-case file name, a mark and CR LF at once, and loads', () => {
    const text = `\ufeff${fenced('name: pdf-forms', DESCRIPTION)}`.replaceAll('\n', '\r\n');
    const reading = read(text, 'lenient', { fileName: 'skill.md' });
    expect(placesOf(reading)).toEqual(['file/case@1:1', 'frontmatter/bom@1:1', 'frontmatter/crlf@1:4']);
    expect(reading.head?.description).toBe('x');
  });
});

describe('the name', () => {
  it.each([
    ['pdf-forms', 'pdf-forms', []],
    ['"pdf-forms"', 'pdf-forms', []],
    ['PDF_Forms', 'PDF_Forms', ['name/invalid']],
    ['pdf', 'pdf', ['name/directory-mismatch']],
    ['"pdf/forms"', 'pdf/forms', ['name/invalid']],
    ['org/pdf-forms', 'org/pdf-forms', ['name/invalid']],
    ['org/other', 'org/other', ['name/invalid']],
    ['a/b/c', 'pdf-forms', ['name/invalid']],
    [String.raw`'pdf\forms'`, 'pdf-forms', ['name/invalid']],
    ['..', 'pdf-forms', ['name/invalid']],
    ['a..b', 'pdf-forms', ['name/invalid']],
    [String.raw`"pdf\e[31m"`, 'pdf-forms', ['name/invalid']],
    [String.raw`"a\nb"`, 'pdf-forms', ['name/invalid']],
    ['" "', 'pdf-forms', ['name/missing']],
    ['""', 'pdf-forms', ['name/missing']],
    ['__proto__', '__proto__', ['name/directory-mismatch', 'name/invalid']],
    ['pdf-\u{e0041}forms', 'pdf-forms', ['text/hidden-characters']],
    ['ｐｄｆ-forms', 'pdf-forms', []],
    ['1.0', '1.0', ['name/directory-mismatch', 'name/invalid']],
  ])('%s is used as %s', (written, name, codes) => {
    const reading = read(fenced(`name: ${written}`, DESCRIPTION));
    expect(reading.head?.name).toBe(name);
    expect(codesOf(reading)).toEqual(codes);
  });

  it.each(['..', 'a/b', '', '\x1b', '.'])(
    'is not taken from a folder called %j, so the skill is left out',
    (directory) => {
      const reading = read(fenced(DESCRIPTION), 'lenient', { directory });
      expect(reading.head).toBeUndefined();
      expect(codesOf(reading)).toEqual(['name/missing', 'name/unusable']);
    },
  );

  it.each([
    ['数据分析', '数据分析'],
    ['My Skill', 'My Skill'],
  ])('is the folder’s where there is none: %s', (directory, name) => {
    expect(read(fenced(DESCRIPTION), 'lenient', { directory }).head?.name).toBe(name);
  });
});

describe('readSimpleHead', () => {
  it.each([
    ['a plain file', fenced('name: a', DESCRIPTION)],
    ['quotes', fenced('name: a', "description: 'it''s'")],
    ['escapes', fenced('name: a', 'description: "a\\n\\"b\\" \\\\ c"')],
    [
      'a nested map of lists',
      fenced('name: a', DESCRIPTION, 'metadata:', '  x:', '    y:', '      - z: 1', '        w: 2'),
    ],
    ['a list over lines', fenced('name: a', DESCRIPTION, 'metadata:', '  x: [', '    "a", [b, c],', '    ]')],
    ['CR LF', fenced('name: a', 'description: |', '  a', '', '  b').replaceAll('\n', '\r\n')],
  ])('reads %s', (_, text) => {
    expect(readSimpleHead(sourceOf(text), { mode: 'lenient' })?.head?.name).toBe('a');
  });

  it.each([
    ['an anchor', fenced('description: &a b')],
    ['an alias', fenced('description: *a')],
    ['a tag', fenced('description: !a b')],
    ['a tab', fenced('description: a', '\tb')],
    ['quotes over lines', fenced('name: a', "description: 'one", '', "  two'")],
    ['an escaped code point', fenced('name: a', 'description: "a\\u0041"')],
    ['an explicit key', fenced('? a', ': b')],
    ['a block with its own indentation', fenced('description: |2', '   a')],
    ['a language', '---js\na: b\n---\n'],
    ['a second document', fenced('a: b', '--- c')],
    ['a map in braces', fenced('name: a', DESCRIPTION, 'metadata: {a: b}')],
    ['an unquoted colon', fenced('name: a', 'description: a: b')],
    ['a line that is not a field', fenced('description: a', 'rubbish')],
    ['a colon in the text below a key', fenced('description: a', '  b: c')],
  ])('returns undefined for %s', (_, text) => {
    expect(readSimpleHead(sourceOf(text), { mode: 'lenient' })).toBeUndefined();
  });
});
