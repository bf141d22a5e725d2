/** Parses web and git addresses, and refuses addresses that contain secrets or options. */
import { quoted, readAddress as readIpAddress, readAuthority, toRelativePath, type HostAndPort } from '#core';
import { packRefusal, type PackRefusal } from '../problems.ts';
import type { PackSource } from './source.ts';

export interface AddressOptions {
  readonly allowHttp?: boolean;
}

export const ARCHIVE_NAME = /\.(?:zip|skill|tar\.gz|tgz)$/i;
const SKILL_FILE = /\/SKILL\.md$/;
const MAX_REF = 250;
/** Excludes what git does not allow in refs, a leading plus (a forced refspec) and options. */
const NO_REF = /^[-+/]|[\s~^:?*[\\\x7f]|\.\.|@\{|\/\/|\.$|\/$|\.lock(?:\/|$)|(?:^|\/)\.|^@$/;
/** Query parameters with secrets. Addresses are written into the lock. */
const SECRET_PARAMETER = /token|secret|signature|password|passwd|credential|api[-_]?key|^(?:sig|auth|key)$/i;
const SSH = /^ssh:\/\/(?:\w[\w.-]*@)?([^/@\s]+)(\/[^?#\s]+)$/i;
const SCP = /^\w[\w.-]*@([\w.-]+):([^\s:][^\s]*)$/;

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
export function readSiteAddress(text: string, options: AddressOptions): PackSource | PackRefusal {
  const url = readWebUrl(text, options);
  if (!(url instanceof URL)) return url;
  if (url.search !== '') return packRefusal('source/unknown', `the site ${quoted(text, 200)} has a query`);
  const base = url.pathname
    .replace(/\/\.well-known(?:\/(?:agent-)?skills(?:\/index\.json)?)?\/?$/, '')
    .replace(/\/+$/, '');
  return { type: 'well-known', url: url.origin + base };
}

/** Parses a repository, optionally with `#ref`, `#ref:folder` or `#:folder`. */
export function readGitAddress(text: string, options: AddressOptions): PackSource | PackRefusal {
  const [address, fragment] = splitFragment(text);
  const url = readRepository(address, options);
  if (typeof url !== 'string') return url;
  if (fragment === undefined || fragment === '') return { type: 'git', url };
  const colon = fragment.indexOf(':');
  const ref = colon === -1 ? fragment : fragment.slice(0, colon);
  const folder = colon === -1 ? '' : fragment.slice(colon + 1);
  if (ref !== '' && !isRef(ref))
    return packRefusal('source/revision', `${quoted(ref)} is not a valid branch, tag or commit`);
  if (folder === '') return ref === '' ? { type: 'git', url } : { type: 'git', url, ref };
  const read = toRelativePath(folder);
  if (read.type === 'refused' || folder.startsWith('-'))
    return packRefusal('source/refused', `${quoted(folder)} is not a folder inside the repository`);
  return { type: 'git', url, ...(ref === '' ? {} : { ref }), folder: read.path };
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
    const path = /^file:\/\/(\/[^?#\s]+)$/i.exec(address)?.[1];
    return path === undefined ? packRefusal('source/unknown', `${shown} is not file:///path`) : `file://${path}`;
  }
  if (/^ssh:/i.test(address)) {
    if (/^ssh:\/\/[^/@]*:[^/@]*@/i.test(address)) return hasSecret(address);
    const [, authority = '', path = ''] = SSH.exec(address) ?? [];
    if (readAuthority(authority, 22) === undefined || path.startsWith('/-'))
      return packRefusal('source/unknown', `${shown} is not ssh://[user@]host/path`);
    return `ssh:${address.slice('ssh:'.length)}`;
  }
  const [, host = '', path = ''] = SCP.exec(address) ?? [];
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
  return {
    ...packRefusal('source/refused', `${subject} not secure: the connection can be tampered with`),
    hint: 'use https://, or set install.allow_http in your own configuration',
    allow: 'install.allow_http',
  };
}

export function isLoopback({ host }: HostAndPort): boolean {
  return host.isAddress ? readIpAddress(host.name)?.kind === 'loopback' : host.name === 'localhost';
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
    const inside = decoded(folder ?? '').replace(/(?:^|\/)SKILL\.md$/, '');
    if (ref === undefined) return `${origin}/${repository}`;
    return `${origin}/${repository}#${decoded(ref)}${inside === '' ? '' : `:${inside}`}`;
  }
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
