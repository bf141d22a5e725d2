import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import {
  formatSignature,
  parseSignature,
  makeKey,
  openSecretKey,
  type MinisignSignature,
  type NewKey,
  type SigningKey,
} from '../../src/packs/sign/minisign.ts';
import { isRefusal, type PackRefusal } from '../../src/packs/problems.ts';
import { openPinnedKeys } from '../../src/packs/sign/keys.ts';
import { signPack } from '../../src/packs/sign/sign.ts';
import type { Installed } from '../../src/packs/install/options.ts';
import { restoreLock, type Restored } from '../../src/packs/lock/restore-lock.ts';
import { verifies } from '../conformance/verifies.ts';
import { packed } from './pack/pack-world.ts';
import { packWorld, type PackWorld } from './support.ts';

interface Signer {
  readonly made: NewKey;
  readonly key: SigningKey;
}

async function signer(): Promise<Signer> {
  const made = await makeKey();
  const key = await openSecretKey(made.secretText);
  if (key.type === 'invalid') throw new Error(key.reason);
  return { made, key };
}

/** A world in which the keys of two authors are pinned. */
async function signedWorld(requireSigned: boolean): Promise<{
  readonly world: PackWorld;
  readonly author: Signer;
  readonly other: Signer;
  readonly stranger: Signer;
}> {
  const world = packWorld({ install: { require_signed: requireSigned } });
  const [author, other, stranger] = [await signer(), await signer(), await signer()];
  const keys = openPinnedKeys({ home: world.home });
  await keys.add('author', author.made.publicText);
  await keys.add('other', other.made.publicText);
  return { world, author, other, stranger };
}

/** Packs the skill `tables` in that version, and signs it where somebody is named; gives the file. */
async function pack({ skill, project }: PackWorld, version: string, by?: Signer, name = 'tables'): Promise<string> {
  const dir = skill(`v${version}/${name}`, { 'version.txt': version }, ['metadata:', `  version: "${version}"`]);
  const out = path.join(project, `${name}-${version}-${by?.key.id ?? 'unsigned'}.zip`);
  const { manifest } = await packed({ skills: [{ dir, name }], out });
  if (by !== undefined) {
    const signed = signPack({ file: out, manifest, key: by.key });
    if (isRefusal(signed)) throw new Error(signed.message);
  }
  return out;
}

function edited(file: string, change: (signature: MinisignSignature) => MinisignSignature): string {
  const signature = parseSignature(readFileSync(`${file}.minisig`, 'utf8'));
  if (signature.type === 'invalid') throw new Error(signature.reason);
  writeFileSync(`${file}.minisig`, formatSignature(change(signature)));
  return file;
}

const codeOf = (end: Installed | PackRefusal): string => (isRefusal(end) ? end.code : end.type);
const versionIn = ({ root }: PackWorld): string => readFileSync(path.join(root, 'tables/version.txt'), 'utf8');

