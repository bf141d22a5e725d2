import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { localLinks, parseSkillMd } from '../../../src/skills/format/skill-md.ts';
import { verifies } from '../../conformance/verifies.ts';
import { placesOf, sourceOf } from '../../core/skill-source.ts';
import { anyText } from './yaml-ish.ts';
import { runs } from '../../property-runs.ts';

const HEAD = '---\nname: pdf-forms\ndescription: Fills forms.\n---\n';

function parse(
  text: string,
  options: { readonly maxBodyLines?: number; readonly maxBodyCharacters?: number } = {},
): ReturnType<typeof parseSkillMd> {
  return parseSkillMd(sourceOf(text), { mode: 'lenient', ...options });
}

describe('a whole SKILL.md', () => {
  it('is a head and a body, and says on which line the body starts', () => {
    const { head, body, bodyLine, diagnostics } = parse(`${HEAD}\n# Forms\n`);
    expect(head?.name).toBe('pdf-forms');
    expect({ body, bodyLine, diagnostics }).toEqual({ body: '\n# Forms\n', bodyLine: 5, diagnostics: [] });
  });

  it('without frontmatter is all body, and one report', () => {
    const { head, body, bodyLine, ...rest } = parse('# Forms\n');
    expect({ head, body, bodyLine, places: placesOf(rest) }).toEqual({
      head: undefined,
      body: '# Forms\n',
      bodyLine: 1,
      places: ['frontmatter/missing@1:1'],
    });
  });

  it('without an end of its frontmatter has no body, and one report', () => {
    const { body, ...rest } = parse('---\nname: x\n');
    expect({ body, places: placesOf(rest) }).toEqual({ body: '', places: ['frontmatter/unterminated@1:1'] });
  });

  it.each([
    ['nothing', HEAD, 'body/empty@5:1'],
    ['only blank lines', `${HEAD}\n\n  \n`, 'body/empty@5:1'],
    ['501 lines', `${HEAD}${'x\n'.repeat(501)}`, 'body/too-long@505:1'],
    ['40,001 characters', `${HEAD}${'数'.repeat(40_001)}`, 'body/too-long@5:1'],
    ['a zero-width space', `${HEAD}# Fo\u200brms\n`, 'body/hidden-characters@5:5'],
    ['a terminal escape', `${HEAD}a\nb\x1b[2J\n`, 'body/hidden-characters@6:2'],
  ])('whose body is %s is told', (_, text, place) => {
    expect(placesOf(parse(text))).toEqual([place]);
  });

  verifies('FMT-8', 'a body of 500 lines or 40,000 characters is within the limits, which can be set', () => {
    expect(placesOf(parse(`${HEAD}${'x\n'.repeat(500)}\n\n`))).toEqual([]);
    expect(placesOf(parse(`${HEAD}${'x'.repeat(40_000)}`))).toEqual([]);
    expect(placesOf(parse(`${HEAD}a\nb\nc\n`, { maxBodyLines: 2 }))).toEqual(['body/too-long@7:1']);
    expect(placesOf(parse(`${HEAD}abc`, { maxBodyCharacters: 2 }))).toEqual(['body/too-long@5:1']);
  });

  it('with hidden characters comes with an edit that removes them all', () => {
    const text = `${HEAD}a\u200bb\r\nc\u202ed\r\ne\r\n`;
    const [diagnostic] = parse(text).diagnostics;
    const { offset = 0, length = 0, text: replacement = '' } = diagnostic?.edit ?? {};
    expect(parse(text.slice(0, offset) + replacement + text.slice(offset + length)).diagnostics).toEqual([]);
  });

  it('is read whatever it is', () => {
    fc.assert(
      fc.property(anyText, anyText, (head, body) => {
        const text = `---\n${head}\n---\n${body}`;
        expect(text.endsWith(parse(text).body)).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('localLinks', () => {
  const targets = (body: string): readonly string[] => localLinks(body, 1).map((link) => link.target);

  it('says where each target stands in the file', () => {
    expect(localLinks('see [a](references/a.md)\n\nand `scripts/b.py --x`', 10)).toEqual([
      { target: 'references/a.md', line: 10, column: 9 },
      { target: 'scripts/b.py', line: 12, column: 6 },
    ]);
  });

  it.each([
    ['![an image](assets/a.png "title")', ['assets/a.png']],
    ['[dot](./a.md) and [up](../b.md)', ['a.md', '../b.md']],
    ['[spaced](<a b.md>) [escaped](a%20b.md)', ['a b.md', 'a b.md']],
    ['[anchor](a.md#part) [query](b.md?x)', ['a.md', 'b.md']],
    ['[ref]: references/c.md', ['references/c.md']],
    ['[round](a_(b).md)', ['a_(b).md']],
    ['`./scripts/x.sh`', ['scripts/x.sh']],
    ['``assets/x`y.md``', ['assets/x`y.md']],
    ['`reference/d.md`, `assets/e.txt`', ['reference/d.md', 'assets/e.txt']],
    ['[broken](%zz.md)', ['%zz.md']],
  ])('finds %s', (body, expected) => {
    expect(targets(body)).toEqual(expected);
  });

  it.each([
    '[web](https://a.b/c.md) [mail](mailto:a@b) [data](data:text/plain,x)',
    '[here](#part) [empty]() [root](/etc/passwd) [home](~/x)',
    '`scripts/` `scripts/<name>.py` `scripts/*.py` `references/{x}.md` `$HOME/scripts/x`',
    '`python scripts/x.py` `[a](b.md)`',
    '```\n[a](b.md)\n`scripts/x`\n```',
    '~~~md\n```\n[a](b.md)\n~~~',
    '  ```sh\n  `scripts/x`\n  ```',
  ])('finds nothing in %j', (body) => {
    expect(targets(body)).toEqual([]);
  });

  it('goes on after a fence is closed, and not after one that is not', () => {
    expect(targets('```\nx\n```\n[a](b.md)')).toEqual(['b.md']);
    expect(targets('```\nx\n[a](b.md)')).toEqual([]);
    expect(targets('````\n```\n[a](b.md)\n````\n[c](d.md)')).toEqual(['d.md']);
  });
});
