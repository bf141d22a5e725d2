import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';

import {
  parsePublicKey,
  parseSignature,
  formatSignature,
  formatKeyId,
  makeKey,
  openSecretKey,
  type SigningKey,
} from '../../../src/packs/sign/minisign.ts';
import {
  formatPackComment,
  signPack,
  verifySignature,
  signed,
  hashPayload,
  type VerifiedSignature,
} from '../../../src/packs/sign/sign.ts';
import type { PackManifest } from '../../../src/packs/pack/manifest.ts';
import type { PinnedKey } from '../../../src/packs/sign/keys.ts';
import { readManifestOfPack } from '../../../src/packs/pack/read-pack-manifest.ts';
import type { PackRefusal } from '../../../src/packs/problems.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { ENCRYPTED, PAYLOAD, PLAIN } from '../pack/minisign-answers.ts';
import { packed, plantDemo, skillText } from '../pack/pack-world.ts';
import { runs } from '../../property-runs.ts';

const CHEAP = { opsLimit: 32_768, memLimit: 16 * 1024 * 1024 };
const SKILLS = [{ name: 'demo', version: '1.0.0' }];
const NOW = new Date('2026-01-31T12:00:00.500Z');

function pinned(publicText: string, name = 'author'): PinnedKey {
  const key = parsePublicKey(publicText);
  if (key.type === 'invalid') throw new Error(key.reason);
  return { name, key, line: '', at: '2026-01-01T00:00:00.000Z' };
}

async function opened(text: string, password?: string): Promise<SigningKey> {
  const key = await openSecretKey(text, password);
  if (key.type === 'invalid') throw new Error(key.reason);
  return key;
}

const codeOf = (result: VerifiedSignature | PackRefusal): string =>
  result.type === 'refused' ? result.code : result.type;

describe('keys and signatures of the minisign program', () => {
  const keys = [pinned(PLAIN.publicText), pinned(ENCRYPTED.publicText, 'other')];

  test.each([
    ['hashed', PLAIN.hashed, PLAIN.id, 'author', PLAIN.hashedComment],
    ['of the older kind', PLAIN.legacy, PLAIN.id, 'author', 'legacy'],
    ['of an encrypted key', ENCRYPTED.hashed, ENCRYPTED.id, 'other', 'from encrypted'],
  ])('are verified: %s', (_what, signature, keyId, keyName, trustedComment) => {
    const expected = { type: 'verified', keyId, keyName, sha256: hashPayload(PAYLOAD).sha256, trustedComment };
    expect(verifySignature({ payload: PAYLOAD, signature, keys })).toEqual(expected);
    const file = path.join(scratch(), 'payload.bin');
    writeFileSync(file, PAYLOAD);
    expect(verifySignature({ payload: { file }, signature, keys })).toEqual(expected);
  });

  test('a key without a password gives the signature that the program gave', async () => {
    const key = await opened(PLAIN.secretText);
    expect(key.id).toBe(PLAIN.id);
    const own = signed(hashPayload(PAYLOAD), key, PLAIN.hashedComment);
    // Ed25519 gives one signature for one text: all lines but the first, which nobody trusts, are the same.
    expect(own.split('\n').slice(1)).toEqual(PLAIN.hashed.split('\n').slice(1));
  });

  test('a signature without our comment covers no skill', () => {
    expect(verifySignature({ payload: PAYLOAD, signature: PLAIN.legacy, keys, skills: SKILLS })).toMatchObject({
      code: 'signature/comment',
      message: 'the signature names no skills and versions',
    });
  });
});

describe('secret keys of our own', () => {
  test('open only with their password', async () => {
    const { id, secretText } = await makeKey({ password: 'pass', cost: CHEAP });
    expect(await openSecretKey(secretText, 'pass')).toMatchObject({ type: 'signing-key', id });
    expect(await openSecretKey(secretText, 'Pass')).toEqual({
      type: 'invalid',
      problem: 'password',
      reason: 'wrong password',
    });
    expect(await openSecretKey(secretText)).toEqual({
      type: 'invalid',
      problem: 'password',
      reason: 'a password is required',
    });
  });

  test('with mismatched halves are refused', async () => {
    const [one, two] = [await makeKey(), await makeKey()];
    const mix = (text: string): Buffer => Buffer.from(text.split('\n')[1] ?? '', 'base64');
    const bytes = Buffer.concat([mix(one.secretText).subarray(0, 94), mix(two.secretText).subarray(94)]);
    expect(await openSecretKey(`untrusted comment: x\n${bytes.toString('base64')}\n`)).toEqual({
      type: 'invalid',
      problem: 'shape',
      reason: 'its secret and public parts do not match',
    });
  });
});

