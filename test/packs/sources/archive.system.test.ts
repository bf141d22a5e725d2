import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { bring, mustBring, outcome, packAs, plantSource, skillText } from './bring-support.ts';
import { ARCHIVE_LIMITS } from '../../../src/core/config/config.ts';

const sha256 = (file: string): string => `sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}`;

describe('an archive as a source', () => {
  verifies('PACK-1', 'gives its skills, its digest, its manifest and its signature', async () => {
    const file = packAs('pack.zip', plantSource({ 'pdf/SKILL.md': skillText('pdf'), 'manifest.json': '{}' }));
    writeFileSync(`${file}.minisig`, 'untrusted comment: signature\nAAAA\n');
    const { result, to } = await bring({ type: 'archive', path: file });
    const folder = path.join(to, 'tree');
    expect(result).toEqual({
      type: 'staged',
      resolved: { source: file, kind: 'archive', archive: sha256(file) },
      folder,
      skills: [{ folder: 'pdf', path: path.join(folder, 'pdf'), name: 'pdf' }],
      unusable: [],
      leftOut: [],
      manifest: path.join(folder, 'manifest.json'),
      signature: {
        of: 'archive',
        text: 'untrusted comment: signature\nAAAA\n',
        payload: path.join(to, 'archive.zip'),
      },
    });
  });

  test('is unpacked by the name it has, and called like its file where it is itself a nameless skill', async () => {
    const source = plantSource({ 'SKILL.md': 'nameless' });
    for (const name of ['my-skill.skill', 'my-skill.tar.gz', 'my-skill.TGZ'.toLowerCase()])
      expect(
        (await mustBring({ type: 'archive', path: packAs(name, source) })).skills.map((skill) => skill.name),
      ).toEqual(['my-skill']);
  });

  test('is unpacked from a copy that nobody else can exchange', async () => {
    const file = packAs('a.tgz', plantSource({ 'a/SKILL.md': skillText('a') }));
    const exchange = ({ step }: { readonly step: string }): void => {
      if (step === 'unpack') writeFileSync(file, 'exchanged');
    };
    expect(await outcome({ type: 'archive', path: file }, { onProgress: exchange })).toEqual({ a: ['SKILL.md'] });
    expect(readFileSync(file, 'utf8')).toBe('exchanged');
  });

  test('must be the one of the lock', async () => {
    const file = packAs('a.tgz', plantSource({ 'a/SKILL.md': skillText('a') }));
    const source = { type: 'archive', path: file } as const;
    expect(await outcome(source, { expect: { archive: sha256(file) } })).toEqual({ a: ['SKILL.md'] });
    expect(await outcome(source, { expect: { archive: `sha256:${'0'.repeat(64)}` } })).toBe('source/digest');
  });

  test('is refused where it is missing, no file, too large, without a skill, or refused by the reader', async () => {
    const file = packAs('a.tgz', plantSource({ 'a/README.md': 'no skill' }));
    const folder = path.join(scratch(), 'x.zip');
    mkdirSync(folder);
    expect([
      await outcome({ type: 'archive', path: '/no/such.zip' }),
      await outcome({ type: 'archive', path: folder }),
      await outcome({ type: 'archive', path: file }, { limits: { ...ARCHIVE_LIMITS, maxArchiveBytes: 10 } }),
      await outcome({ type: 'archive', path: file }),
      await outcome({ type: 'archive', path: file }, { limits: { ...ARCHIVE_LIMITS, maxEntries: 1 } }),
    ]).toEqual(['source/missing', 'source/missing', 'archive/too-large', 'pack/no-skill', 'archive/too-many']);
  });

  test('needs no network, and every other source says that it does', async () => {
    const file = packAs('a.tgz', plantSource({ 'a/SKILL.md': skillText('a') }));
    expect(await outcome({ type: 'archive', path: file }, { offline: true })).toEqual({ a: ['SKILL.md'] });
    for (const text of ['https://host.example/a.zip', 'owner/repo', 'npm:a', 'https://host.example'])
      expect(await outcome(text, { offline: true })).toBe('source/not-offline');
  });
});
