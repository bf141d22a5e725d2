import { quoted } from '../../core/text/text.ts';
import { refused } from './refused.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A name as bytes. A zip without the mark for UTF-8 has an old code page by the letter, and UTF-8 in practice; what is neither is refused. */
export function decodeName(raw: Uint8Array): string {
  try {
    return UTF8.decode(raw);
  } catch {
    throw refused('archive/name', `the name ${quoted(Buffer.from(raw).toString('latin1'))} is not UTF-8`);
  }
}
