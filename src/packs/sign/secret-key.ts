/** Creates and opens minisign secret keys, compatible with the minisign program. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  scrypt,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';

import {
  BOX_BYTES,
  formatPublicKey,
  formatSecretKey,
  formatKeyId,
  parseSecretKey,
  publicKeyLine,
  type MinisignPublicKey,
  type MinisignSecretKey,
} from './minisign.ts';

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

export interface ScryptCost {
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