describe('87: where a signature is wanted', () => {
  verifies('PACK-5', 'a pack is taken with that of a pinned key, and with nothing else', async () => {
    const { world, author, other, stranger } = await signedWorld(true);
    const ends: Record<string, string> = {};
    const attempt = async (what: string, file: string): Promise<void> => {
      ends[what] = codeOf(await world.install(file));
    };
    await attempt('unsigned', await pack(world, '1.0.0'));
    await attempt('a key that nobody pinned', await pack(world, '1.0.0', stranger));
    const asAuthor = edited(await pack(world, '1.1.0', stranger), (signature) => ({
      ...signature,
      keyId: author.key.id,
    }));
    await attempt('the id of a pinned key', asAuthor);
    const asOther = edited(await pack(world, '1.1.0', author), (signature) => ({ ...signature, keyId: other.key.id }));
    await attempt('the id of another pinned key', asOther);
    const comment = edited(await pack(world, '1.2.0', author), (signature) => ({
      ...signature,
      trustedComment: signature.trustedComment.replace('1.2.0', '9.9.9'),
    }));
    await attempt('another trusted comment', comment);
    const [older, newer] = [await pack(world, '1.3.0', author), await pack(world, '1.4.0', author)];
    copyFileSync(`${older}.minisig`, `${newer}.minisig`);
    await attempt('the signature of another pack', newer);
    const [changed, unsigned] = [await pack(world, '1.5.0', author), await pack(world, '1.7.0')];
    copyFileSync(unsigned, changed);
    await attempt('other bytes', changed);
    const cut = await pack(world, '1.6.0', author);
    writeFileSync(`${cut}.minisig`, readFileSync(`${cut}.minisig`, 'utf8').slice(0, 60));
    await attempt('half a signature', cut);
    expect(ends).toEqual({
      unsigned: 'signature/missing',
      'a key that nobody pinned': 'signature/unknown-key',
      'the id of a pinned key': 'signature/invalid',
      'the id of another pinned key': 'signature/invalid',
      'another trusted comment': 'signature/invalid',
      'the signature of another pack': 'signature/invalid',
      'other bytes': 'signature/invalid',
      'half a signature': 'signature/invalid',
    });
    expect(codeOf(await world.install(older))).toBe('installed');
    expect(versionIn(world)).toBe('1.3.0');
  });

  test('is wanted of what a lock names, too: an entry that says who signed proves nothing', async () => {
    const { world, author, stranger } = await signedWorld(true);
    const { root, settings } = world;
    const again = async (by?: Signer): Promise<Restored | PackRefusal> => {
      await world.install(await pack(world, '1.0.0', by), { settings: { ...settings, requireSigned: false } });
      rmSync(path.join(root, 'tables'), { recursive: true });
      const lockFile = path.join(root, 'skills.lock.json');
      const lock = readFileSync(lockFile, 'utf8');
      if (!lock.includes('signedBy'))
        writeFileSync(lockFile, lock.replace('"installedAt"', `"signedBy": "${author.key.id}", "installedAt"`));
      const done = await restoreLock({ settings });
      rmSync(root, { recursive: true });
      return done;
    };
    expect(await again()).toMatchObject({ type: 'refused', code: 'signature/missing' });
    expect(await again(stranger)).toMatchObject({ type: 'refused', code: 'signature/unknown-key' });
    expect(await again(author)).toMatchObject({ type: 'restored', brought: ['tables'], isDone: true });
  });

  test('it is for the skills and versions that its comment names', async () => {
    const { world, author } = await signedWorld(true);
    const dir = world.skill('x/tables', { 'version.txt': 'x' }, ['metadata:', '  version: "1.0.0"']);
    const out = path.join(world.project, 'lying.zip');
    const { manifest } = await packed({ skills: [{ dir, name: 'tables' }], out });
    const skills = manifest.skills.map((skill) => ({ ...skill, version: '7.0.0' }));
    signPack({ file: out, manifest: { ...manifest, skills }, key: author.key });
    expect(codeOf(await world.install(out))).toBe('signature/comment');
  });
});

describe('87: what follows a signed skill', () => {
  verifies('PACK-5', 'is no older one, no unsigned one and none of another key, unless somebody says so', async () => {
    const { world, author, other } = await signedWorld(false);
    expect(codeOf(await world.install(await pack(world, '1.2.0', author)))).toBe('installed');
    const ends: Record<string, readonly string[]> = {};
    const attempt = async (what: string, file: string): Promise<void> => {
      ends[what] = [codeOf(await world.install(file, { existing: 'replace' })), versionIn(world)];
    };
    await attempt('an older one', await pack(world, '1.1.0', author));
    await attempt('unsigned', await pack(world, '1.3.0'));
    await attempt('of another key', await pack(world, '1.3.0', other));
    await attempt('a newer one', await pack(world, '1.10.0', author));
    expect(ends).toEqual({
      'an older one': ['signature/rollback', '1.2.0'],
      unsigned: ['signature/downgrade', '1.2.0'],
      'of another key': ['signature/downgrade', '1.2.0'],
      'a newer one': ['installed', '1.10.0'],
    });
    const old = path.join(world.project, `tables-1.1.0-${author.key.id}.zip`);
    expect(codeOf(await world.install(old, { existing: 'replace', force: true }))).toBe('installed');
    expect(versionIn(world)).toBe('1.1.0');
  });
});
