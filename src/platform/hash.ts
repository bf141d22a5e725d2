import type * as NodeCrypto from 'node:crypto';

/** `node:crypto`, loaded on the first call: loading takes milliseconds, and a listing without changes does not need it. */
export function nodeCrypto(): typeof NodeCrypto {
  return process.getBuiltinModule('node:crypto');
}

/** SHA-256 in hex, of bytes or of the UTF-8 bytes of a text. */
export function sha256(data: Uint8Array | string): string {
  return (hashOnce ??= nodeCrypto().hash)('sha256', data, 'hex');
}

/** Kept, because finding the module takes longer than hashing a short text. */
let hashOnce: typeof NodeCrypto.hash | undefined;
