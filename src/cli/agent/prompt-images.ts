/** Files that a prompt names: images are read for the model, files outside of the project are attached after a yes. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

import { detectMediaType, quoted, shownText } from '#core';
import { quietly } from '#platform';
import { usageError } from '../exit.ts';
import { bytesText } from '../terminal/quantities.ts';
import { askStreams, confirm } from '../terminal/ask.ts';
import { MENTION, mentionedFiles, resolvedFile, type BaseFolders } from './chat-files.ts';

/** What all providers take: images of one message, and bytes of one image. */
const MAX_IMAGES = 8;
const MAX_BYTES = 3 * 1024 * 1024;
const TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const NAME = /\.(?:png|jpe?g|gif|webp)$/i;

interface PromptOptions {
  readonly places: BaseFolders;
  /** Of the model; undefined if it is not known. Then only `@` shows it an image. */
  readonly takesImages: boolean | undefined;
  /** Files that the user attaches in another way. */
  readonly given?: readonly string[];
  /** Returns the files outside of the project that the user attaches. */
  readonly ask: (files: readonly string[]) => Promise<readonly string[]>;
}

export interface PromptFiles {
  /** To copy into the workspace. */
  readonly files: readonly string[];
  readonly images: readonly ReadImage[] | undefined;
}

/** Throws a usage error for an image that is named with `@` and that no model takes. */
export async function promptFiles(text: string, options: PromptOptions): Promise<PromptFiles> {
  const { places, takesImages, given = [], ask } = options;
  const mentioned = imageFiles(
    [...text.matchAll(MENTION)].map(([, quotedName, bare = '']) => quotedName ?? bare),
    places,
  );
  const typed =
    takesImages === true ? imageFiles([...text.split(/[\s"'`<>]+/).map(withoutBracket), ...given], places) : [];
  const isInside = insideOf(places.cwd);
  const named = [...new Set([...mentioned, ...typed])];
  const outside = named.filter((file) => !isInside(file) && !given.includes(file));
  const asked = [...new Set([...mentionedFiles(text, places), ...outside])];
  const files = asked.length === 0 ? [] : await ask(asked);
  const images = named
    .filter((file) => !outside.includes(file) || files.includes(file))
    .flatMap((file) => {
      const image = readImage(file, places.cwd);
      if ('mediaType' in image) return [image];
      if (mentioned.includes(file)) throw usageError(image.message, image.hint);
      return [];
    })
    .slice(0, MAX_IMAGES);
  return { files, images: images.length === 0 ? undefined : images };
}

/** Files outside of the project are attached only after a yes: a mention may be part of a pasted text. */
export async function askToAttach(files: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const attached: string[] = [];
  for (const file of files)
    if (await confirm(askStreams(process), `Copy ${shownText(file, 200)} into the workspace?`, { signal }))
      attached.push(file);
  return attached;
}

function withoutBracket(word: string): string {
  return word.replace(/^[([{]+/, '');
}

function imageFiles(names: readonly string[], places: BaseFolders): readonly string[] {
  return names.flatMap((name) => {
    const file = resolvedFile(name, places);
    return file !== undefined && NAME.test(file) ? [file] : [];
  });
}

/** The model could read files of the project anyway; a link may lead out of it. */
function insideOf(cwd: string): (file: string) => boolean {
  const top = quietly(() => realpathSync(cwd), cwd);
  return (file) => quietly(() => realpathSync(file), '').startsWith(`${top}${path.sep}`);
}

interface ReadImage {
  readonly name: string;
  readonly mediaType: string;
  readonly data: string;
}

/** The type comes from the bytes: providers refuse a wrong one. */
function readImage(file: string, cwd: string): ReadImage | { readonly message: string; readonly hint: string } {
  const relative = path.relative(cwd, file);
  const name = relative.startsWith('..') ? file : relative;
  const size = quietly(() => statSync(file).size, 0);
  if (size > MAX_BYTES)
    return {
      message: `image ${quoted(name, 200)} is ${bytesText(size)}; the limit is ${bytesText(MAX_BYTES)}`,
      hint: 'scale it down, or name it without @ to show only its name',
    };
  const bytes = quietly(() => readFileSync(file), Buffer.alloc(0));
  const { mediaType } = detectMediaType('', bytes);
  if (TYPES.has(mediaType)) return { name, mediaType, data: bytes.toString('base64') };
  return {
    message: `cannot show ${quoted(name, 200)} to a model: its bytes are ${mediaType}`,
    hint: 'convert it to PNG, JPEG, GIF or WebP, or name it without @',
  };
}

export function imagesLine(images: readonly ReadImage[]): string {
  const sizes = images.map(
    ({ name, data }) => `${shownText(name, 60)} (${bytesText(Buffer.byteLength(data, 'base64'))})`,
  );
  return `shows the model ${sizes.join(', ')}`;
}
