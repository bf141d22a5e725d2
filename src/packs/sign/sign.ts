/** Signs packs and verifies signatures of pinned keys, in minisign's format. */
import { createHash, hash as hashAtOnce, sign, verify } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

import { compareText, problemError, quoted, ARCHIVE_LIMITS } from '#core';
import { parseSignature, formatSignature, type MinisignPublicKey, type MinisignSignature } from './minisign.ts';
import type { PackManifest } from '../pack/manifest.ts';
import { findRefusal, orRefusal, packRefusal, readRefusal, refused, type PackRefusal } from '../problems.ts';
import {
  formatPackComment,
  isSignableVersion,
  parsePackComment,
  type PackComment,
  type SignedSkill,
} from './signed-comment.ts';
import { writeWholeText } from '../whole-file.ts';
import { publicKeyObject, type SigningKey } from './secret-key.ts';
import type { PinnedKey } from './keys.ts';
import { OPEN_FLAGS } from '#platform';

export const SIGNATURE_SUFFIX = '.minisig';

export interface SignPackOptions {
  /** A pack or a manifest. */
  readonly file: string;
  readonly manifest: PackManifest;
  readonly key: SigningKey;
  readonly now?: Date;
  /** Output file (default: beside the signed file). */
  readonly out?: string;
  readonly force?: boolean;
  /** Does everything except writing. */
  readonly dryRun?: boolean;
}

export interface SignedPack {
  readonly type: 'signed';
  readonly path: string;
  readonly keyId: string;
  readonly comment: PackComment;
  readonly text: string;
}

/** Writes `<file>.minisig`. Every skill needs a version; otherwise the signature would also be valid for an older pack. */
export function signPack(options: SignPackOptions): SignedPack | PackRefusal {
  return orRefusal(() => {
    const { file, manifest, key, now = new Date(), out = file + SIGNATURE_SUFFIX, force = false } = options;
    const skills = signableSkills(manifest);
    const sums = hashPayload({ file });
    const comment: PackComment = { skills, sha256: sums.sha256, time: `${now.toISOString().slice(0, 19)}Z` };
    const text = signed(sums, key, formatPackComment(comment));
    if (options.dryRun !== true) writeWholeText(out, text, { force });
    return { type: 'signed', path: out, keyId: key.id, comment, text };
  });
}

function signableSkills({ skills }: PackManifest): readonly SignedSkill[] {
  return skills
    .map(({ name, version }) => {
      if (version === undefined) throw refused('pack/version', `the skill ${quoted(name)} has no version`, name);
      if (!isSignableVersion(version))
        throw refused('pack/version', `the skill ${quoted(name)} has the invalid version ${quoted(version)}`, name);
      return { name, version };
    })
    .sort((a, b) => compareText(a.name, b.name));
}

export interface VerifyOptions {
  readonly payload: Payload;
  /** Text of the signature; undefined without a signature. */
  readonly signature: string | undefined;
  readonly keys: readonly PinnedKey[];
  /** The skills in the payload. The signature must name exactly these, with their versions. */
  readonly skills?: readonly { readonly name: string; readonly version?: string }[];
}

export interface VerifiedSignature {
  readonly type: 'verified';
  readonly keyId: string;
  /** The user's name for the key. */
  readonly keyName: string;
  /** Hash of the verified bytes, in hex. The bytes that are unpacked later must be these. */
  readonly sha256: string;
  /** The signed comment; `comment` is its parsed form, if it is one of ours. */
  readonly trustedComment: string;
  readonly comment?: PackComment;
}

/** Verifies that a pinned key signed these bytes for these skills. */
export function verifySignature(options: VerifyOptions): VerifiedSignature | PackRefusal {
  return orRefusal(() => verified(options));
}

function verified({ payload, signature: text, keys, skills }: VerifyOptions): VerifiedSignature | PackRefusal {
  if (text === undefined) return packRefusal('signature/missing', 'there is no signature');
  const signature = parseSignature(text);
  if (signature.type === 'invalid') return packRefusal('signature/invalid', `not a signature: ${signature.reason}`);
  // Ids are not unique, so all keys with this id are tried.
  const named = keys.filter(({ key }) => key.id === signature.keyId);
  if (named.length === 0)
    return packRefusal('signature/unknown-key', `signed with the key ${signature.keyId}, which is not pinned`);
  const sums = hashPayload(payload);
  const signer = named.find(({ key }) => isSignedBy(key, signature, { payload, sums }));
  if (signer === undefined)
    return packRefusal('signature/invalid', `the signature of the key ${signature.keyId} does not match these bytes`);
  const comment = parsePackComment(signature.trustedComment);
  const wrong = skills === undefined ? undefined : commentProblem(comment, skills, sums);
  if (wrong !== undefined) return packRefusal('signature/comment', wrong);
  return {
    type: 'verified',
    keyId: signature.keyId,
    keyName: signer.name,
    sha256: sums.sha256,
    trustedComment: signature.trustedComment,
    comment,
  };
}

