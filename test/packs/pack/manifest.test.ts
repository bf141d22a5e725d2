import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { formatManifest, readManifest, type PackManifest } from '../../../src/packs/pack/manifest.ts';
import { verifies } from '../../conformance/verifies.ts';

const sha256 = 'ab'.repeat(32);
const digest = `sha256-tree:${'cd'.repeat(32)}`;
const file = { sha256, bytes: 12 };
const skill = { name: 'demo', digest, files: { 'SKILL.md': file } };
const text = (value: unknown): string => JSON.stringify(value);
const withFiles = (files: unknown): string => text({ schema: 1, skills: [{ ...skill, files }] });

test('formatting is canonical, independent of the input order', () => {
  const one: PackManifest = {
    schema: 1,
    skills: [
      {
        name: 'b',
        digest,
        version: '1.0',
        files: { 'z.txt': file, 'SKILL.md': file, 'a/run.sh': { ...file, executable: true } },
      },
      { name: 'a', digest, files: { 'SKILL.md': file } },
    ],
  };
  const other: PackManifest = {
    schema: 1,
    skills: [
      { files: { 'SKILL.md': { bytes: 12, sha256 } }, name: 'a', digest },
      {
        name: 'b',
        version: '1.0',
        digest,
        files: { 'a/run.sh': { executable: true, ...file }, 'SKILL.md': file, 'z.txt': file },
      },
    ],
  };
  expect(formatManifest(other)).toBe(formatManifest(one));
  expect(formatManifest({ schema: 1, skills: [skill] })).toBe(`{
  "schema": 1,
  "skills": [
    {
      "name": "demo",
      "digest": "${digest}",
      "files": {
        "SKILL.md": {
          "sha256": "${sha256}",
          "bytes": 12
        }
      }
    }
  ]
}
`);
});

test('formatted values can be parsed', () => {
  const hex = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
  const locked = fc.record(
    { sha256: hex, bytes: fc.nat(), executable: fc.constant(true as const) },
    { requiredKeys: ['sha256', 'bytes'] },
  );
  const name = fc.stringMatching(/^[a-z0-9]{1,6}(?:_[a-z0-9]{1,4})?$/);
  const files = fc.dictionary(name, locked, { maxKeys: 6 }).map((more) => ({ ...more, 'SKILL.md': file }));
  const one = fc.record(
    {
      name: fc.stringMatching(/^[a-z]{1,6}[0-9]$/),
      version: fc.stringMatching(/^[0-9.]{1,5}$/),
      digest: hex.map((value) => `sha256-tree:${value}`),
      files,
    },
    { requiredKeys: ['name', 'digest', 'files'] },
  );
  const skills = fc.uniqueArray(one, { minLength: 1, maxLength: 4, selector: (each) => each.name });
  fc.assert(
    fc.property(skills, (list) => {
      const read = readManifest(formatManifest({ schema: 1, skills: list }));
      const sorted = list.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      expect(read).toEqual({ type: 'manifest', manifest: { schema: 1, skills: sorted } });
    }),
  );
});

test.each(['{}', '{"files": {}}', '{"files": []}', '{"name": "demo", "files": {}}', '{"schema": 1, "skills": []}'])(
  'a manifest that lists nothing is refused: %s',
  (text) => {
    expect(readManifest(text)).toMatchObject({ type: 'refused', code: 'pack/manifest' });
  },
);

test('other JSON with this file name is foreign', () => {
  expect(readManifest('{"manifest_version": 3, "name": "an extension"}')).toEqual({ type: 'foreign' });
});

test('a file may be named like a prototype property', () => {
  const read = readManifest(
    `{"schema":1,"skills":[{"name":"demo","digest":"${digest}","files":{"SKILL.md":${text(file)},"__proto__":${text(file)},"constructor":${text(file)}}}]}`,
  );
  expect(read.type).toBe('manifest');
  if (read.type !== 'manifest') return;
  expect(Object.keys(read.manifest.skills[0]?.files ?? {})).toEqual(['SKILL.md', '__proto__', 'constructor']);
  expect(formatManifest(read.manifest)).toContain('"__proto__"');
  expect(Object.hasOwn(Object.prototype, 'sha256')).toBe(false);
});

