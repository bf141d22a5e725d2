/** Parses a typed source, and formats it as the lock stores it. Accesses nothing except local paths. */
import { hiddenCharacters, quoted } from '#core';
import { packRefusal, type PackRefusal } from '../problems.ts';
import { ARCHIVE_NAME, readAddress, readGitAddress, readSiteAddress } from './source-address.ts';
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
  if (/[\n\t]/.test(text) || hiddenCharacters(text) !== undefined)
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
  if (decoded === undefined || hiddenCharacters(decoded) !== undefined || /[\n\t]/.test(decoded))
    return packRefusal('source/unknown', `${quoted(text, 200)} is not a local file address`);
  return readPath(decoded, options);
}

/** A path may end with `#ref`, `#ref:folder` or `#:folder` of a local repository, unless it exists with these characters. */
function readPathOrRepository(text: string, options: ReadSourceOptions): PackSource | PackRefusal {
  const { looksLikeFolder, fileAddress } = options;
  const hash = text.indexOf('#');
  const path = text.slice(0, Math.max(hash, 0));
  if (
    fileAddress === undefined ||
    hash === -1 ||
    looksLikeFolder(text) !== 'absent' ||
    looksLikeFolder(path) !== 'folder'
  )
    return readPath(text, options);
  return readGitAddress(fileAddress(path) + text.slice(hash), options);
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
export function readNpmPackage(text: string): PackSource | PackRefusal {
  const [, name = '', range] = PACKAGE.exec(text) ?? [];
  if (name === '' || name.length > MAX_NAME || (range !== undefined && !(RANGE.test(range) && range.trim() === range)))
    return packRefusal('source/unknown', `${quoted(text, 200)} is not an npm package name with an optional version`);
  return { type: 'npm', name, range };
}
