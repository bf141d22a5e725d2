import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readRequirement, readRequirements, requirementText } from '../../../src/packs/requires/requires.ts';
import { readHead } from '../../../src/skills/format/read-head.ts';
import { sourceOf } from '../../core/skill-source.ts';
import { runs } from '../../property-runs.ts';

const read = (frontmatter: string) => {
  const text = `---\nname: a\ndescription: d\n${frontmatter}\n---\nbody\n`;
  const { head, diagnostics } = readHead(sourceOf(text, { directory: 'a' }), { mode: 'strict' });
  if (head === undefined) throw new Error('no head');
  return { head, ...readRequirements(head), codes: diagnostics.map(({ code }) => code) };
};

describe('readRequirements', () => {
  test('reads requires.skills with names, ranges and sources, as text and as maps', () => {
    const { requirements, unread, head, codes } = read(
      [
        'requires:',
        '  bins: [jq]',
        '  env: API_KEY',
        '  skills:',
        '    - pdf',
        '    - "xlsx@>=1.2,<2"',
        '    - docx from owner/repo#v1',
        '    - {name: pptx, version: ^3, source: "npm:@scope/pptx"}',
      ].join('\n'),
    );
    expect(requirements).toEqual([
      { name: 'pdf' },
      { name: 'xlsx', range: '>=1.2,<2' },
      { name: 'docx', source: 'owner/repo#v1' },
      { name: 'pptx', range: '^3', source: 'npm:@scope/pptx' },
    ]);
    expect(unread).toEqual([]);
    expect(head.controls.requires?.slice(0, 3)).toEqual(['bin:jq', 'env:API_KEY', 'skill:pdf']);
    expect(codes).toEqual(['field/extension']);
  });

  test('reads skills of a plain list beside programs, and of metadata for files that every host accepts', () => {
    expect(read('requires: [jq, "skill:pdf", "skill: xlsx@2.x"]').requirements).toEqual([
      { name: 'pdf' },
      { name: 'xlsx', range: '2.x' },
    ]);
    expect(read('metadata:\n  requires-skills: "pdf, 3d-tools, xlsx@>=1,<2, docx from ./docx"').requirements).toEqual([
      { name: 'pdf' },
      { name: '3d-tools' },
      { name: 'xlsx', range: '>=1,<2' },
      { name: 'docx', source: './docx' },
    ]);
    expect(read('metadata:\n  requires-skills: [pdf, "xlsx@2"]').requirements).toEqual([
      { name: 'pdf' },
      { name: 'xlsx', range: '2' },
    ]);
  });

  test('removes duplicates and returns an empty list if there are no requirements', () => {
    expect(read('requires: ["skill:pdf", "skill:pdf", jq]').requirements).toEqual([{ name: 'pdf' }]);
    expect(read('requires: jq').requirements).toEqual([]);
    expect(read('license: MIT').requirements).toEqual([]);
  });

  test('a map with an unknown kind is reported and its known kinds are read', () => {
    const { requirements, codes } = read('requires:\n  skills: pdf\n  planets: [mars]');
    expect(requirements).toEqual([{ name: 'pdf' }]);
    expect(codes).toContain('field/type');
  });

  test('entries beyond the limit are reported and not parsed', () => {
    const many = Array.from({ length: 150 }, (_, at) => `skill:s${String(at)}`);
    const meta: Record<string, string> = Object.create(null);
    const controls = { disableModelInvocation: false, userInvocable: true, runMode: 'inline', requires: many } as const;
    const { requirements, unread } = readRequirements({ controls, meta });
    expect([requirements.length, unread]).toEqual([100, [{ entry: '', reason: 'there are more than 100 entries' }]]);
  });
});

describe('readRequirement', () => {
  test.each([
    ['../../etc', '"../../etc" does not start with a skill name'],
    ['', '"" does not start with a skill name'],
    ['Upper', '"Upper" does not start with a skill name'],
    [`a${'b'.repeat(70)}`, `"a${'b'.repeat(58)}…" does not start with a skill name`],
    ['pdf@latest', '"pdf@latest": "latest" is not a valid version range'],
    ['pdf@', '"pdf@": "" is not a valid version range'],
    ['pdf from', '"pdf from" has no source after "from"'],
    ['pdf from --upload-pack=x', '"pdf from --upload-pack=x" has no source after "from"'],
    ['pdf\u001b[2J', '"pdf\\x1b[2J" has invisible characters'],
    ['pdf from a\nb', '"pdf from a\\nb" has invisible characters'],
    ['p\u200bdf', '"p\\u{200b}df" has invisible characters'],
  ])('%j cannot be read', (entry, reason) => {
    expect(readRequirement(entry)).toEqual({ entry, reason });
  });

  test('a very long entry is truncated and refused', () => {
    const entry = `pdf@${' '.repeat(100_000)}x`;
    expect(readRequirement(entry)).toMatchObject({ reason: expect.stringContaining('more than 500 characters') });
  });

  test('a range may start with its operator instead of @', () => {
    expect(readRequirement('pdf>=2')).toEqual({ name: 'pdf', range: '>=2' });
    expect(readRequirement('pdf ^1.2 from x/y')).toEqual({ name: 'pdf', range: '^1.2', source: 'x/y' });
  });

  test('parsed requirements round-trip, and parsing never throws', () => {
    const written = fc.tuple(
      fc.constantFrom('pdf', 'a-b', '数据'),
      fc.constantFrom('', '@^1', '@>=1,<2', '>=2', '@x y'),
      fc.constantFrom('', ' from o/r', ' from npm:x@1'),
    );
    const entry = fc.oneof(
      fc.array(fc.nat({ max: 0xffff }), { maxLength: 12 }).map((codes) => String.fromCharCode(...codes)),
      written.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(entry, (text) => {
        const requirement = readRequirement(text);
        if (!('reason' in requirement)) expect(readRequirement(requirementText(requirement))).toEqual(requirement);
      }),
      { numRuns: runs(200) },
    );
  });
});
