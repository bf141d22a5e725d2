/** Signatures of minisign over bytes or files: Ed25519, with the hash of the bytes or, as older ones have it, with the bytes. */
import { createHash, hash as hashAtOnce, sign, verify } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

import { formatSignature, joined } from './minisign.ts';
import type { MinisignPublicKey, MinisignSignature } from './minisign.ts';
import { ARCHIVE_LIMITS } from '../../core/archive-limits.ts';
import { PackRefused, packRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { readRefusal } from '../system-refusal.ts';
import { publicKeyObject } from './secret-key.ts';
import type { SigningKey } from './secret-key.ts';
import { NAMED_FILE } from '../../platform/fs/open-flags.ts';

/** What is signed. */
export type Payload = Uint8Array | { readonly file: string };

export interface PayloadSums {
  readonly blake2b512: Buffer;
  /** Hex. */
  readonly sha256: string;
}

const PIECE = 4 * 1024 * 1024;

/** Both sums in one reading. Throws `PackRefused`. */
export function sumsOf(payload: Payload): PayloadSums {
  if (payload instanceof Uint8Array)
    return { blake2b512: hashAtOnce('blake2b512', payload, 'buffer'), sha256: hashAtOnce('sha256', payload, 'hex') };
  const [long, short] = [createHash('blake2b512'), createHash('sha256')];
  eachPiece(payload.file, (bytes) => {
    long.update(bytes);
    short.update(bytes);
  });
  return { blake2b512: long.digest(), sha256: short.digest('hex') };
}

/** The text of a signature; its comment is covered by it. */
export function signed(sums: PayloadSums, key: SigningKey, trustedComment: string): string {
  const signature = sign(null, sums.blake2b512, key.key);
  const globalSignature = sign(null, joined([signature, Buffer.from(trustedComment, 'utf8')]), key.key);
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

/** Whether a key made this signature, over these bytes, with this comment. */
export function isSignedBy(
  { key }: MinisignPublicKey,
  signature: MinisignSignature,
  { payload, sums }: { readonly payload: Payload; readonly sums: PayloadSums },
): boolean {
  const object = publicKeyObject({ key });
  const message = signature.isPrehashed ? sums.blake2b512 : wholeOf(payload);
  if (!verify(null, message, object, signature.signature)) return false;
  const comment = joined([signature.signature, Buffer.from(signature.trustedComment, 'utf8')]);
  return verify(null, comment, object, signature.globalSignature);
}

/** Signatures of the older kind are over all bytes at once. */
function wholeOf(payload: Payload): Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  try {
    return readFileSync(payload.file);
  } catch (error) {
    throw new PackRefused(readRefusal(error, payload.file));
  }
}

function eachPiece(file: string, take: (bytes: Buffer) => void): void {
  try {
    const descriptor = openSync(file, NAMED_FILE);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) throw new PackRefused(packRefusal('source/failed', `${quoted(file, 200)} is no file`, file));
      if (stats.size > ARCHIVE_LIMITS.maxArchiveBytes)
        throw new PackRefused(packRefusal('archive/too-large', `${quoted(file, 200)} is too large for a pack`, file));
      const buffer = Buffer.allocUnsafe(Math.min(PIECE, stats.size + 1));
      for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer))
        take(buffer.subarray(0, count));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw error instanceof PackRefused ? error : new PackRefused(readRefusal(error, file));
  }
}
