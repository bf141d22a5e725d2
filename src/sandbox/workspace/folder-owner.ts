/** Which process a workspace folder belongs to. */

import path from 'node:path';

import { ownerName, writeFileAtomically, readPrivateFile, ownerOfName, type LockOwner } from '#platform';
export const OWNER_FILE = '.owner';

const MAX_BYTES = 4096;

/** `kept`: no process owns the folder, and cleanup must leave it alone. `unreadable`: the owner file is damaged. */
export type FolderOwner =
  | { readonly type: 'owned'; readonly owner: LockOwner }
  | { readonly type: 'kept' }
  | { readonly type: 'absent' }
  | { readonly type: 'unreadable' };

export function writeFolderOwner(folder: string, owner: LockOwner | 'kept'): void {
  const text = owner === 'kept' ? 'kept\n' : `${ownerName(owner)}\n`;
  writeFileAtomically(path.join(folder, OWNER_FILE), Buffer.from(text));
}

export function readFolderOwner(folder: string): FolderOwner {
  const read = readPrivateFile(path.join(folder, OWNER_FILE), { maxBytes: MAX_BYTES });
  if (read.type === 'absent') return { type: 'absent' };
  if (read.type === 'failed') return { type: 'unreadable' };
  const text = read.bytes.toString('utf8').trim();
  if (text === 'kept') return { type: 'kept' };
  const owner = ownerOfName(text);
  return owner === undefined ? { type: 'unreadable' } : { type: 'owned', owner };
}
