/** Signs packs and verifies signatures of pinned keys, in minisign's format. */
import { createHash, hash as hashAtOnce, sign, verify } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

import { ARCHIVE_LIMITS, compareText, problemError, quoted, isValidName } from '#core';
import { OPEN_FLAGS } from '#platform';
import {
  parseSignature,
  formatSignature,
  publicKeyObject,
  type MinisignPublicKey,
  type MinisignSignature,
  type SigningKey,
} from './minisign.ts';
import type { PackManifest } from '../pack/manifest.ts';
import { lockTime } from '../lock/lock-file.ts';
import { accepted, findRefusal, orRefusal, packRefusal, readRefusal, refused, type PackRefusal } from '../problems.ts';
import { writeWholeText } from '../whole-file.ts';
import { openSigningKey, type KeyChoice, type PinnedKey } from './keys.ts';

export const SIGNATURE_SUFFIX = '.minisig';

export interface SignPackOptions {
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
    const comment: PackComment = { skills, sha256: sums.sha256, time: lockTime(now) };
    const text = signed(sums, key, formatPackComment(comment));
    if (options.dryRun !== true) writeWholeText(out, text, { force });
    return { type: 'signed', path: out, keyId: key.id, comment, text };
  });
}

interface SignFileOptions extends Omit<SignPackOptions, 'manifest' | 'now' | 'key'> {
  readonly key: KeyChoice;
}

/** Signs a pack, or the manifest of a folder, which names the signed skills. Throws a refusal. */
export async function signPackFile({
  key,
  ...options
}: SignFileOptions): Promise<SignedPack & { readonly line: string }> {
  const { file } = options;
  const { readManifestOfPack, readPackManifest } = await import('../pack/read-pack-manifest.ts');
  const reading = accepted(file.endsWith('.json') ? readPackManifest(file) : await readManifestOfPack(file));
  if (reading.type !== 'manifest')
    throw refused(
      'pack/manifest',
      `${quoted(file, 200)} has no skillwright manifest; create the pack with skillwright pack`,
    );
  const signed = accepted(signPack({ ...options, manifest: reading.manifest, key: await openSigningKey(key) }));
  return { ...signed, line: formatPackComment(signed.comment) };
}

function signableSkills({ skills }: PackManifest): readonly SignedSkill[] {
  return skills
    .map(({ name, version }) => {
      if (version === undefined) throw refused('pack/version', `${quoted(name)} has no version`, name);
      if (!isSignableVersion(version))
        throw refused('pack/version', `${quoted(name)} has the invalid version ${quoted(version)}`, name);
      return { name, version };
    })
    .sort((a, b) => compareText(a.name, b.name));
}

export interface VerifyOptions {
  readonly payload: Payload;
  /** Text of the signature; undefined without a signature. */
  readonly signature: string | undefined;
  readonly keys: readonly Pick<PinnedKey, 'name' | 'key'>[];
  /** The skills in the payload. The signature must name exactly these, with their versions. */
  readonly skills?: readonly { readonly name: string; readonly version?: string }[];
}

export interface VerifiedSignature {
  readonly type: 'verified';
  readonly keyId: string;
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
function isSignedBy(
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

interface SignedSkill {
  readonly name: string;
  readonly version: string;
}

export interface PackComment {
  /** Sorted by name. */
  readonly skills: readonly SignedSkill[];
  /** Hash of the signed bytes, in hex. */
  readonly sha256: string;
  /** ISO 8601 to the second. */
  readonly time: string;
}

const START = 'skillwright pack';
const LINE = /^skillwright pack name=([^ =]+) version=([^ =]+) sha256=([0-9a-f]{64}) time=(\S+)$/;
const VERSION = /^[0-9A-Za-z](?:[0-9A-Za-z.+_-]{0,62}[0-9A-Za-z])?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Whether a version can be part of a signed comment: short, and without separators. */
export function isSignableVersion(version: string): boolean {
  return VERSION.test(version);
}

export function formatPackComment({ skills, sha256, time }: PackComment): string {
  const names = skills.map(({ name }) => name).join(',');
  const versions = skills.map(({ version }) => version).join(',');
  return `${START} name=${names} version=${versions} sha256=${sha256} time=${time}`;
}

/** Parses a canonical comment. Undefined for other lines. */
export function parsePackComment(line: string): PackComment | undefined {
  const [, names, versions, sha256, time] = LINE.exec(line) ?? [];
  if (names === undefined || versions === undefined || sha256 === undefined || time === undefined) return undefined;
  if (!TIME.test(time) || Number.isNaN(Date.parse(time))) return undefined;
  const [listed, stated] = [names.split(','), versions.split(',')];
  const skills = listed.map((name, at) => ({ name, version: stated[at] ?? '' }));
  const isWhole = listed.length === stated.length && new Set(listed).size === listed.length;
  if (!isWhole || !skills.every(({ name, version }) => isValidName(name) && isSignableVersion(version)))
    return undefined;
  return { skills, sha256, time };
}
