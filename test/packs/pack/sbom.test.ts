import { describe, expect, test } from 'vitest';

import { packageUrl, formatSbom, makeSbom, type SbomSkill } from '../../../src/packs/pack/sbom.ts';
import { VERSION } from '../../../src/version.ts';

const sha256 = 'ab'.repeat(32);
const digest = `sha256-tree:${'cd'.repeat(32)}`;
const file = { sha256, bytes: 12 };
const skill = (name: string, more: Partial<SbomSkill> = {}): SbomSkill => ({
  name,
  digest,
  files: { 'SKILL.md': file },
  ...more,
});
const now = new Date('2026-01-31T12:00:00Z');

test('a skill with a script, what it needs, and one of text alone', () => {
  const report = skill('report', {
    version: '1.2.0',
    description: 'Writes reports.',
    license: 'apache-2.0',
    files: { 'scripts/run.sh': { ...file, executable: true }, 'SKILL.md': file },
    source: { type: 'git', url: 'https://user:secret@github.com/Acme/Skills.git', folder: 'skills/report' },
    revision: 'f'.repeat(40),
    requires: ['words', 'absent', 'words'],
    signedBy: '420457CD9EAAC2AC',
  });
  expect(makeSbom([skill('words'), report], { now })).toEqual({
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: expect.stringMatching(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
    version: 1,
    metadata: {
      timestamp: '2026-01-31T12:00:00Z',
      tools: { components: [{ type: 'application', name: 'skillwright', version: VERSION }] },
    },
    components: [
      {
        type: 'application',
        'bom-ref': 'skill:report',
        name: 'report',
        version: '1.2.0',
        description: 'Writes reports.',
        licenses: [{ license: { id: 'Apache-2.0' } }],
        purl: `pkg:github/acme/skills@${'f'.repeat(40)}#skills/report`,
        properties: [
          { name: 'skillwright:digest', value: digest },
          { name: 'skillwright:signedBy', value: '420457CD9EAAC2AC' },
        ],
        components: [
          {
            type: 'file',
            'bom-ref': 'skill:report/SKILL.md',
            name: 'SKILL.md',
            hashes: [{ alg: 'SHA-256', content: sha256 }],
          },
          {
            type: 'file',
            'bom-ref': 'skill:report/scripts/run.sh',
            name: 'scripts/run.sh',
            hashes: [{ alg: 'SHA-256', content: sha256 }],
            properties: [{ name: 'skillwright:executable', value: 'true' }],
          },
        ],
      },
      {
        type: 'data',
        'bom-ref': 'skill:words',
        name: 'words',
        properties: [{ name: 'skillwright:digest', value: digest }],
        components: [
          {
            type: 'file',
            'bom-ref': 'skill:words/SKILL.md',
            name: 'SKILL.md',
            hashes: [{ alg: 'SHA-256', content: sha256 }],
          },
        ],
      },
    ],
    dependencies: [
      { ref: 'skill:report', dependsOn: ['skill:words'] },
      { ref: 'skill:words', dependsOn: [] },
    ],
  });
});

test('the order of skills does not change the text', () => {
  const [a, b] = [skill('a'), skill('b')];
  expect(formatSbom(makeSbom([a, b], { now }))).toBe(formatSbom(makeSbom([b, a], { now })));
});

test.each([
  ['MIT', { license: { id: 'MIT' } }],
  ['MIT OR Apache-2.0', { expression: 'MIT OR Apache-2.0' }],
  ['(MIT AND ISC) OR 0BSD', { expression: '(MIT AND ISC) OR 0BSD' }],
  ['LGPL-3.0-or-later', { license: { id: 'LGPL-3.0-or-later' } }],
  ['lgpl-3.0-or-later', { license: { id: 'LGPL-3.0-or-later' } }],
  ['Python-2.0', { license: { id: 'Python-2.0' } }],
  ['GPL-2.0-only WITH Classpath-exception-2.0', { expression: 'GPL-2.0-only WITH Classpath-exception-2.0' }],
  ['Apache-2.0+', { expression: 'Apache-2.0+' }],
  ['later', { license: { name: 'later' } }],
  ['LGPL-3.0-or-', { license: { name: 'LGPL-3.0-or-' } }],
  ['MIT OR Nothing', { license: { name: 'MIT OR Nothing' } }],
  ['Complete terms in LICENSE.txt', { license: { name: 'Complete terms in LICENSE.txt' } }],
])('the license %s', (license, expected) => {
  expect(makeSbom([skill('a', { license })], { now }).components[0]?.licenses).toEqual([expected]);
});

describe('package URLs', () => {
  test.each([
    [{ type: 'npm', name: '@acme/skills' }, '1.0.0', 'pkg:npm/%40acme/skills@1.0.0'],
    [{ type: 'npm', name: 'skills' }, undefined, 'pkg:npm/skills'],
    [{ type: 'git', url: 'git@github.com:acme/skills.git' }, 'abc', 'pkg:github/acme/skills@abc'],
    [{ type: 'git', url: 'ssh://git@bitbucket.org/acme/skills' }, 'abc', 'pkg:bitbucket/acme/skills@abc'],
    [
      { type: 'git', url: 'https://token@git.example.com:8443/a/b.git' },
      'abc',
      'pkg:generic/demo?vcs_url=git%2Bhttps:%2F%2Fgit.example.com%2Fa%2Fb%40abc',
    ],
    [{ type: 'git', url: '/home/me/repo' }, 'abc', undefined],
    [{ type: 'git', url: 'https://github.com/acme/skills' }, undefined, undefined],
    [{ type: 'folder', path: '/home/me/demo' }, undefined, undefined],
    [{ type: 'url', url: 'https://example.com/demo.zip' }, undefined, undefined],
  ] as const)('%j at %s', (source, revision, expected) => {
    expect(packageUrl({ name: 'demo', source, revision })).toBe(expected);
  });
});
