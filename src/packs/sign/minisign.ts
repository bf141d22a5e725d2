/**
 * Parses and formats minisign public keys, secret keys and signatures. `sign.ts` does the cryptography. Only canonical text is accepted.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  scrypt,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';

import { findHidden } from '#core';

/** Why a text is not a key or signature, in lower case. */
export interface MinisignProblem {
  readonly type: 'invalid';
  readonly reason: string;
}

export interface MinisignPublicKey {
  readonly type: 'public-key';
  /** 16 hex digits, as minisign prints it. */
  readonly id: string;
  /** Ed25519, 32 bytes. */
  readonly key: Uint8Array;
}

export interface MinisignSignature {
  readonly type: 'signature';
  /** Claimed key id. Only the signature itself proves it. */
  readonly keyId: string;
  /** Signs the BLAKE2b-512 hash; the legacy format signs the bytes. */
  readonly isPrehashed: boolean;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  readonly untrustedComment: string;
  /** Covered by `globalSignature` together with `signature`. */
  readonly trustedComment: string;
  readonly globalSignature: Uint8Array;
}

export interface MinisignSecretKey {
  readonly type: 'secret-key';
  readonly comment: string;
  /** Absent if the key is not encrypted. */
  readonly encryption?: { readonly salt: Uint8Array; readonly opsLimit: number; readonly memLimit: number };
  /** Id, seed, public key and checksum: 104 bytes, possibly encrypted. */
  readonly box: Uint8Array;
}

const BOX_BYTES = 104;
const KEY_BYTES = 2 + 8 + 32;
const SIGNATURE_BYTES = 2 + 8 + 64;
const SECRET_BYTES = 6 + 32 + 16 + BOX_BYTES;
/** Limits of minisign. */
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

/** Parses a public key file, or its key line alone as for `minisign -P`. */
export function parsePublicKey(text: string): MinisignPublicKey | MinisignProblem {
  const lines = splitLines(text);
  const [first = '', second] = lines ?? [];
  const isAlone = lines?.length === 1;
  if (lines === undefined || lines.length > 2) return invalid('a public key has two lines');
  if (!isAlone && !isComment(first, UNTRUSTED, MAX_COMMENT))
    return invalid('the first line is not an untrusted comment');
  const bytes = fromBase64(isAlone ? first : (second ?? ''), KEY_BYTES);
  if (bytes === undefined || bytes.toString('latin1', 0, 2) !== ED25519)
    return invalid('the key is not a minisign key');
  return { type: 'public-key', id: formatKeyId(bytes.subarray(2, 10)), key: bytes.subarray(10) };
}

export function formatPublicKey(key: Pick<MinisignPublicKey, 'id' | 'key'>): string {
  return `${UNTRUSTED}minisign public key ${key.id}\n${publicKeyLine(key)}\n`;
}

/** The key as the one line that `minisign -P` takes. */
export function publicKeyLine({ id, key }: Pick<MinisignPublicKey, 'id' | 'key'>): string {
  return Buffer.concat([Buffer.from(ED25519), idBytes(id), key]).toString('base64');
}

export function parseSignature(text: string): MinisignSignature | MinisignProblem {
  const lines = splitLines(text);
  if (lines?.length !== 4) return invalid('a signature has four lines');
  const [untrusted = '', first = '', trusted = '', second = ''] = lines;
  if (!isComment(untrusted, UNTRUSTED, MAX_COMMENT)) return invalid('the first line is not an untrusted comment');
  if (!isComment(trusted, TRUSTED, MAX_TRUSTED_COMMENT)) return invalid('the third line is not a trusted comment');
  const bytes = fromBase64(first, SIGNATURE_BYTES);
  const kind = bytes === undefined ? '' : bytes.toString('latin1', 0, 2);
  if (bytes === undefined || (kind !== ED25519 && kind !== PREHASHED))
    return invalid('the second line is not a signature');
  const globalSignature = fromBase64(second, 64);
  if (globalSignature === undefined) return invalid('the fourth line is not a signature');
  return {
    type: 'signature',
    keyId: formatKeyId(bytes.subarray(2, 10)),
    isPrehashed: kind === PREHASHED,
    signature: bytes.subarray(10),
    untrustedComment: untrusted.slice(UNTRUSTED.length),
    trustedComment: trusted.slice(TRUSTED.length),
    globalSignature,
  };
}

export function formatSignature(signature: Omit<MinisignSignature, 'type'>): string {
  const kind = signature.isPrehashed ? PREHASHED : ED25519;
  const lines = [
    UNTRUSTED + signature.untrustedComment,
    Buffer.concat([Buffer.from(kind), idBytes(signature.keyId), signature.signature]).toString('base64'),
    TRUSTED + signature.trustedComment,
    Buffer.from(signature.globalSignature).toString('base64'),
  ];
  return `${lines.join('\n')}\n`;
}

