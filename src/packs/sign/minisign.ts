/**
 * The texts of minisign: public keys, secret keys and signatures, read and written. Nothing is computed here; `packs/sign/sign.ts`
 * signs and verifies. What is read must be exactly what would be written: one spelling for each key and each signature.
 */
import { hiddenCharacters } from '../../core/text/text.ts';

/** Why a text is no key or no signature: one clause, lower case. */
export interface MinisignProblem {
  readonly type: 'invalid';
  readonly reason: string;
}

export interface MinisignPublicKey {
  readonly type: 'public-key';
  /** As minisign prints it: 16 digits. */
  readonly id: string;
  /** Ed25519, 32 bytes. */
  readonly key: Uint8Array;
}

export interface MinisignSignature {
  readonly type: 'signature';
  /** Of the key that is said to have made it: nothing proves it but the signature itself. */
  readonly keyId: string;
  /** Over BLAKE2b-512 of the bytes; the older kind is over the bytes themselves. */
  readonly isPrehashed: boolean;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  readonly untrustedComment: string;
  /** Covered by `globalSignature`, together with `signature`. */
  readonly trustedComment: string;
  readonly globalSignature: Uint8Array;
}

/** A secret key as its file has it. */
export interface MinisignSecretKey {
  readonly type: 'secret-key';
  readonly comment: string;
  /** Absent: the key is not encrypted. */
  readonly encryption?: { readonly salt: Uint8Array; readonly opsLimit: number; readonly memLimit: number };
  /** Id, seed, public key and sum: 104 bytes, encrypted or not. */
  readonly box: Uint8Array;
}

export const BOX_BYTES = 104;
const KEY_BYTES = 2 + 8 + 32;
const SIGNATURE_BYTES = 2 + 8 + 64;
const SECRET_BYTES = 6 + 32 + 16 + BOX_BYTES;
/** What minisign reads of either comment. */
const MAX_COMMENT = 1_024;
const MAX_TRUSTED_COMMENT = 8_192;
const MAX_TEXT = 16_384;

const UNTRUSTED = 'untrusted comment: ';
const TRUSTED = 'trusted comment: ';
const ED25519 = 'Ed';
const PREHASHED = 'ED';
const SCRYPT = 'Sc';
const BLAKE2B = 'B2';
const NO_ENCRYPTION = '\0\0';

/** A file of minisign, or its second line alone, as `minisign -P` takes it. */
export function parsePublicKey(text: string): MinisignPublicKey | MinisignProblem {
  const lines = linesOf(text);
  const [first = '', second] = lines ?? [];
  const isAlone = lines?.length === 1;
  if (lines === undefined || lines.length > 2) return invalid('a public key has two lines');
  if (!isAlone && !isComment(first, UNTRUSTED, MAX_COMMENT)) return invalid('its first line is no untrusted comment');
  const bytes = fromBase64(isAlone ? first : (second ?? ''), KEY_BYTES);
  if (bytes === undefined || latin(bytes, 0, 2) !== ED25519) return invalid('its key is none of minisign');
  return { type: 'public-key', id: idOf(bytes.subarray(2, 10)), key: bytes.slice(10) };
}

export function formatPublicKey({ id, key }: Pick<MinisignPublicKey, 'id' | 'key'>): string {
  const line = toBase64(joined([ascii(ED25519), idBytes(id), key]));
  return `${UNTRUSTED}minisign public key ${id}\n${line}\n`;
}

/** The line that people pass on. */
export function publicKeyLine(key: Pick<MinisignPublicKey, 'id' | 'key'>): string {
  return toBase64(joined([ascii(ED25519), idBytes(key.id), key.key]));
}

export function parseSignature(text: string): MinisignSignature | MinisignProblem {
  const lines = linesOf(text);
  if (lines?.length !== 4) return invalid('a signature has four lines');
  const [untrusted = '', first = '', trusted = '', second = ''] = lines;
  if (!isComment(untrusted, UNTRUSTED, MAX_COMMENT)) return invalid('its first line is no untrusted comment');
  if (!isComment(trusted, TRUSTED, MAX_TRUSTED_COMMENT)) return invalid('its third line is no trusted comment');
  const bytes = fromBase64(first, SIGNATURE_BYTES);
  const kind = bytes === undefined ? '' : latin(bytes, 0, 2);
  if (bytes === undefined || (kind !== ED25519 && kind !== PREHASHED))
    return invalid('its second line is no signature');
  const globalSignature = fromBase64(second, 64);
  if (globalSignature === undefined) return invalid('its fourth line is no signature');
  return {
    type: 'signature',
    keyId: idOf(bytes.subarray(2, 10)),
    isPrehashed: kind === PREHASHED,
    signature: bytes.slice(10),
    untrustedComment: untrusted.slice(UNTRUSTED.length),
    trustedComment: trusted.slice(TRUSTED.length),
    globalSignature,
  };
}

