/** Text that tools give, between marks that it cannot end: they carry the hash of what stands between them, which no text can hold. */
import { sha256 } from '../platform/hash.ts';

const HASH_LENGTH = 16;

export function markedData(tool: string, text: string): string {
  const name = sha256(`${tool}\n${text}`).slice(0, HASH_LENGTH);
  return `[data ${name} from ${tool}]\n${text}\n[end of data ${name}]`;
}
