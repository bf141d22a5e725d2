import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';

import { isDirectory, isInside, quietly, tryRealPath, namesIn } from '#platform';
import { SKILL_LINKS } from '../../workspace/layout.ts';
import { listOwnFolders } from '../../workspace/own-folders.ts';
import type { Identity } from '../../program-types.ts';
import { TOP_FOLDERS, type Runtime } from './runtimes.ts';

/** A file or folder of the host that programs see read-only, a symbolic link created for them, or an empty folder that covers another. */
export type Mount = VisibleMount | { readonly type: 'empty'; readonly target: string };

type VisibleMount =
  | { readonly type: 'bind'; readonly source: string; readonly target: string }
  | { readonly type: 'link'; readonly linkTarget: string; readonly target: string };

export interface SystemMountOptions {
  /** Language runtimes outside /usr that programs may use. */
  readonly runtimes: readonly Runtime[];
  /** The user who must be able to reach the mounted files; absent: the current user. */
  readonly identity: Identity | undefined;
}

/** The parts of this machine that programs see. */
export function systemMounts({ runtimes, identity }: SystemMountOptions): readonly Mount[] {
  const mounts: Mount[] = [{ type: 'bind', source: '/usr', target: '/usr' }];
  for (const name of TOP_FOLDERS) {
    const folder = `/${name}`;
    const linkTarget = readLinkTarget(folder);
    if (linkTarget !== undefined) mounts.push({ type: 'link', linkTarget, target: folder });
    else if (isDirectory(folder)) mounts.push({ type: 'bind', source: folder, target: folder });
  }
  for (const target of withheldFiles()) mounts.push({ type: 'bind', source: '/dev/null', target });
  for (const file of readableEtcFiles()) {
    const real = tryRealPath(file);
    if (real === undefined || !isReachable(real, identity)) continue;
    // /usr is mounted already.
    if (isInside(real, '/usr')) mounts.push({ type: 'link', linkTarget: real, target: file });
    else mounts.push({ type: 'bind', source: real, target: file });
  }
  return [...mounts, ...reachableRuntimes(runtimes, identity).flatMap(runtimeMounts)];
}

/** Runtimes whose files the user can reach. */
export function reachableRuntimes(runtimes: readonly Runtime[], identity: Identity | undefined): readonly Runtime[] {
  return runtimes.filter(({ shown }) => shown.every(({ source }) => isReachable(source, identity)));
}

/** What is shown inside of a hidden folder comes after the folder that hides it. */
function runtimeMounts({ folder, programs, shown, hidden }: Runtime): readonly Mount[] {
  const isHidden = ({ target }: { readonly target: string }): boolean =>
    hidden.some((place) => isInside(target, place));
  const links = Object.entries(programs).filter(([name, file]) => path.join(folder, name) !== file);
  return [
    ...shown.filter((file) => !isHidden(file)).map((file) => ({ type: 'bind', ...file }) as const),
    ...hidden.map((target) => ({ type: 'empty', target }) as const),
    ...shown.filter(isHidden).map((file) => ({ type: 'bind', ...file }) as const),
    ...links.map(([name, file]) => ({ type: 'link', linkTarget: file, target: path.join(folder, name) }) as const),
  ];
}

/** Whether the user may traverse every folder above the file. Ignores groups: the kernel has the last word. */
function isReachable(file: string, identity: Identity | undefined): boolean {
  if (identity === undefined) return true;
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const stats = quietly(() => statSync(folder), undefined);
    if (stats === undefined || (stats.mode & (stats.uid === identity.uid ? 0o100 : 0o001)) === 0) return false;
    if (folder === path.dirname(folder)) return true;
  }
}

function readLinkTarget(file: string): string | undefined {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(file) : undefined;
}

/** Skills with more top-level entries are mounted as a whole. */
const MAX_ENTRIES = 512;

