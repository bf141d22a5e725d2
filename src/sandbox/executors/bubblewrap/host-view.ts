import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';

import type { Identity } from '../../../core/execution.ts';
import { isDirectory, isInside, isPresent, isSystemError, tryRealPath } from '../../../platform/fs/paths.ts';
import { SKILL_LINKS } from '../../workspace/layout.ts';
import type { Shown } from './profile.ts';

/** Folders that are links into /usr on a merged system, and folders of their own on others. */
const TOP_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/**
 * What of /etc a program needs: the loader, alternatives, certificates, fonts, time, and settings of programs that do not start without.
 * Neither users nor hosts nor keys; /etc/ssl is not shown whole because of /etc/ssl/private. Each costs every run a mount.
 */
const ETC = [
  ['ld.so.cache', 'alternatives', 'ssl/certs', 'ssl/openssl.cnf', 'pki/ca-trust/extracted', 'pki/tls/certs'],
  [
    'crypto-policies',
    'localtime',
    'os-release',
    'mime.types',
    'fonts',
    'ImageMagick-6',
    'ImageMagick-7',
    'libreoffice',
  ],
  ['java-11-openjdk', 'java-17-openjdk', 'java-21-openjdk'],
].flat();

export interface HostViewOptions {
  /** Executables outside /usr that programs may use, with what is installed around them. */
  readonly interpreters: readonly string[];
  /** Folders that are never shown with all that is in them: the home folder. */
  readonly withheld: readonly string[];
  /** Who has to be able to reach what is shown; absent: ourselves. */
  readonly identity: Identity | undefined;
}

/** What programs see of this machine, found once. */
export function hostView({ interpreters, withheld, identity }: HostViewOptions): readonly Shown[] {
  const shown: Shown[] = [{ type: 'bind', source: '/usr', target: '/usr' }];
  for (const name of TOP_FOLDERS) {
    const folder = `/${name}`;
    const link = linkTarget(folder);
    if (link !== undefined) shown.push({ type: 'link', leadsTo: link, target: folder });
    else if (isDirectory(folder)) shown.push({ type: 'bind', source: folder, target: folder });
  }
  for (const name of ETC) {
    const file = `/etc/${name}`;
    const real = tryRealPath(file);
    if (real === undefined || !isReachable(real, identity)) continue;
    // What lies in /usr is there already.
    if (isInside(real, '/usr')) shown.push({ type: 'link', leadsTo: real, target: file });
    else shown.push({ type: 'bind', source: real, target: file });
  }
  for (const interpreter of interpreters) {
    const place = installedPlace(interpreter, withheld);
    if (place === undefined || shown.some(({ target }) => isInside(place, target)) || !isReachable(place, identity))
      continue;
    shown.push({ type: 'bind', source: place, target: place });
  }
  return shown;
}

/**
 * What has to be shown for an executable: the folder it was installed into where that is plainly one (`bin/` beside `lib/`), else the
 * file alone. `~/bin/node` must not show the home folder.
 */
export function installedPlace(executable: string, withheld: readonly string[]): string | undefined {
  const real = tryRealPath(executable);
  if (real === undefined) return undefined;
  const prefix = path.dirname(path.dirname(real));
  const isInstallation = path.basename(path.dirname(real)) === 'bin' && isDirectory(path.join(prefix, 'lib'));
  // A folder that a withheld one lies in, or is, or that stands right below the root, holds other things too.
  const isWide =
    path.dirname(prefix) === '/' || withheld.some((folder) => isInside(tryRealPath(folder) ?? folder, prefix));
  return isInstallation && !isWide ? prefix : real;
}

/** Every folder on the way may be passed by this user. Only the rights of others are looked at: bubblewrap itself decides. */
function isReachable(file: string, identity: Identity | undefined): boolean {
  if (identity === undefined) return true;
  try {
    for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
      const { mode, uid } = statSync(folder);
      if ((mode & (uid === identity.uid ? 0o100 : 0o001)) === 0) return false;
      if (folder === path.dirname(folder)) return true;
    }
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

function linkTarget(file: string): string | undefined {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(file) : undefined;
}

/** Entries of a skill's folder that are still shown one by one. */
const MAX_ENTRIES = 512;

/**
 * A skill's snapshot at `skills/<name>`. Where its links into the workspace are missing from it, its entries are shown one by one, with
 * the links beside them. A name of the skill's own goes before a link.
 */
export function skillView(snapshot: string, target: string): readonly Shown[] {
  const entries = readdirSync(snapshot, { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  const missing = Object.entries(SKILL_LINKS).filter(([name]) => !names.has(name));
  // Names that are no UTF-8 cannot be given as arguments; the whole folder can.
  const isPlain = entries.every(({ name }) => !name.includes('\uFFFD'));
  if (missing.length === 0 || entries.length > MAX_ENTRIES || !isPlain)
    return [{ type: 'bind', source: snapshot, target }];
  return [
    ...entries.map((entry): Shown => {
      const source = path.join(snapshot, entry.name);
      const at = `${target}/${entry.name}`;
      return entry.isSymbolicLink()
        ? { type: 'link', leadsTo: readlinkSync(source), target: at }
        : { type: 'bind', source, target: at };
    }),
    ...missing.map(([name, leadsTo]): Shown => ({ type: 'link', leadsTo, target: `${target}/${name}` })),
  ];
}

const PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap'];

/** Fixed places and not `PATH`: a program of that name in a project must not become the sandbox. */
export function findBubblewrap(): string | undefined {
  return PLACES.find((file) => isPresent(file));
}