export function formatSignature(signature: Omit<MinisignSignature, 'type'>): string {
  const kind = signature.isPrehashed ? PREHASHED : ED25519;
  const first = toBase64(joined([ascii(kind), idBytes(signature.keyId), signature.signature]));
  return `${UNTRUSTED}${signature.untrustedComment}\n${first}\n${TRUSTED}${signature.trustedComment}\n${toBase64(signature.globalSignature)}\n`;
}

export function parseSecretKey(text: string): MinisignSecretKey | MinisignProblem {
  const lines = linesOf(text);
  if (lines?.length !== 2) return invalid('a secret key has two lines');
  const [comment = '', line = ''] = lines;
  if (!isComment(comment, UNTRUSTED, MAX_COMMENT)) return invalid('its first line is no untrusted comment');
  const bytes = fromBase64(line, SECRET_BYTES);
  if (bytes === undefined || latin(bytes, 0, 2) !== ED25519 || latin(bytes, 4, 6) !== BLAKE2B)
    return invalid('its key is none of minisign');
  const key = { type: 'secret-key', comment: comment.slice(UNTRUSTED.length), box: bytes.slice(54) } as const;
  const encryption = latin(bytes, 2, 4);
  if (encryption === NO_ENCRYPTION) return key;
  if (encryption !== SCRYPT) return invalid('its encryption is not known');
  const limits = new DataView(bytes.buffer, bytes.byteOffset + 38, 16);
  const [opsLimit, memLimit] = [limits.getBigUint64(0, true), limits.getBigUint64(8, true)];
  if (opsLimit > MAX_LIMIT || memLimit > MAX_LIMIT) return invalid('opening it would take more than any key needs');
  return {
    ...key,
    encryption: { salt: bytes.slice(6, 38), opsLimit: Number(opsLimit), memLimit: Number(memLimit) },
  };
}

/** Twice what minisign uses: a key is a stranger's file until it is opened. */
const MAX_LIMIT = 2n ** 31n;

export function formatSecretKey({ comment, encryption, box }: Omit<MinisignSecretKey, 'type'>): string {
  const limits = new DataView(new ArrayBuffer(16));
  limits.setBigUint64(0, BigInt(encryption?.opsLimit ?? 0), true);
  limits.setBigUint64(8, BigInt(encryption?.memLimit ?? 0), true);
  const bytes = joined([
    ascii(ED25519 + (encryption === undefined ? NO_ENCRYPTION : SCRYPT) + BLAKE2B),
    encryption?.salt ?? new Uint8Array(32),
    new Uint8Array(limits.buffer),
    box,
  ]);
  return `${UNTRUSTED}${comment}\n${toBase64(bytes)}\n`;
}

/** Eight bytes, the last one first. */
export function idOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .reverse()
    .join('')
    .toUpperCase();
}

export function idBytes(id: string): Uint8Array {
  return Uint8Array.from(id.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)).reverse();
}

export function isKeyId(text: string): boolean {
  return /^[0-9A-F]{16}$/.test(text);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The lines of a short text, whichever of the two line ends it has; nothing where it is no such text. */
function linesOf(text: string): readonly string[] | undefined {
  if (text.length > MAX_TEXT) return undefined;
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** Comments are shown to people: nothing in one may hide or act. */
function isComment(line: string, start: string, most: number): boolean {
  return line.startsWith(start) && line.length <= start.length + most && hiddenCharacters(line) === undefined;
}

/** Bytes of exactly this length in their one spelling. */
function fromBase64(text: string, length: number): Uint8Array | undefined {
  if (text.length !== Math.ceil(length / 3) * 4 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return bytes.length === length && toBase64(bytes) === text ? bytes : undefined;
}

function toBase64(bytes: Uint8Array): string {
  return btoa(latin(bytes, 0, bytes.length));
}

function latin(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function invalid(reason: string): MinisignProblem {
  return { type: 'invalid', reason };
}
