/**
 * Keeps a workspace here and its copy on a server the same, by what changed since the last look; both sides use it. Contents are in memory,
 * so it suits workspaces of up to some hundred megabytes.
 */
import { chmod, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

export type Entry =
  | { readonly type: 'folder'; readonly path: string; readonly mode: number }
  | { readonly type: 'file'; readonly path: string; readonly mode: number; readonly base64: string }
  | { readonly type: 'link'; readonly path: string; readonly target: string }
  | { readonly type: 'removed'; readonly path: string };

export interface Changes {
  readonly entries: readonly Entry[];
  /** What cannot be copied, for a person. */
  readonly skipped: readonly string[];
}

export interface Mirror {
  /** What changed in the folders that this side sends, since the last call of either function. */
  changes(): Promise<Changes>;
  /** Writes what changed on the other side. */
  apply(entries: readonly Entry[]): Promise<void>;
}

/** Folders that programs write to; the others go to the server only. */
export const WRITABLE: readonly string[] = ['work', 'out', 'runs', 'home'];
export const ALL: readonly string[] = ['skills', ...WRITABLE];

const topOf = (name: string): string => name.split('/')[0] ?? '';
/** A link that a program made leads wherever it wants, so only those of a skill are copied. */
const mayBeLink = (name: string): boolean => topOf(name) === 'skills';

export function openMirror(
  root: string,
  { sends, takes }: Readonly<Record<'sends' | 'takes', readonly string[]>>,
): Mirror {
  /** What each path was when both sides were the same. */
  const known = new Map<string, string>();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = last.then(act);
    last = turn.catch(() => undefined);
    return turn;
  };
  const stamp = async (name: string): Promise<string> => {
    const { ino, mode, size, ctimeNs } = await lstat(path.join(root, name), { bigint: true });
    // The times of a folder change with its entries, which are listed themselves.
    return (mode & 0o170_000n) === 0o040_000n ? `folder ${String(mode)}` : [ino, mode, size, ctimeNs].join(' ');
  };

  const look = async (name: string, seen: Map<string, string>, into: { entries: Entry[]; skipped: string[] }) => {
    try {
      const full = path.join(root, name);
      const [stats, mark] = [await lstat(full), await stamp(name)];
      const isNew = known.get(name) !== mark;
      const mode = stats.mode & 0o777;
      seen.set(name, mark);
      if (stats.isDirectory()) {
        if (isNew) into.entries.push({ type: 'folder', path: name, mode });
        for (const entry of await readdir(full)) await look(`${name}/${entry}`, seen, into);
      } else if (isNew && stats.isFile())
        into.entries.push({ type: 'file', path: name, mode, base64: await readFile(full, 'base64') });
      else if (isNew && stats.isSymbolicLink() && mayBeLink(name))
        into.entries.push({ type: 'link', path: name, target: await readlink(full) });
      else if (isNew) into.skipped.push(`${name} is neither a file nor a folder`);
    } catch (error) {
      // A program that still runs may have removed it or made it unreadable.
      if (!(error instanceof Error && 'code' in error)) throw error;
      if (error.code !== 'ENOENT') into.skipped.push(`${name} cannot be read: ${String(error.code)}`);
    }
  };

  const write = async (entry: Entry): Promise<void> => {
    const segments = entry.path.split('/');
    const isPlain = segments.every((one) => one !== '' && one !== '.' && one !== '..' && !/[\\\0]/.test(one));
    if (!takes.includes(topOf(entry.path)) || !isPlain || (entry.type === 'link' && !mayBeLink(entry.path)))
      throw new Error(`${JSON.stringify(entry.path)} is not accepted from the other side`);
    for (let depth = 1; depth < segments.length; depth += 1) {
      const parent = path.join(root, ...segments.slice(0, depth));
      if (!(await lstat(parent)).isDirectory()) throw new Error(`${JSON.stringify(parent)} is not a folder`);
    }
    const full = path.join(root, ...segments);
    const there = await lstat(full).catch(() => undefined);
    if (entry.type === 'removed' || (there !== undefined && there.isDirectory() !== (entry.type === 'folder')))
      await rm(full, { recursive: true, force: true });
    if (entry.type === 'removed') {
      known.delete(entry.path);
      return;
    }
    if (entry.type === 'folder') {
      await mkdir(full, { recursive: true });
      await chmod(full, entry.mode | 0o700);
    } else {
      // A rename replaces what is there and follows no link.
      const fresh = path.join(root, `.${String(process.pid)}.new`);
      if (entry.type === 'link') await symlink(entry.target, fresh);
      else await writeFile(fresh, Buffer.from(entry.base64, 'base64'), { flag: 'wx' });
      if (entry.type === 'file') await chmod(fresh, entry.mode);
      await rename(fresh, full);
    }
    known.set(entry.path, await stamp(entry.path));
  };

  return {
    changes: () =>
      inTurn(async () => {
        const found = { entries: new Array<Entry>(), skipped: new Array<string>() };
        const seen = new Map<string, string>();
        for (const folder of sends) await look(folder, seen, found);
        for (const name of known.keys())
          if (sends.includes(topOf(name)) && !seen.has(name)) {
            known.delete(name);
            found.entries.push({ type: 'removed', path: name });
          }
        for (const [name, mark] of seen) known.set(name, mark);
        return found;
      }),
    apply: (entries) =>
      inTurn(async () => {
        for (const entry of entries) await write(entry);
      }),
  };
}
