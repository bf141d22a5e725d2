import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { openArchive, type OpenArchiveOptions } from '../../../src/packs/archive/archive.ts';
import { scratch } from '../../skills/registry/support.ts';
import { harvest } from '../../platform/fs/tree-support.ts';

/** A place to extract to, with things around it that must not change. */
export interface Place {
  readonly archive: string;
  readonly to: string;
  /** All that lies around the target, without the target. */
  readonly outside: () => Readonly<Record<string, string>>;
}

export function place(bytes: Uint8Array, name = 'archive.bin'): Place {
  const base = scratch();
  const inner = path.join(base, 'one/two');
  mkdirSync(inner, { recursive: true });
  writeFileSync(path.join(base, 'precious'), 'precious');
  writeFileSync(path.join(inner, 'precious'), 'precious');
  const archive = path.join(base, name);
  writeFileSync(archive, bytes);
  const to = path.join(inner, 'to');
  const outside = (): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(harvest(base)).filter(([file]) => !file.startsWith('one/two/to') && file !== name),
    );
  return { archive, to, outside };
}

/** What came of an archive: a code, or the tree; and nothing else has changed, or it throws. */
export type Outcome =
  | { readonly code: string; readonly message: string }
  | { readonly tree: Readonly<Record<string, string>>; readonly leftOut: readonly string[] };

export async function unpack(bytes: Uint8Array, options: OpenArchiveOptions = {}): Promise<Outcome> {
  return unpackAt(place(bytes), options);
}

/** The same for one archive after another in one place. */
export async function unpackAgain(at: Place, bytes: Uint8Array): Promise<Outcome> {
  writeFileSync(at.archive, bytes);
  const outcome = await unpackAt(at, {});
  rmSync(at.to, { recursive: true, force: true });
  return outcome;
}

async function unpackAt({ archive, to, outside }: Place, options: OpenArchiveOptions): Promise<Outcome> {
  const before = outside();
  const opened = await openArchive(archive, options);
  if (opened.type === 'refused') return refusal(opened, to);
  try {
    const extracted = await opened.extract(to);
    if (JSON.stringify(outside()) !== JSON.stringify(before)) throw new Error('something outside has changed');
    if (extracted.type === 'refused') return refusal(extracted, to);
    return { tree: harvest(to), leftOut: opened.leftOut };
  } finally {
    opened.close();
  }
}

function refusal({ code, message }: { readonly code: string; readonly message: string }, to: string): Outcome {
  if (existsSync(to)) throw new Error(`refused with ${code}, but the target is there`);
  return { code, message };
}
