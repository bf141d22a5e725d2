/** The files of a skill that a model can read, to find answers in them: SKILL.md first, without the cases. Packed and large ones, and those beyond the first, have a name only. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { compareText } from '#core';
import { quietly } from '#platform';
import { findOwnCaseFiles } from '../cases/own-case-files.ts';
import { CASE_FOLDERS } from '../cases/suite.ts';
import type { SkillText } from './finding.ts';

const MOST_FILES = 300;
const MOST_BYTES = 512 * 1024;
const LEFT_OUT = /^\.git$/;
/** Their text, if any, is seen or heard, not read. */
const MEDIA = /\.(?:png|jpe?g|gif|webp|ico|bmp|tiff?|avif|woff2?|ttf|otf|eot|mp[34]|wav|ogg|webm|mov)$/i;

export function readSkillTexts(folder: string): readonly SkillText[] {
  const ownCases = findOwnCaseFiles(folder);
  const seen = listFiles(folder, '').filter((file) => !ownCases.has(file));
  const files = seen.toSorted((a, b) => Number(b === 'SKILL.md') - Number(a === 'SKILL.md') || compareText(a, b));
  return files.map((file, place): SkillText => {
    const full = path.join(folder, file);
    const text = place < MOST_FILES ? quietly(() => readText(full), undefined) : undefined;
    return text === undefined ? { file, text: '', ...(MEDIA.test(file) ? {} : { isUnread: true }) } : { file, text };
  });
}

/** Also of UTF-16, and of programs that hold texts between other bytes; undefined for what is packed or large. */
function readText(file: string): string | undefined {
  if (statSync(file).size > MOST_BYTES) return undefined;
  const bytes = readFileSync(file);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (PACKED.some((head) => bytes.subarray(0, head.length).equals(head))) return undefined;
  // Without its zero bytes, UTF-16 is the text that it spells.
  return bytes.toString('utf8').replaceAll('\0', '');
}

/** The first bytes of zip (also docx and xlsx), gzip, bzip2, xz, zstd, 7z and PDF. */
const PACKED = ['504b0304', '1f8b', '425a68', 'fd377a585a', '28b52ffd', '377abcaf', '25504446'].map((head) =>
  Buffer.from(head, 'hex'),
);

/** Links are not followed. */
function listFiles(folder: string, within: string): readonly string[] {
  return quietly(() => readdirSync(path.join(folder, within), { withFileTypes: true }), []).flatMap((entry) => {
    const name = within === '' ? entry.name : `${within}/${entry.name}`;
    if (entry.isFile()) return [name];
    const isLeftOut = LEFT_OUT.test(entry.name) || CASE_FOLDERS.includes(name);
    return entry.isDirectory() && !isLeftOut ? listFiles(folder, name) : [];
  });
}