describe('a signed pack', () => {
  let author: SigningKey;
  let keys: readonly PinnedKey[];
  let other: SigningKey;

  beforeAll(async () => {
    const [one, two] = [await makeKey(), await makeKey()];
    author = await opened(one.secretText);
    other = await opened(two.secretText);
    keys = [pinned(two.publicText, 'other'), pinned(one.publicText)];
  });

  async function world(): Promise<{ base: string; file: string; manifest: PackManifest }> {
    const base = scratch();
    const dir = plantDemo(base);
    const file = path.join(base, 'demo.zip');
    const { manifest } = await packed({ skills: [{ dir, name: 'demo' }], out: file });
    return { base, file, manifest };
  }

  verifies('PACK-4', 'is verified for its skill and version, with a comment that names them', async () => {
    const { file } = await world();
    const read = await readManifestOfPack(file);
    if (read.type !== 'manifest') throw new Error(read.type);
    const result = signPack({ file, manifest: read.manifest, key: author, now: NOW });
    const { sha256 } = hashPayload({ file });
    const comment = { skills: SKILLS, sha256, time: '2026-01-31T12:00:00Z' };
    const trustedComment = `skillwright pack name=demo version=1.0.0 sha256=${sha256} time=2026-01-31T12:00:00Z`;
    expect(result).toEqual({
      type: 'signed',
      path: `${file}.minisig`,
      keyId: author.id,
      comment,
      text: readFileSync(`${file}.minisig`, 'utf8'),
    });
    const signature = readFileSync(`${file}.minisig`, 'utf8');
    expect(verifySignature({ payload: { file }, signature, keys, skills: SKILLS })).toEqual({
      type: 'verified',
      keyId: author.id,
      keyName: 'author',
      sha256,
      trustedComment,
      comment,
    });
  });

  verifies(
    'PACK-5',
    'is refused for another name, version or set of skills, without a signature, and for other bytes',
    async () => {
      const { file, manifest } = await world();
      const done = signPack({ file, manifest, key: author, now: NOW });
      const signature = done.type === 'signed' ? done.text : '';
      const verdict = (skills: readonly { name: string; version?: string }[], more = {}): string =>
        codeOf(verifySignature({ payload: { file }, signature, keys, skills, ...more }));
      expect({
        name: verdict([{ name: 'demon', version: '1.0.0' }]),
        version: verdict([{ name: 'demo', version: '0.9.0' }]),
        noVersion: verdict([{ name: 'demo' }]),
        more: verdict([...SKILLS, { name: 'extra', version: '1.0.0' }]),
        none: verdict([]),
        unsigned: verdict(SKILLS, { signature: undefined }),
        unpinned: verdict(SKILLS, { keys: keys.slice(0, 1) }),
        noKeys: verdict(SKILLS, { keys: [] }),
        bytes: verdict(SKILLS, { payload: PAYLOAD }),
        gone: verdict(SKILLS, { payload: { file: `${file}.gone` } }),
        nonsense: verdict(SKILLS, { signature: 'trust me' }),
      }).toEqual({
        name: 'signature/comment',
        version: 'signature/comment',
        noVersion: 'signature/comment',
        more: 'signature/comment',
        none: 'signature/comment',
        unsigned: 'signature/missing',
        unpinned: 'signature/unknown-key',
        noKeys: 'signature/unknown-key',
        bytes: 'signature/invalid',
        gone: 'source/missing',
        nonsense: 'signature/invalid',
      });
    },
  );

  test('a comment for other bytes is refused', async () => {
    const { file } = await world();
    const comment = formatPackComment({ skills: SKILLS, sha256: '0'.repeat(64), time: '2026-01-31T12:00:00Z' });
    const signature = signed(hashPayload({ file }), author, comment);
    expect(verifySignature({ payload: { file }, signature, keys, skills: SKILLS })).toMatchObject({
      code: 'signature/comment',
      message: 'the signature is for other bytes',
    });
  });

  test('the id of another pinned key makes it nobody’s', async () => {
    const { file, manifest } = await world();
    const done = signPack({ file, manifest, key: author });
    const signature = parseSignature(done.type === 'signed' ? done.text : '');
    if (signature.type === 'invalid') throw new Error(signature.reason);
    const swapped = formatSignature({ ...signature, keyId: other.id });
    expect(codeOf(verifySignature({ payload: { file }, signature: swapped, keys }))).toBe('signature/invalid');
    // A stranger's key may be given the id of a pinned one: the right one is still found.
    const [, second] = keys;
    if (second === undefined) throw new Error('no key');
    const twin: PinnedKey = {
      ...second,
      name: 'twin',
      key: { ...second.key, key: keys[0]?.key.key ?? new Uint8Array() },
    };
    const verified = verifySignature({
      payload: { file },
      signature: done.type === 'signed' ? done.text : '',
      keys: [twin, second],
    });
    expect(verified).toMatchObject({ type: 'verified', keyName: 'author' });
  });

  test('a comment and a signature of different signatures do not match', () => {
    const [one, two] = ['1.0.0', '2.0.0'].map((version) =>
      signed(hashPayload(PAYLOAD), author, `version ${version}`).split('\n'),
    );
    const mixed = [...(one ?? []).slice(0, 2), ...(two ?? []).slice(2, 3), ...(one ?? []).slice(3)].join('\n');
    expect(codeOf(verifySignature({ payload: PAYLOAD, signature: mixed, keys }))).toBe('signature/invalid');
  });

  verifies('PACK-5', 'any byte changed in the bytes, the signature or its comment is refused', () => {
    const signature = Buffer.from(
      signed(
        hashPayload(PAYLOAD),
        author,
        `skillwright pack name=demo version=1.0.0 sha256=${hashPayload(PAYLOAD).sha256} time=2026-01-31T12:00:00Z`,
      ),
    );
    // The first line is the one that nobody trusts.
    const start = signature.indexOf('\n') + 1;
    const flip = fc.record({ at: fc.nat(), by: fc.integer({ min: 1, max: 255 }), inPayload: fc.boolean() });
    const changed = (bytes: Buffer, at: number, by: number): Buffer => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ by;
      return copy;
    };
    fc.assert(
      fc.property(flip, ({ at, by, inPayload }) => {
        const payload = inPayload ? changed(PAYLOAD, at % PAYLOAD.length, by) : PAYLOAD;
        const text = inPayload ? signature : changed(signature, start + (at % (signature.length - start - 1)), by);
        expect(codeOf(verifySignature({ payload, signature: text.toString('utf8'), keys, skills: SKILLS }))).toMatch(
          /^signature\//,
        );
      }),
      { numRuns: runs(300) },
    );
    expect(codeOf(verifySignature({ payload: PAYLOAD, signature: signature.toString(), keys, skills: SKILLS }))).toBe(
      'verified',
    );
  });

  test('needs a version for each skill and a free output path', async () => {
    const { base, file, manifest } = await world();
    const [skill] = manifest.skills;
    if (skill === undefined) throw new Error('no skill');
    const { version: _, ...bare } = skill;
    expect(signPack({ file, manifest: { schema: 1, skills: [bare] }, key: author })).toEqual({
      type: 'refused',
      code: 'pack/version',
      path: 'demo',
      message: '"demo" has no version',
      hint: 'set metadata.version in SKILL.md, or "version" in plugin.json of a plugin: a signature is bound to a name and a version',
    });
    const odd = { schema: 1 as const, skills: [{ ...bare, version: '1,0' }] };
    expect(signPack({ file, manifest: odd, key: author })).toMatchObject({ code: 'pack/version' });
    writeFileSync(`${file}.minisig`, 'mine');
    expect(signPack({ file, manifest, key: author })).toMatchObject({ code: 'pack/exists' });
    expect(signPack({ file, manifest, key: author, force: true })).toMatchObject({ type: 'signed' });
    expect(readdirSync(base).toSorted()).toEqual(['demo', 'demo.zip', 'demo.zip.minisig']);
  });

  test('of several skills names each with its version', async () => {
    const base = scratch();
    const names = ['b', 'a'];
    for (const name of names)
      plantDemo(base, name, { 'SKILL.md': skillText(name, `metadata:\n  version: "${name}1"\n`) });
    const file = path.join(base, 'both.zip');
    const { manifest } = await packed({
      skills: names.map((name) => ({ name, dir: path.join(base, name) })),
      out: file,
    });
    const done = signPack({ file, manifest, key: author });
    const skills = [
      { name: 'a', version: 'a1' },
      { name: 'b', version: 'b1' },
    ];
    expect(done).toMatchObject({ type: 'signed', comment: { skills } });
    expect(
      verifySignature({ payload: { file }, signature: done.type === 'signed' ? done.text : '', keys, skills }),
    ).toMatchObject({ type: 'verified' });
    expect(formatKeyId(Buffer.alloc(8))).toBe('0000000000000000');
  });
});

test('a file that is not a zip has no manifest', async () => {
  const file = path.join(scratch(), 'x.zip');
  writeFileSync(file, 'no zip');
  expect(await readManifestOfPack(file)).toMatchObject({ code: 'archive/unreadable' });
  expect(await readManifestOfPack(`${file}.gone`)).toMatchObject({ code: 'source/missing' });
});
