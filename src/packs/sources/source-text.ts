/** A source as a person types it, and the one spelling under which a lock keeps it. Nothing is looked up but what lies at a path. */
import { hiddenCharacters, quoted } from '../../core/text/text.ts';
import { packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { ARCHIVE_NAME, readAddress, readGitAddress, readSiteAddress } from './source-address.ts';
import type { PackSource } from './source.ts';

export interface ReadSourceOptions {
  /** What stands at a path as it was typed; a link counts as what it leads to. */
  readonly looksLikeFolder: (path: string) => 'folder' | 'file' | 'absent';
  /** Takes addresses that anybody on the way can change: `http://`, `git://`. Loopback needs no leave. */
  readonly allowHttp?: boolean;
}

const MAX_TEXT = 4096;
/** `./x`, `../x`, `/x`, `~/x`, `C:\x`: a path whatever stands there. */
const EXPLICIT_PATH = /^(?:\/|(?:\.{1,2}|~)(?:\/|$)|[a-z]:[\\/])/i;
/** `ext::sh -c ...`: git hands the rest to a program of that name. */
const REMOTE_HELPER = /^[\w+.-]*::/;
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;
const SCP = /^[\w.-]+@[\w.-]+:/;
const SHORTHAND = /^([\w.-]+\/[\w.-]+)(#.*)?$/;
const SHORTHAND_HOSTS: ReadonlyMap<string, string> = new Map([
  ['github', 'https://github.com/'],
  ['gitlab', 'https://gitlab.com/'],
]);

/** Reads what a person typed. What could mean an option, a program or a secret to whoever is given it later is refused. */
export function readSource(text: string, options: ReadSourceOptions): PackSource | PackRefusal {
  const shown = quoted(text, 200);
  if (text.trim() !== text || text === '' || text.length > MAX_TEXT)
    return packRefusal('source/unknown', `${shown} is empty, too long or has spaces around it`);
  if (/[\n\t]/.test(text) || hiddenCharacters(text) !== undefined)
    return packRefusal('source/unknown', `${shown} has a character that does not show`);
  if (text.startsWith('-')) return packRefusal('source/refused', `${shown} looks like an option`);
  if (REMOTE_HELPER.test(text)) return packRefusal('source/refused', `${shown} would start a program`);
  if (EXPLICIT_PATH.test(text)) return readPath(text, options);
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined) return readScheme(text, scheme, options);
  if (SCP.test(text)) return readGitAddress(text, options);
  if (options.looksLikeFolder(text) !== 'absent') return readPath(`./${text}`, options);
  const repository = SHORTHAND.exec(text);
  if (repository !== null && !ARCHIVE_NAME.test(text))
    return readGitAddress(`https://github.com/${repository[1] ?? ''}${repository[2] ?? ''}`, options);
  if (/[/\\]/.test(text) || ARCHIVE_NAME.test(text)) return packRefusal('source/missing', `there is no ${shown}`, text);
  return packRefusal('source/unknown', `there is no folder ${shown}, and it is no address`);
}

/** The spelling that `readSource` reads as the same source. */
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
        `${quoted(text, 200)} starts with ${quoted(`${scheme}:`)}, which is no source`,
      );
    }
  }
}

function readFileAddress(text: string, options: ReadSourceOptions): PackSource | PackRefusal {
  const path = /^file:(?:\/\/)?(\/(?!\/)[^?#]*)$/i.exec(text)?.[1];
  const decoded = path === undefined ? undefined : decode(path);
  if (decoded === undefined || hiddenCharacters(decoded) !== undefined || /[\n\t]/.test(decoded))
    return packRefusal('source/unknown', `${quoted(text, 200)} is no address of a file on this machine`);
  return readPath(decoded, options);
}

function readPath(path: string, { looksLikeFolder }: ReadSourceOptions): PackSource | PackRefusal {
  const found = looksLikeFolder(path);
  if (found === 'absent') return packRefusal('source/missing', `there is no ${quoted(path, 200)}`, path);
  if (found === 'folder') return { type: 'folder', path };
  if (ARCHIVE_NAME.test(path)) return { type: 'archive', path };
  // Who names the file means the skill.
  const folder = /^(.*?)\/SKILL\.md$/.exec(path)?.[1];
  if (folder !== undefined) return { type: 'folder', path: folder === '' ? '/' : folder };
  return packRefusal('archive/format', `${quoted(path, 200)} is a file, and no archive by its name`, path);
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
/** Versions, ranges and tags: nothing with a colon or a slash in it. */
const RANGE = /^[\w^~<>=*][\w.+^~<>=|* -]{0,127}$/;

/** `name`, `@scope/name`, each with or without `@range`. */
export function readNpmPackage(text: string): PackSource | PackRefusal {
  const [, name = '', range] = PACKAGE.exec(text) ?? [];
  if (name === '' || name.length > MAX_NAME || (range !== undefined && !(RANGE.test(range) && range.trim() === range)))
    return packRefusal('source/unknown', `${quoted(text, 200)} is no package of npm with or without a version`);
  return { type: 'npm', name, ...(range === undefined ? {} : { range }) };
}
