import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { formatManifest, readManifest } from '../../../src/packs/pack/manifest.ts';
import type { PackManifest } from '../../../src/packs/pack/manifest.ts';
import { verifies } from '../../conformance/verifies.ts';

const sha256 = 'ab'.repeat(32);
const digest = `sha256-tree:${'cd'.repeat(32)}`;
const file = { sha256, bytes: 12 };
const skill = { name: 'demo', digest, files: { 'SKILL.md': file } };
const text = (value: unknown): string => JSON.stringify(value);
const withFiles = (files: unknown): string => text({ schema: 1, skills: [{ ...skill, files }] });

test('it has one spelling, whatever order things were given in', () => {
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

test('what is written is read', () => {
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

test('JSON of somebody else with this name is no pack of ours', () => {
  expect(readManifest('{"manifest_version": 3, "name": "an extension"}')).toEqual({ type: 'foreign' });
});

test('a file may have the name of what every object has', () => {
  const read = readManifest(
    `{"schema":1,"skills":[{"name":"demo","digest":"${digest}","files":{"SKILL.md":${text(file)},"__proto__":${text(file)},"constructor":${text(file)}}}]}`,
  );
  expect(read.type).toBe('manifest');
  if (read.type !== 'manifest') return;
  expect(Object.keys(read.manifest.skills[0]?.files ?? {})).toEqual(['SKILL.md', '__proto__', 'constructor']);
  expect(formatManifest(read.manifest)).toContain('"__proto__"');
  expect(Object.hasOwn(Object.prototype, 'sha256')).toBe(false);
});

describe('a stranger’s manifest', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'it is no JSON'],
    ['{', 'it is no JSON'],
    ['null', 'it is no object'],
    ['[]', 'it is no object'],
    ['{"schema":2,"skills":[]}', 'it is of another version'],
    ['{"schema":1,"skills":[]}', 'it has no skills'],
    ['{"schema":1,"skills":{}}', 'it has no skills'],
    ['{"schema":1,"skills":[null]}', 'a skill of it is no object'],
    [text({ schema: 1, skills: [skill], more: 1 }), 'it has a field "more" that is not known'],
    ['{"schema":1,"skills":[],"__proto__":{}}', 'it has a field "__proto__" that is not known'],
    [text({ schema: 1, skills: [{ ...skill, name: '../demo' }] }), 'a skill of it has no valid name'],
    [text({ schema: 1, skills: [{ ...skill, name: 'Demo' }] }), 'a skill of it has no valid name'],
    [text({ schema: 1, skills: [skill, skill] }), 'a skill stands twice in it'],
    [text({ schema: 1, skills: [{ ...skill, version: 1 }] }), 'the skill "demo" has a version that is no text'],
    [text({ schema: 1, skills: [{ ...skill, digest: sha256 }] }), 'the skill "demo" has no digest'],
    [withFiles({}), 'the skill "demo" has no SKILL.md'],
    [withFiles([]), 'the skill "demo" has no SKILL.md'],
    [withFiles({ 'SKILL.md': { ...file, bytes: -1 } }), '"demo/SKILL.md" has no size'],
    [withFiles({ 'SKILL.md': { ...file, bytes: 1.5 } }), '"demo/SKILL.md" has no size'],
    [withFiles({ 'SKILL.md': { ...file, bytes: 2 ** 60 } }), '"demo/SKILL.md" has no size'],
    [withFiles({ 'SKILL.md': { ...file, bytes: '12' } }), '"demo/SKILL.md" has no size'],
    [withFiles({ 'SKILL.md': { ...file, sha256: 'AB'.repeat(32) } }), '"demo/SKILL.md" has no SHA-256'],
    [withFiles({ 'SKILL.md': { ...file, executable: false } }), '"demo/SKILL.md" is executable, or says nothing of it'],
    [withFiles({ 'SKILL.md': { ...file, mode: 511 } }), '"demo/SKILL.md" has a field "mode" that is not known'],
    [withFiles({ 'SKILL.md': file, '../../x': file }), '"demo/../../x" has .. in it'],
    [withFiles({ 'SKILL.md': file, 'a\\b': file }), '"demo/a\\b" has a backslash'],
    [withFiles({ 'SKILL.md': file, nul: file }), '"demo/nul" cannot exist on Windows: "nul"'],
    [withFiles({ 'SKILL.md': file, 'a/.mcp.json': file }), '"demo/a/.mcp.json" is never installed: hidden file'],
    [
      withFiles({ 'SKILL.md': file, 'e\u0301': file }),
      '"demo/e\u0301" is not composed, as the names of installed files are',
    ],
    [withFiles({ 'SKILL.md': file, 'skill.md': file }), 'two files of the skill "demo" are one on some systems'],
    [withFiles({ 'SKILL.md': file, a: file, 'A/b': file }), '"demo/A" is a file and a folder'],
    [
      `{"schema":1,"skills":[{"name":"demo","name":"demo","digest":"${digest}","files":{"SKILL.md":${text(file)}}}]}`,
      'a key stands twice in it',
    ],
  ];
  test.each(cases)('%# %s', (given, what) => {
    expect(readManifest(given)).toEqual({
      type: 'refused',
      code: 'pack/manifest',
      path: 'manifest.json',
      message: `manifest.json cannot be used: ${what}`,
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
