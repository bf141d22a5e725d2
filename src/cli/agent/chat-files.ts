/** Files in a chat message: `@path` mentions, their completion, and paths that were pasted or dropped on the terminal. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { cleanText } from '#core';
import { quietly } from '#platform';

export interface BaseFolders {
  readonly cwd: string;
  readonly home: string | undefined;
}

export const MENTION = /(?<=^|\s)@(?:"([^"\n]{1,4000})"|([^\s"]{1,4000}))/g;

/** The existing files outside of the project that a message mentions. Files of the project need no copy: the model can read them. */
export function mentionedFiles(message: string, places: BaseFolders): readonly string[] {
  const files = [...message.matchAll(MENTION)].flatMap(
    ([, quoted, bare = '']) => resolvedFile(quoted ?? bare, places) ?? [],
  );
  return [...new Set(files)].filter((file) => !isInside(places.cwd, file));
}

/** The file that a word of a message names; punctuation after a name is not part of it. */
export function resolvedFile(name: string, places: BaseFolders): string | undefined {
  return [name, name.replace(/[.,;:!?)\]]+$/, '')].map((one) => resolved(one, places)).find((file) => isFile(file));
}

/** The skills that a message mentions as `@NAME`. A file of the project with this name comes first. */
export function mentionedSkills(message: string, names: readonly string[], { cwd }: BaseFolders): readonly string[] {
  const found = [...message.matchAll(MENTION)].flatMap(([, , bare = '']) => bare.replace(/[.,;:!?)\]]+$/, ''));
  return [...new Set(found)].filter((name) => names.includes(name) && !isFile(path.join(cwd, name)));
}

/** The mention that a pasted text stands for, if it is nothing but the absolute path of a file. */
export function pastedMention(text: string, places: BaseFolders): string | undefined {
  const bare = text.trim().replace(/^(['"])(.*)\1$/s, '$2');
  if (bare.includes('\n') || bare.length > 4000) return undefined;
  const candidates = [bare, bare.replaceAll(/\\(.)/g, '$1'), ...fromUrl(bare)];
  const file = candidates.find((name) => path.isAbsolute(name) && isFile(name) && cleanText(name) === name);
  if (file === undefined) return undefined;
  const name = isInside(places.cwd, file) ? path.relative(places.cwd, file) : file;
  return `@${/\s/.test(name) ? `"${name}"` : name} `;
}

function fromUrl(text: string): readonly string[] {
  if (!text.startsWith('file:///') || !URL.canParse(text)) return [];
  try {
    return [fileURLToPath(text)];
  } catch (error) {
    // An encoded slash or zero byte.
    if (error instanceof TypeError || error instanceof URIError) return [];
    throw error;
  }
}

const MOST = 100;

export function completeMention(
  line: string,
  places: BaseFolders,
  skills: readonly string[] = [],
): { readonly hits: readonly string[]; readonly of: string } {
  const [of = '', typed = ''] = /(?<=^|\s)@([^\s"]*)$/.exec(line) ?? [];
  if (of === '' || of.includes('\0')) return { hits: [], of };
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
  const start = typed.slice(folder.length);
  const hits = listEntries(resolved(folder === '' ? '.' : folder, places))
    .filter(({ name }) => name.startsWith(start) && (start !== '' || !name.startsWith('.')) && !/[\s"]/.test(name))
    .filter(({ name }) => cleanText(name) === name && (start !== '' || name !== 'node_modules'))
    .map(({ name, isFolder }) => `@${folder}${name}${isFolder ? '/' : ' '}`);
  const named = skills.filter((name) => name.startsWith(typed)).map((name) => `@${name} `);
  return { hits: [...new Set([...hits, ...named])].toSorted().slice(0, MOST), of };
}

function listEntries(folder: string): readonly { readonly name: string; readonly isFolder: boolean }[] {
  return quietly(() => readdirSync(folder, { withFileTypes: true }), []).map((entry) => ({
    name: entry.name,
    isFolder: entry.isDirectory(),
  }));
}

function resolved(name: string, { cwd, home }: BaseFolders): string {
  return path.resolve(cwd, home === undefined ? name : name.replace(/^~(?=\/)/, () => home));
}

function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

function isFile(file: string): boolean {
  if (file.includes('\0')) return false;
  return quietly(() => statSync(file).isFile(), false);
}