export function parseSecretKey(text: string): MinisignSecretKey | MinisignProblem {
  const lines = splitLines(text);
  if (lines?.length !== 2) return invalid('a secret key has two lines');
  const [comment = '', line = ''] = lines;
  if (!isComment(comment, UNTRUSTED, MAX_COMMENT)) return invalid('the first line is not an untrusted comment');
  const bytes = fromBase64(line, SECRET_BYTES);
  if (bytes === undefined || bytes.toString('latin1', 0, 2) !== ED25519 || bytes.toString('latin1', 4, 6) !== BLAKE2B)
    return invalid('the key is not a minisign key');
  const key = { type: 'secret-key', comment: comment.slice(UNTRUSTED.length), box: bytes.subarray(54) } as const;
  const encryption = bytes.toString('latin1', 2, 4);
  if (encryption === NO_ENCRYPTION) return key;
  if (encryption !== SCRYPT) return invalid('unknown encryption');
  const [opsLimit, memLimit] = [bytes.readBigUInt64LE(38), bytes.readBigUInt64LE(46)];
  if (opsLimit > MAX_LIMIT || memLimit > MAX_LIMIT) return invalid('its scrypt limits are too high');
  return {
    ...key,
    encryption: { salt: bytes.subarray(6, 38), opsLimit: Number(opsLimit), memLimit: Number(memLimit) },
  };
}

/** Twice the values of minisign, because the file is untrusted until it is opened. */
const MAX_LIMIT = 2n ** 31n;

export function formatSecretKey({ comment, encryption, box }: Omit<MinisignSecretKey, 'type'>): string {
  const limits = Buffer.alloc(16);
  limits.writeBigUInt64LE(BigInt(encryption?.opsLimit ?? 0), 0);
  limits.writeBigUInt64LE(BigInt(encryption?.memLimit ?? 0), 8);
  const bytes = Buffer.concat([
    Buffer.from(ED25519 + (encryption === undefined ? NO_ENCRYPTION : SCRYPT) + BLAKE2B),
    encryption?.salt ?? Buffer.alloc(32),
    limits,
    box,
  ]);
  return `${UNTRUSTED}${comment}\n${bytes.toString('base64')}\n`;
}

/** Eight bytes in little-endian order, as minisign prints them. */
export function formatKeyId(bytes: Uint8Array): string {
  return Buffer.from(bytes).reverse().toString('hex').toUpperCase();
}

export function idBytes(id: string): Buffer {
  return Buffer.from(id, 'hex').reverse();
}

export function isKeyId(text: string): boolean {
  return /^[0-9A-F]{16}$/.test(text);
}

/** Splits at LF or CRLF. Undefined if the text is too long. */
function splitLines(text: string): readonly string[] | undefined {
  if (text.length > MAX_TEXT) return undefined;
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** Comments are shown to users, so they must not contain invisible characters. */
function isComment(line: string, start: string, most: number): boolean {
  return line.startsWith(start) && line.length <= start.length + most && findHidden(line) === undefined;
}

/** Decodes canonical base64 of exactly `length` bytes. */
function fromBase64(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined;
}

function invalid(reason: string): MinisignProblem {
  return { type: 'invalid', reason };
}

export interface SigningKey {
  readonly type: 'signing-key';
  readonly id: string;
  readonly key: KeyObject;
}

export type SecretKeyReading =
  | SigningKey
  /** `password`: it is missing or wrong. */
  | { readonly type: 'invalid'; readonly problem: 'shape' | 'password'; readonly reason: string };

/** DER prefixes for Ed25519 keys. */
const PRIVATE_START = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_START = Buffer.from('302a300506032b6570032100', 'hex');
const ALGORITHM = Buffer.from('Ed');
const SUM_BYTES = 32;
/** The values of minisign (libsodium's "sensitive"): 1 GiB and a few seconds per attempt. */
const STRONG: ScryptCost = { opsLimit: 33_554_432, memLimit: 1_073_741_824 };

interface ScryptCost {
  readonly opsLimit: number;
  readonly memLimit: number;
}

export interface NewKeyOptions {
  /** Without it the key is stored unencrypted, and everyone who can read the file can sign. */
  readonly password?: string;
  readonly cost?: ScryptCost;
}

export interface NewKey {
  readonly id: string;
  readonly publicText: string;
  readonly secretText: string;
}

export async function makeKey({ password, cost = STRONG }: NewKeyOptions = {}): Promise<NewKey> {
  const pair = generateKeyPairSync('ed25519');
  const seed = pair.privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PRIVATE_START.length);
  const key = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(PUBLIC_START.length);
  const idBytes = randomBytes(8);
  const id = formatKeyId(idBytes);
  const content = Buffer.concat([idBytes, seed, key]);
  const comment = `skillwright ${password === undefined ? '' : 'encrypted '}secret key ${id}`;
  const publicText = formatPublicKey({ id, key });
  if (password === undefined) {
    // minisign leaves the checksum of unencrypted keys empty.
    const box = Buffer.concat([content, new Uint8Array(SUM_BYTES)]);
    return { id, publicText, secretText: formatSecretKey({ comment, box }) };
  }
  const encryption = { salt: randomBytes(32), ...cost };
  const box = mixed(Buffer.concat([content, await checksum(content)]), await stream(password, encryption));
  return { id, publicText, secretText: formatSecretKey({ comment, encryption, box }) };
}

