import { statSync } from 'node:fs';

import { writeFileAtomically } from './atomic-write.ts';
import { realPath } from './paths.ts';

/** Replaces a person's text file in one step, synced, with its permission bits; a link keeps pointing at what it points at. */
export function replaceText(file: string, text: string): void {
  const target = realPath(file);
  writeFileAtomically(target, Buffer.from(text, 'utf8'), { mode: statSync(target).mode & 0o777, sync: true });
}
