/** Files that were uploaded for runs. At most 200 are kept; the least useful one makes room for the next. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { sha256 } from '#platform';
import type { Uploaded } from './api/runs.ts';
import { httpError } from './http-error.ts';

export interface Uploads {
  /** Stores a file under a name of the schema `FileName`. Throws 429 if all others are new and were not used yet. */
  readonly store: (name: string, bytes: Uint8Array) => Uploaded;
  readonly find: (id: string) => string | undefined;
  /** Finds a file by its digest. */
  readonly findBytes: (digest: string) => string | undefined;
  /** A run has these files: they can go once it has ended. Until then `runs resume` may need them. */
  readonly use: (ids: readonly string[], run: string) => void;
  readonly remove: (id: string) => boolean;
}

interface Upload {
  readonly name: string;
  readonly digest: string;
  readonly at: number;
  run?: string;
}

const MAX_UPLOADS = 200;
/** A file that no run has used for this long was forgotten. */
const OLD_MS = 60 * 60 * 1_000;

export function openUploads(
  folder: () => string,
  { isRunning, now = Date.now }: { readonly isRunning: (run: string) => boolean; readonly now?: () => number },
): Uploads {
  // Oldest first.
  const uploads = new Map<string, Upload>();
  const remove = (id: string): boolean => {
    if (!uploads.delete(id)) return false;
    rmSync(path.join(folder(), id), { recursive: true, force: true });
    return true;
  };
  const makeRoom = (): void => {
    if (uploads.size < MAX_UPLOADS) return;
    const all = [...uploads];
    const [spare] =
      all.find(([, { run }]) => run !== undefined && !isRunning(run)) ??
      all.find(([, { run, at }]) => run === undefined && now() - at > OLD_MS) ??
      [];
    if (spare !== undefined) remove(spare);
    else
      throw httpError(
        429,
        `too many uploads: ${String(MAX_UPLOADS)} files wait for a run`,
        'start a run with them, or remove some: DELETE /uploads/{id}',
      );
  };
  return {
    store(name, bytes) {
      makeRoom();
      const [id, digest] = [randomUUID(), sha256(bytes)];
      mkdirSync(path.join(folder(), id), { recursive: true, mode: 0o700 });
      writeFileSync(path.join(folder(), id, name), bytes, { flag: 'wx', mode: 0o600 });
      uploads.set(id, { name, digest, at: now() });
      return { id, name, bytes: bytes.length, digest };
    },
    find(id) {
      const upload = uploads.get(id);
      return upload === undefined ? undefined : path.join(folder(), id, upload.name);
    },
    findBytes(digest) {
      const [id, upload] = [...uploads].find(([, one]) => one.digest === digest) ?? [];
      return upload === undefined ? undefined : path.join(folder(), id ?? '', upload.name);
    },
    use(ids, run) {
      for (const id of ids) {
        const upload = uploads.get(id);
        if (upload !== undefined) upload.run = run;
      }
    },
    remove,
  };
}
