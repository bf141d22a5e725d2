/** Parses a typed source, and formats it as the lock stores it. Accesses nothing except local paths. */
import {
  findHidden,
  quoted,
  readAddress as readIpAddress,
  readAuthority,
  toRelativePath,
  type HostAndPort,
  isProblem,
} from '#core';
import { packRefusal, type PackRefusal } from '../problems.ts';
import type { PackSource } from './source.ts';

export interface ReadSourceOptions {
  /** What exists at the typed path. Links are followed. */
  readonly looksLikeFolder: (path: string) => 'folder' | 'file' | 'absent';
  /** The `file://` address of a typed path, for a local repository with a revision. */
  readonly fileAddress?: (path: string) => string;
  /** Accepts `http://` and `git://`, which are not protected against tampering. Loopback is always allowed. */
  readonly allowHttp?: boolean;
}

const MAX_TEXT = 4096;
/** A path, whether it exists or not: `./x`, `../x`, `/x`, `~/x`, `C:\\x`. */
const EXPLICIT_PATH = /^(?:\/|(?:\.{1,2}|~)(?:\/|$)|[a-z]:[\\/])/i;
/** `ext::sh -c ...`: git would run a program. */
const REMOTE_HELPER = /^[\w+.-]*::/;
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;
const SCP = /^[\w.-]+@[\w.-]+:/;
const SHORTHAND = /^([\w.-]+\/[\w.-]+)(#.*)?$/;
const SHORTHAND_HOSTS: ReadonlyMap<string, string> = new Map([
  ['github', 'https://github.com/'],
  ['gitlab', 'https://gitlab.com/'],
]);

/** Parses a typed source. Refuses text that a later program could interpret as an option, a program or a secret. */
export function readSource(text: string, options: ReadSourceOptions): PackSource | PackRefusal {
  const shown = quoted(text, 200);
  if (text.trim() !== text || text === '' || text.length > MAX_TEXT)
    return packRefusal('source/unknown', `${shown} is empty, too long, or has leading or trailing spaces`);
  if (/[\n\t]/.test(text) || findHidden(text) !== undefined)
    return packRefusal('source/unknown', `${shown} has an invisible character`);
  if (text.startsWith('-')) return packRefusal('source/refused', `${shown} looks like an option`);
  if (REMOTE_HELPER.test(text)) return packRefusal('source/refused', `${shown} would run a program`);
  if (EXPLICIT_PATH.test(text)) return readPathOrRepository(text, options);
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined) return readScheme(text, scheme, options);
  if (SCP.test(text)) return readGitAddress(text, options);
  if (options.looksLikeFolder(text) !== 'absent') return readPath(`./${text}`, options);
  const repository = SHORTHAND.exec(text);
  if (repository !== null && !ARCHIVE_NAME.test(text))
    return readGitAddress(`https://github.com/${repository[1] ?? ''}${repository[2] ?? ''}`, options);
  if (/[/\\]/.test(text) || ARCHIVE_NAME.test(text))
    return packRefusal('source/missing', `${shown} does not exist`, text);
  return packRefusal('source/unknown', `${shown} is neither an existing folder nor an address`);
}

/** Formats a source so that `readSource` parses it to the same value. */
export function sourceText(source: PackSource): string {
  switch (source.type) {
    case 'folder':
    case 'archive':
      return EXPLICIT_PATH.test(source.path) ? source.path : `./${source.path}`;
    case 'url':
      return source.url;
    case 'git':
      return gitText(source);
    case 'npm':
      return `npm:${source.name}${source.range === undefined ? '' : `@${source.range}`}`;
    case 'well-known':
      return `well-known:${source.url}`;
    case 'plugin':
      return `plugin:${source.name}@${sourceText(source.marketplace)}`;
  }
}

function gitText({ url, ref, folder }: Extract<PackSource, { type: 'git' }>): string {
  const address = /^(?:https?|file):/.test(url) ? `git+${url}` : url;
  if (ref === undefined && folder === undefined) return address;
  return `${address}#${ref ?? ''}${folder === undefined ? '' : `:${folder}`}`;
}

function readScheme(text: string, scheme: string, options: ReadSourceOptions): PackSource | PackRefusal {
  const rest = text.slice(scheme.length + 1);
  const host = SHORTHAND_HOSTS.get(scheme);
  if (host !== undefined) {
    if (!SHORTHAND.test(rest)) return packRefusal('source/unknown', `${quoted(text, 200)} is not ${scheme}:OWNER/NAME`);
    return readGitAddress(host + rest, options);
  }
  switch (scheme) {
    case 'npm':
      return readNpmPackage(rest);
    case 'file':
      return readFileAddress(text, options);
    case 'well-known':
      return readSiteAddress(rest, options);
    case 'plugin':
      return readPlugin(rest, options);
    case 'http':
    case 'https':
      return readAddress(text, options);
    case 'ssh':
    case 'git':
      return readGitAddress(text, options);
    default: {
      if (scheme.startsWith('git+')) return readGitAddress(text.slice('git+'.length), options);
      return packRefusal(
        'source/unknown',
        `${quoted(text, 200)} starts with ${quoted(`${scheme}:`)}, which is not a known source type`,
      );
    }
  }
}

