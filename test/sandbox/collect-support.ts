import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { scratch } from '../skills/registry/support.ts';

export interface MadeWorkspace {
  /** Beside the workspace: nothing of it may ever be seen. */
  readonly outside: string;
  readonly root: string;
}

export const SECRET = 'what lies outside';

/** A workspace with files by their paths in it, and a secret beside it. */
export function makeWorkspace(files: Readonly<Record<string, string | Uint8Array>> = {}): MadeWorkspace {
  const base = scratch();
  const root = path.join(base, 'workspace');
  const outside = path.join(base, 'outside');
  for (const folder of ['skills', 'work/inputs', 'runs', 'out'])
    mkdirSync(path.join(root, folder), { recursive: true });
  mkdirSync(outside);
  writeFileSync(path.join(outside, 'secret.txt'), SECRET);
  writeFileSync(path.join(root, 'metadata.json'), '{"host":"/secret/path"}');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
  return { root, outside };
}