function commentProblem(
  comment: PackComment | undefined,
  skills: NonNullable<VerifyOptions['skills']>,
  { sha256 }: PayloadSums,
): string | undefined {
  if (comment === undefined) return 'the signature names no skills and versions';
  if (comment.sha256 !== sha256) return 'the signature is for other bytes';
  const versions = new Map(comment.skills.map(({ name, version }) => [name, version]));
  for (const { name, version } of skills) {
    const stated = versions.get(name);
    if (stated === undefined) return `the signature is not for the skill ${quoted(name)}`;
    if (stated !== version)
      return `the signature is for version ${quoted(stated)} of ${quoted(name)}, not ${version === undefined ? 'for a skill without a version' : quoted(version)}`;
  }
  const absent = comment.skills.find(({ name }) => skills.every((skill) => skill.name !== name));
  return absent === undefined ? undefined : `the signature is also for the skill ${quoted(absent.name)}`;
}

export type Payload = Uint8Array | { readonly file: string };

export interface PayloadSums {
  readonly blake2b512: Buffer;
  readonly sha256: string;
}

const PIECE = 4 * 1024 * 1024;

/** Computes both hashes in one pass. Throws a refusal. */
export function hashPayload(payload: Payload): PayloadSums {
  if (payload instanceof Uint8Array)
    return { blake2b512: hashAtOnce('blake2b512', payload, 'buffer'), sha256: hashAtOnce('sha256', payload, 'hex') };
  const [long, short] = [createHash('blake2b512'), createHash('sha256')];
  eachPiece(payload.file, (bytes) => {
    long.update(bytes);
    short.update(bytes);
  });
  return { blake2b512: long.digest(), sha256: short.digest('hex') };
}

/** Formats a signature, which also covers the comment. */
export function signed(sums: PayloadSums, key: SigningKey, trustedComment: string): string {
  const signature = sign(null, sums.blake2b512, key.key);
  const globalSignature = sign(null, Buffer.concat([signature, Buffer.from(trustedComment, 'utf8')]), key.key);
  const untrustedComment = `signature from skillwright secret key ${key.id}`;
  return formatSignature({
    keyId: key.id,
    isPrehashed: true,
    signature,
    untrustedComment,
    trustedComment,
    globalSignature,
  });
}

/** Whether the key made this signature over these bytes and this comment. */
export function isSignedBy(
  { key }: MinisignPublicKey,
  signature: MinisignSignature,
  { payload, sums }: { readonly payload: Payload; readonly sums: PayloadSums },
): boolean {
  const object = publicKeyObject({ key });
  const message = signature.isPrehashed ? sums.blake2b512 : readPayload(payload);
  if (!verify(null, message, object, signature.signature)) return false;
  const comment = Buffer.concat([signature.signature, Buffer.from(signature.trustedComment, 'utf8')]);
  return verify(null, comment, object, signature.globalSignature);
}

/** Legacy signatures are computed over the bytes, not their hash. */
function readPayload(payload: Payload): Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  try {
    return readFileSync(payload.file);
  } catch (error) {
    throw problemError(readRefusal(error, payload.file));
  }
}

function eachPiece(file: string, take: (bytes: Buffer) => void): void {
  try {
    const descriptor = openSync(file, OPEN_FLAGS.namedFile);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) throw refused('source/failed', `${quoted(file, 200)} is not a file`, file);
      if (stats.size > ARCHIVE_LIMITS.maxArchiveBytes)
        throw refused('archive/too-large', `${quoted(file, 200)} is too large for a pack`, file);
      const buffer = Buffer.allocUnsafe(Math.min(PIECE, stats.size + 1));
      for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer))
        take(buffer.subarray(0, count));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw findRefusal(error) !== undefined ? error : problemError(readRefusal(error, file));
  }
}