/** Opens a secret key. scrypt may take seconds and runs in the background. */
export async function openSecretKey(text: string, password?: string): Promise<SecretKeyReading> {
  const parsed = parseSecretKey(text);
  if (parsed.type === 'invalid') return { type: 'invalid', problem: 'shape', reason: parsed.reason };
  if (parsed.encryption === undefined) return signingKey(parsed.box);
  if (password === undefined) return { type: 'invalid', problem: 'password', reason: 'a password is required' };
  if (scryptNumbers(parsed.encryption) === undefined)
    return { type: 'invalid', problem: 'shape', reason: 'its scrypt parameters are invalid' };
  const box = mixed(parsed.box, await stream(password, parsed.encryption));
  const content = box.subarray(0, BOX_BYTES - SUM_BYTES);
  if (!timingSafeEqual(await checksum(content), box.subarray(content.length)))
    return { type: 'invalid', problem: 'password', reason: 'wrong password' };
  return signingKey(box);
}

/** The public key of a secret key, as one line of minisign. */
export function formatPublicLine({ id, key }: SigningKey): string {
  const bytes = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_START.length);
  return publicKeyLine({ id, key: bytes });
}

/** Converts 32 bytes to an Ed25519 key. */
export function publicKeyObject({ key }: Pick<MinisignPublicKey, 'key'>): KeyObject {
  return createPublicKey({ key: Buffer.concat([PUBLIC_START, key]), format: 'der', type: 'spki' });
}

function signingKey(box: Uint8Array): SecretKeyReading {
  const [seed, stated] = [box.subarray(8, 40), box.subarray(40, 72)];
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_START, seed]), format: 'der', type: 'pkcs8' });
  const own = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_START.length);
  // A signature with mismatched key halves would reveal the secret key.
  if (!timingSafeEqual(own, stated))
    return { type: 'invalid', problem: 'shape', reason: 'its secret and public parts do not match' };
  return { type: 'signing-key', id: formatKeyId(box.subarray(0, 8)), key };
}

/** BLAKE2b with 32 bytes. Node's crypto offers BLAKE2b with 64 bytes only. */
async function checksum(content: Uint8Array): Promise<Uint8Array> {
  const { blake2b } = await import('@noble/hashes/blake2.js');
  return blake2b(Buffer.concat([ALGORITHM, content]), { dkLen: SUM_BYTES });
}

function mixed(box: Uint8Array, stream: Uint8Array): Uint8Array {
  return box.map((byte, at) => byte ^ (stream[at] ?? 0));
}

async function stream(password: string, encryption: NonNullable<MinisignSecretKey['encryption']>): Promise<Buffer> {
  const numbers = scryptNumbers(encryption);
  if (numbers === undefined) throw new RangeError('invalid scrypt parameters');
  // Memory that scrypt needs in addition to its table.
  const options = { ...numbers, maxmem: 128 * numbers.r * (numbers.N + numbers.p + 2) + 1024 * 1024 };
  return new Promise((resolve, reject) => {
    scrypt(password, encryption.salt, BOX_BYTES, options, (error, bytes) => {
      if (error === null) resolve(bytes);
      else reject(error);
    });
  });
}

interface ScryptNumbers {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** Converts libsodium's limits to scrypt parameters, as libsodium does. Undefined if they are invalid. */
function scryptNumbers({ opsLimit, memLimit }: ScryptCost): ScryptNumbers | undefined {
  const r = 8;
  const operations = Math.max(opsLimit, 32_768);
  const isQuick = operations < memLimit / 32;
  const most = Math.floor(isQuick ? operations / (r * 4) : memLimit / (r * 128));
  let N = 2;
  while (N <= most / 2) N *= 2;
  const p = isQuick ? 1 : Math.floor(Math.floor(operations / 4 / N) / r);
  return p < 1 || p * r >= 2 ** 30 ? undefined : { N, r, p };
}