describe('an untrusted manifest', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'the file is not valid JSON'],
    ['{', 'the file is not valid JSON'],
    ['null', 'the manifest is not an object'],
    ['[]', 'the manifest is not an object'],
    ['{"schema":2,"skills":[]}', 'unknown schema version'],
    ['{"schema":1,"skills":[]}', 'there are no skills'],
    ['{"schema":1,"skills":{}}', 'there are no skills'],
    ['{"schema":1,"skills":[null]}', 'a skill is not an object'],
    [text({ schema: 1, skills: [skill], more: 1 }), 'the manifest has the unknown field "more"'],
    ['{"schema":1,"skills":[],"__proto__":{}}', 'the manifest has the unknown field "__proto__"'],
    [text({ schema: 1, skills: [{ ...skill, name: '../demo' }] }), 'a skill has an invalid name'],
    [text({ schema: 1, skills: [{ ...skill, name: 'Demo' }] }), 'a skill has an invalid name'],
    [text({ schema: 1, skills: [skill, skill] }), 'a skill occurs twice'],
    [text({ schema: 1, skills: [{ ...skill, version: 1 }] }), 'the skill "demo" has a version that is not a string'],
    [text({ schema: 1, skills: [{ ...skill, digest: sha256 }] }), 'the skill "demo" has no digest'],
    [withFiles({}), 'the skill "demo" has no SKILL.md'],
    [withFiles([]), 'the skill "demo" has no SKILL.md'],
    [withFiles({ 'SKILL.md': { ...file, bytes: -1 } }), '"demo/SKILL.md" has no size'],
    [withFiles({ 'SKILL.md': { ...file, bytes: 1.5 } }), '"demo/SKILL.md" has no size'],
    [withFiles({ 'SKILL.md': { ...file, bytes: 2 ** 60 } }), '"demo/SKILL.md" has no size'],
    [withFiles({ 'SKILL.md': { ...file, bytes: '12' } }), '"demo/SKILL.md" has no size'],
    [withFiles({ 'SKILL.md': { ...file, sha256: 'AB'.repeat(32) } }), '"demo/SKILL.md" has no SHA-256'],
    [
      withFiles({ 'SKILL.md': { ...file, executable: false } }),
      '"demo/SKILL.md" must have "executable": true or no such field',
    ],
    [withFiles({ 'SKILL.md': { ...file, mode: 511 } }), '"demo/SKILL.md" has the unknown field "mode"'],
    [withFiles({ 'SKILL.md': file, '../../x': file }), '"demo/../../x" contains ..'],
    [withFiles({ 'SKILL.md': file, 'a\\b': file }), '"demo/a\\b" has a backslash'],
    [withFiles({ 'SKILL.md': file, nul: file }), '"demo/nul" cannot exist on Windows: "nul"'],
    [withFiles({ 'SKILL.md': file, 'a/.mcp.json': file }), '"demo/a/.mcp.json" is never installed: hidden file'],
    [withFiles({ 'SKILL.md': file, 'e\u0301': file }), '"demo/e\u0301" is not in NFC, as installed file names are'],
    [
      withFiles({ 'SKILL.md': file, 'skill.md': file }),
      'two files of the skill "demo" are the same file on some systems',
    ],
    [withFiles({ 'SKILL.md': file, a: file, 'A/b': file }), '"demo/A" is both a file and a folder'],
    [
      `{"schema":1,"skills":[{"name":"demo","name":"demo","digest":"${digest}","files":{"SKILL.md":${text(file)}}}]}`,
      'a key occurs twice',
    ],
  ];
  test.each(cases)('%# %s', (given, what) => {
    expect(readManifest(given)).toEqual({
      type: 'refused',
      code: 'pack/manifest',
      path: 'manifest.json',
      message: `manifest.json is invalid: ${what}`,
      hint: 'manifest.json does not match the files: the pack was changed',
    });
  });

  test('is refused at once, however deep it is, and where a key that stands twice hides it', () => {
    const deep = '['.repeat(300_000) + ']'.repeat(300_000);
    const whole = text({ schema: 1, skills: [{ ...skill, version: '"name": \\" : {' }] });
    expect(readManifest(`{"schema":1,"skills":${deep}}`).type).toBe('refused');
    expect(readManifest(whole.replace('"name"', `"name":${deep},"name"`)).type).toBe('refused');
    expect(readManifest(whole.replace('"bytes"', '"byte\\u0073":1,"bytes"')).type).toBe('refused');
    for (const long of [`"${'a'.repeat(5_000_000)}"`, '"' + '\\"'.repeat(1_000_000), '{"a":'.repeat(100_000)])
      expect(readManifest(long).type).toBe('refused');
    expect(readManifest(whole).type).toBe('manifest');
  });

  verifies('PACK-1', 'any JSON is read as a manifest, as somebody else’s or not at all', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (given) => {
        expect(['foreign', 'refused']).toContain(readManifest(given).type);
      }),
    );
  });
});
