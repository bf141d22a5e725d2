import type { HostMount } from '../../program-types.ts';

/** Paths that a program may read and write on macOS. All are absolute, with links resolved. */
export interface MacosProfileOptions {
  /** The workspace; programs see it under the same path. */
  readonly workspace: string;
  /** Writable folders below the workspace. */
  readonly writable: readonly string[];
  /** Snapshots of skills and installations of interpreters. */
  readonly readable: readonly string[];
  /** Folders of the host at their own path, each before what covers parts of it. */
  readonly mounts: readonly HostMount[];
  /** Socket of the proxy for granted hosts. */
  readonly bridgeSocket?: string;
}

/** Files that every program needs to start. Neither /Users nor /Library, which hold keys and profiles. */
const SYSTEM_FOLDERS = [
  '/System/Library',
  '/System/Volumes/Preboot/Cryptexes',
  '/System/Cryptexes',
  '/usr/lib',
  '/usr/bin',
  '/usr/sbin',
  '/usr/libexec',
  '/usr/share',
  '/bin',
  '/sbin',
  '/Library/Apple/System',
  '/Library/Developer/CommandLineTools',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
];
const SYSTEM_FILES = [
  '/dev/null',
  '/dev/zero',
  '/dev/random',
  '/dev/urandom',
  '/private/etc/localtime',
  '/private/etc/ssl/openssl.cnf',
  '/private/etc/ssl/cert.pem',
];

/** A profile for `sandbox-exec` that denies everything except a few operations. Pure; paths are escaped. */
export function macosProfile({ workspace, writable, readable, mounts, bridgeSocket }: MacosProfileOptions): string {
  const own = mounts.flatMap(({ source, target }) => (source === target ? [source] : []));
  return `${[
    '(version 1)',
    '(deny default)',
    '; processes of its own, and signals among them',
    '(allow process-fork)',
    rule('process-exec', subpaths([...SYSTEM_FOLDERS, workspace, ...readable, ...own])),
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    '(allow sysctl-read)',
    '; what the system needs to start a program',
    rule('file-read*', [...subpaths(SYSTEM_FOLDERS), ...literals(SYSTEM_FILES)]),
    rule('file-read-metadata', literals(ancestors([workspace, ...readable, ...own]))),
    '; what it was given',
    rule('file-read*', subpaths([workspace, ...readable])),
    ...(writable.length === 0 ? [] : [rule('file-write*', subpaths(writable))]),
    rule('file-write-data', literals(['/dev/null', '/dev/zero'])),
    ...(mounts.length === 0 ? [] : ['; folders of the user; the last rule for a path counts']),
    ...mounts.flatMap(mountRules),
    '; never: set-user-id files, devices, the list of what lies beside',
    '(deny file-write-setugid)',
    `(deny file-read* ${literal(`${workspace}/metadata.json`)})`,
    '; no network but the way that was granted',
    '(deny network*)',
    ...(bridgeSocket === undefined
      ? []
      : [`(allow network-outbound (remote unix-socket (path-literal ${quotedPath(bridgeSocket)})))`]),
  ].join('\n')}\n`;
}

/** A file that something else covers is hidden. */
function mountRules({ source, target, access }: HostMount): readonly string[] {
  const [place = ''] = subpaths([target]);
  if (source !== target) return [`(deny file-read* file-write* ${place})`];
  return access === 'write'
    ? [`(allow file-read* file-write* ${place})`]
    : [`(allow file-read* ${place})`, `(deny file-write* ${place})`];
}

function rule(operation: string, filters: readonly string[]): string {
  return `(allow ${operation}\n  ${filters.join('\n  ')})`;
}

function subpaths(paths: readonly string[]): readonly string[] {
  return paths.map((path) => `(subpath ${quotedPath(path)})`);
}

function literals(paths: readonly string[]): readonly string[] {
  return paths.map(literal);
}

function literal(path: string): string {
  return `(literal ${quotedPath(path)})`;
}

/** The parent folders, which a program must be able to traverse. */
function ancestors(paths: readonly string[]): readonly string[] {
  const found = new Set<string>(['/']);
  for (const path of paths)
    for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) found.add(path.slice(0, at));
  return [...found].sort();
}

/** A string literal of the profile language. Throws for characters that it cannot express. */
function quotedPath(path: string): string {
  if (!path.startsWith('/') || /[\u0000-\u001F\u007F]/.test(path))
    throw new RangeError(`expected an absolute path without control characters, got ${JSON.stringify(path)}`);
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
