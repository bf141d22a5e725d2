/** Hashes a text that arrives in pieces; `digest` returns the hex hash of all of them and may be called once. */
export interface TextHash {
  update(text: string): void;
  digest(): string;
}

/**
 * SHA-256 in hex, of bytes or of the UTF-8 bytes of a text. `node:crypto` is loaded on the first call: loading takes milliseconds, and a
 * listing without changes does not need it.
 */
export function sha256(data: Uint8Array | string): string {
  return openSha256()(data);
}

/** The same for many calls. */
export function openSha256(): (data: Uint8Array | string) => string {
  const { hash } = process.getBuiltinModule('node:crypto');
  return (data) => hash('sha256', data, 'hex');
}

export function openTextHash(): TextHash {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  return {
    update: (text) => void hash.update(text),
    digest: () => hash.digest('hex'),
  };
}

/** A short hash for file names. Not collision-resistant: only for files that are validated by their content. */
export function nameHash(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x9dc5811c;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ (code + at), 0x01000193);
  }
  const hex = (part: number): string => (part >>> 0).toString(16).padStart(8, '0');
  return hex(low) + hex(high);
}