function readFileAddress(text: string, options: ReadSourceOptions): PackSource | PackRefusal {
  if (text.includes('#')) return readGitAddress(text, options);
  const path = /^file:(?:\/\/)?(\/(?!\/)[^?#]*)$/i.exec(text)?.[1];
  const decoded = path === undefined ? undefined : decode(path);
  if (decoded === undefined || findHidden(decoded) !== undefined || /[\n\t]/.test(decoded))
    return packRefusal('source/unknown', `${quoted(text, 200)} is not a local file address`);
  return readPath(decoded, options);
}

/** A path may end with `#ref`, `#ref:folder` or `#:folder` of a local repository, unless it exists with these characters. */
function readPathOrRepository(text: string, options: ReadSourceOptions): PackSource | PackRefusal {
  const { looksLikeFolder, fileAddress } = options;
  const [path, fragment] = splitFragment(text);
  const isRepository =
    fragment !== undefined && looksLikeFolder(text) === 'absent' && looksLikeFolder(path) === 'folder';
  if (fileAddress === undefined || !isRepository) return readPath(text, options);
  return readGitAddress(`${fileAddress(path)}#${fragment}`, options);
}

function readPath(path: string, { looksLikeFolder }: ReadSourceOptions): PackSource | PackRefusal {
  const found = looksLikeFolder(path);
  if (found === 'absent') return packRefusal('source/missing', `${quoted(path, 200)} does not exist`, path);
  if (found === 'folder') return { type: 'folder', path };
  if (ARCHIVE_NAME.test(path)) return { type: 'archive', path };
  // SKILL.md stands for its folder.
  const folder = /^(.*?)\/SKILL\.md$/.exec(path)?.[1];
  if (folder !== undefined) return { type: 'folder', path: folder === '' ? '/' : folder };
  return packRefusal('archive/format', `${quoted(path, 200)} is a file without an archive extension`, path);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const MAX_NAME = 214;
const PACKAGE = /^((?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*)(?:@(.+))?$/;
/** Versions, ranges and tags. A colon or slash is not allowed, because npm would accept addresses and folders. */
const RANGE = /^[\w^~<>=*][\w.+^~<>=|* -]{0,127}$/;

/** `name` or `@scope/name`, optionally with `@range`. */
function readNpmPackage(text: string): PackSource | PackRefusal {
  const [, name = '', range] = PACKAGE.exec(text) ?? [];
  if (name === '' || name.length > MAX_NAME || (range !== undefined && !(RANGE.test(range) && range.trim() === range)))
    return packRefusal('source/unknown', `${quoted(text, 200)} is not an npm package name with an optional version`);
  return { type: 'npm', name, range };
}

/** Plugin names are also those of other agents, which allow more than skills do. */
const PLUGIN = /^([a-z0-9][\w.-]{0,127})@(.+)$/i;

/** Whether a lock can name the plugin, as `plugin:NAME@SOURCE`. */
export function isPluginName(name: string): boolean {
  return PLUGIN.exec(`${name}@.`)?.[1] === name;
}

/** `NAME@SOURCE`, where the source has a marketplace.json. */
function readPlugin(text: string, options: ReadSourceOptions): PackSource | PackRefusal {
  const [, name = '', rest = ''] = PLUGIN.exec(text) ?? [];
  if (name === '') return packRefusal('source/unknown', `${quoted(`plugin:${text}`, 200)} is not plugin:NAME@SOURCE`);
  const marketplace = readSource(rest, options);
  if (marketplace.type === 'refused') return marketplace;
  if (marketplace.type === 'folder' || marketplace.type === 'git') return { type: 'plugin', name, marketplace };
  return packRefusal('source/unknown', `a marketplace is a folder or a git repository, not ${quoted(rest, 200)}`);
}

type AddressOptions = Pick<ReadSourceOptions, 'allowHttp'>;

export const ARCHIVE_NAME = /\.(?:zip|skill|tar\.gz|tgz)$/i;
const SKILL_FILE = /\/SKILL\.md$/;
const MAX_REF = 250;
/** Excludes what git does not allow in refs, a leading plus (a forced refspec) and options. */
const NO_REF = /^[-+/]|[\s~^:?*[\\\x7f]|\.\.|@\{|\/\/|\.$|\/$|\.lock(?:\/|$)|(?:^|\/)\.|^@$/;
/** Query parameters with secrets. Addresses are written into the lock. */
const SECRET_PARAMETER = /token|secret|signature|password|passwd|credential|api[-_]?key|^(?:sig|auth|key)$/i;
const SSH = /^ssh:\/\/(?:\w[\w.-]*@)?([^/@\s]+)(\/[^?#\s]+)$/i;
const SCP_ADDRESS = /^\w[\w.-]*@([\w.-]+):([^\s:][^\s]*)$/;

/** Parses a web address: an archive, a SKILL.md, a repository or a site. */
export function readAddress(text: string, options: AddressOptions): PackSource | PackRefusal {
  const [address, fragment] = splitFragment(text);
  const url = readWebUrl(address, options);
  if (!(url instanceof URL)) return url;
  const parts = url.pathname.split('/').filter((part) => part !== '');
  const page = readPage(url, parts);
  if (page !== undefined) return readGitAddress(`${page}${fragment === undefined ? '' : `#${fragment}`}`, options);
  if (parts.length === 0 || parts[0] === '.well-known')
    return fragment === undefined ? readSiteAddress(address, options) : unclear(text);
  if (ARCHIVE_NAME.test(url.pathname) || SKILL_FILE.test(url.pathname))
    return fragment === undefined ? { type: 'url', url: url.href } : unclear(text);
  if (parts.length === 2 || fragment !== undefined || url.pathname.endsWith('.git'))
    return readGitAddress(text, options);
  return unclear(text);
}

function unclear(text: string): PackRefusal {
  return packRefusal(
    'source/unknown',
    `${quoted(text, 200)} is ambiguous; use git+https://… for a repository, well-known:https://… for a site, or the address of an archive`,
  );
}

/** Parses a site, with or without the path of its index. */
function readSiteAddress(text: string, options: AddressOptions): PackSource | PackRefusal {
  const url = readWebUrl(text, options);
  if (!(url instanceof URL)) return url;
  if (url.search !== '') return packRefusal('source/unknown', `the site ${quoted(text, 200)} has a query`);
  const base = url.pathname
    .replace(/\/\.well-known(?:\/(?:agent-)?skills(?:\/index\.json)?)?\/?$/, '')
    .replace(/\/+$/, '');
  return { type: 'well-known', url: url.origin + base };
}

/** Parses a repository, optionally with `#ref`, `#ref:folder` or `#:folder`. */
function readGitAddress(text: string, options: AddressOptions): PackSource | PackRefusal {
  const [address, fragment] = splitFragment(text);
  const url = readRepository(address, options);
  if (typeof url !== 'string') return url;
  if (fragment === undefined || fragment === '') return { type: 'git', url };
  const colon = fragment.indexOf(':');
  const ref = colon === -1 ? fragment : fragment.slice(0, colon);
  const folder = colon === -1 ? '' : fragment.slice(colon + 1);
  if (ref !== '' && !isRef(ref))
    return packRefusal('source/revision', `${quoted(ref)} is not a valid branch, tag or commit`);
  const named = ref === '' ? undefined : ref;
  if (folder === '') return { type: 'git', url, ref: named };
  const read = toRelativePath(folder);
  if (isProblem(read) || folder.startsWith('-'))
    return packRefusal('source/refused', `${quoted(folder)} is not a folder inside the repository`);
  return { type: 'git', url, ref: named, folder: read };
}

/** Whether git accepts the text as a branch, tag or commit, and as nothing else. */
export function isRef(text: string): boolean {
  return text !== '' && text.length <= MAX_REF && !NO_REF.test(text);
}

function readRepository(address: string, options: AddressOptions): string | PackRefusal {
  const shown = quoted(address, 200);
  if (/^(?:https?|git):/i.test(address)) {
    // `URL` normalizes hosts and paths only for web schemes.
    const url = readWebUrl(address.replace(/^git:/i, 'http:'), options);
    if (!(url instanceof URL)) return url;
    const path = url.pathname.replace(/\/+$/, '');
    if (url.search !== '' || path === '') return packRefusal('source/unknown', `${shown} is not a repository address`);
    const origin = /^git:/i.test(address) ? `git://${url.host}` : url.origin;
    return origin + path;
  }
  if (/^file:/i.test(address)) {
    const path = /^file:(?:\/\/)?(\/(?!\/)[^?#\s]+)$/i.exec(address)?.[1];
    return path === undefined ? packRefusal('source/unknown', `${shown} is not file:///path`) : `file://${path}`;
  }
  if (/^ssh:/i.test(address)) {
    if (/^ssh:\/\/[^/@]*:[^/@]*@/i.test(address)) return hasSecret(address);
    const [, authority = '', path = ''] = SSH.exec(address) ?? [];
    if (readAuthority(authority, 22) === undefined || path.startsWith('/-'))
      return packRefusal('source/unknown', `${shown} is not ssh://[user@]host/path`);
    return `ssh:${address.slice('ssh:'.length)}`;
  }
  const [, host = '', path = ''] = SCP_ADDRESS.exec(address) ?? [];
  if (readAuthority(host, 22) === undefined || path.startsWith('-'))
    return packRefusal('source/unknown', `${shown} is not a repository address`);
  return address;
}

/** Parses a web address without user, with a canonical host, without secrets in the query, and over https unless allowed otherwise. */
function readWebUrl(text: string, { allowHttp = false }: AddressOptions): URL | PackRefusal {
  const shown = quoted(withoutSecrets(text), 200);
  const authority = /^https?:\/\/([^/?#]*)/i.exec(text)?.[1];
  if (authority === undefined || /[\s\\]/.test(text) || !URL.canParse(text))
    return packRefusal('source/unknown', `${shown} is not an https:// address`);
  if (authority.includes('@')) return hasSecret(text);
  const url = new URL(text);
  const asked = readAuthority(authority, url.protocol === 'https:' ? 443 : 80);
  if (asked === undefined) return packRefusal('source/unknown', `${shown} has no canonical host name`);
  if ([...url.searchParams.keys()].some((name) => SECRET_PARAMETER.test(name))) return hasSecret(text);
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(asked)) return insecure(`${shown} is`);
  url.hash = '';
  return url;
}

/** `subject` is the address with its verb. */
export function insecure(subject: string): PackRefusal {
  const hint = 'use https://, or set install.allow_http in your own configuration';
  const message = `${subject} not secure: the connection can be tampered with`;
  return packRefusal('source/refused', message, { hint, allow: 'install.allow_http' });
}

export function isLoopback({ host }: HostAndPort): boolean {
  return host.isAddress ? readIpAddress(host.name)?.kind === 'loopback' : host.name === 'localhost';
}

/** Whether a web address names this machine. */
export function isOnThisMachine(url: string): boolean {
  const [, authority = ''] = /^(?:https?|git):\/\/([^/]*)/.exec(url) ?? [];
  const host = readAuthority(authority, 443);
  return host !== undefined && isLoopback(host);
}

function hasSecret(text: string): PackRefusal {
  return packRefusal(
    'source/refused',
    `${quoted(withoutSecrets(text), 200)} contains a user or a secret, which would be written into the lock; use environment variables or git's credential helpers`,
  );
}

/** Removes user and query, for messages. */
function withoutSecrets(text: string): string {
  return text.replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1').replace(/\?.*$/s, '');
}

function splitFragment(text: string): readonly [address: string, fragment: string | undefined] {
  const hash = text.indexOf('#');
  return hash === -1 ? [text, undefined] : [text.slice(0, hash), text.slice(hash + 1)];
}

/** Translates a web page of a known forge into `repository#ref:folder`. */
function readPage({ origin, hostname }: URL, parts: readonly string[]): string | undefined {
  const rules = PAGES.get(hostname);
  if (rules === undefined) return undefined;
  const path = parts.join('/');
  for (const rule of rules) {
    const { repository, ref, folder } = rule.exec(path)?.groups ?? {};
    if (repository === undefined) continue;
    const inside = (decode(folder ?? '') ?? folder ?? '').replace(/(?:^|\/)SKILL\.md$/, '');
    if (ref === undefined) return `${origin}/${repository}`;
    return `${origin}/${repository}#${decode(ref) ?? ref}${inside === '' ? '' : `:${inside}`}`;
  }
  return undefined;
}

/** A ref with a slash is ambiguous here. Users can write it with `#`. */
const PAGES: ReadonlyMap<string, readonly RegExp[]> = new Map([
  ['github.com', [/^(?<repository>[^/]+\/[^/]+)(?:\/(?:tree|blob)\/(?<ref>[^/]+)(?:\/(?<folder>.+))?)?$/]],
  [
    'gitlab.com',
    [
      /^(?<repository>.+?)\/-\/(?:tree|blob)\/(?<ref>[^/]+)(?:\/(?<folder>.+))?$/,
      /^(?<repository>(?!.*\/-\/)(?!.*\.(?:zip|skill|tar\.gz|tgz)$)[^/]+(?:\/[^/]+)+)$/,
    ],
  ],
  ['bitbucket.org', [/^(?<repository>[^/]+\/[^/]+)(?:\/src\/(?<ref>[^/]+)(?:\/(?<folder>.+))?)?$/]],
  [
    'codeberg.org',
    [/^(?<repository>[^/]+\/[^/]+)(?:\/src\/(?:branch|tag|commit)\/(?<ref>[^/]+)(?:\/(?<folder>.+))?)?$/],
  ],
]);