/**
 * Mounts a snapshot at `skills/<name>`. A snapshot without the links into the workspace is mounted entry by entry, with the links
 * beside them. A file of the skill wins over a link of the same name.
 */
export function skillMounts(snapshot: string, target: string): readonly VisibleMount[] {
  const own = new Set<string>(listOwnFolders(snapshot));
  const entries = readdirSync(snapshot, { withFileTypes: true }).filter(({ name }) => !own.has(name));
  const names = new Set(entries.map(({ name }) => name));
  const missing = Object.entries(SKILL_LINKS).filter(([name]) => !names.has(name));
  // Names that are not UTF-8 cannot be passed as arguments; the whole folder can.
  const isUtf8 = entries.every(({ name }) => !name.includes('\uFFFD'));
  if (missing.length === 0 || entries.length > MAX_ENTRIES || !isUtf8)
    return [{ type: 'bind', source: snapshot, target }];
  return [
    ...entries.map((entry): VisibleMount => {
      const source = path.join(snapshot, entry.name);
      const at = `${target}/${entry.name}`;
      return entry.isSymbolicLink()
        ? { type: 'link', linkTarget: readlinkSync(source), target: at }
        : { type: 'bind', source, target: at };
    }),
    ...missing.map(([name, linkTarget]): VisibleMount => ({ type: 'link', linkTarget, target: `${target}/${name}` })),
  ];
}

/**
 * Files and folders below /etc that programs of every Linux sandbox may read, where they exist: what common programs need to start or to
 * give the same result as outside. `*` stands for a version. Every entry that exists costs each run one mount.
 *
 * Withheld are users, hosts and keys, and settings that may hold credentials: gitconfig, npmrc, pip.conf, wgetrc, maven/settings.xml,
 * profile and environment; below /usr, `withheldFiles`. Only parts of ssl are listed because of ssl/private. docs/executors.md lists the decisions.
 */
const READABLE: readonly string[] = [
  // Loader, alternatives, certificates.
  ['ld.so.cache', 'alternatives', 'ssl/certs', 'ssl/openssl.cnf', 'pki/ca-trust/extracted', 'pki/tls/certs'],
  ['crypto-policies'],
  // Time, locale, and the version of the distribution, without which pip fails.
  ['localtime', 'timezone', 'locale.alias', 'os-release', 'debian_version', 'lsb-release', 'redhat-release'],
  // Names of ports and protocols, types of files, fonts, terminals, paper.
  ['protocols', 'services', 'mime.types', 'magic', 'magic.mime', 'fonts', 'terminfo', 'inputrc', 'papersize'],
  // Interpreters and large programs that keep their own files here.
  ['python3', 'python3.*', 'perl', 'java-*-openjdk', 'maven/m2.conf', 'maven/logging', 'xml', 'ImageMagick-*'],
  ['ghostscript', 'libreoffice', 'texmf', 'R/ldpaths', 'R/Renviron', 'R/repositories'],
].flat();

/** Settings that may hold credentials, where programs that are installed below /usr have their own /etc. */
export function withheldFiles(): readonly string[] {
  const names = ['npmrc', 'gitconfig', 'pip.conf', 'wgetrc', 'netrc', 'maven/settings.xml'];
  return ['/usr/etc', '/usr/local/etc']
    .flatMap((folder) => names.flatMap((name) => tryRealPath(`${folder}/${name}`) ?? []))
    .filter((file) => isInside(file, '/usr'));
}

/** Paths of the readable entries that this machine may have. A `*` matches digits and dots only. */
export function readableEtcFiles(): readonly string[] {
  const names = namesIn('/etc');
  return READABLE.flatMap((entry) => {
    if (!entry.includes('*')) return [`/etc/${entry}`];
    const pattern = new RegExp(`^${entry.replaceAll('.', String.raw`\.`).replace('*', String.raw`[\d.]+`)}$`);
    return names.filter((name) => pattern.test(name)).map((name) => `/etc/${name}`);
  });
}
