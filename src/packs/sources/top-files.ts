/** Files at the top of a source beside its skills: the manifest of a pack and its signature. */
import { lstatSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { MANIFEST_NAME, MAX_MANIFEST_BYTES } from '../pack/manifest.ts';
import { refused } from '../problems.ts';
import type { StagedSource } from './source.ts';
import { printable, quoted, type SkillError } from '#core';
import { readTextFile } from '#platform';

/** minisign writes less than 400 bytes. */
export const MAX_SIGNATURE_BYTES = 8 * 1024;
const SIGNATURE_ENDINGS = ['.minisig', '.sig'] as const;
const MAX_NAMED = 20;

/**
 * The manifest at `top`, which is copied into the tree if needed, and its signature, unless the archive is signed. Not for a source that is
 * itself a skill, because the file would belong to the skill.
 */
export function copyManifest(
  top: string,
  tree: string,
  signed?: StagedSource['signature'],
): Pick<StagedSource, 'manifest' | 'signature'> {
  const text = readOwnText(path.join(top, MANIFEST_NAME), MAX_MANIFEST_BYTES);
  if (text === undefined) return { signature: signed };
  const manifest = path.join(tree, MANIFEST_NAME);
  if (lstatSync(manifest, { throwIfNoEntry: false }) === undefined) writeFileSync(manifest, text, { flag: 'wx' });
  const own = signed === undefined ? readSignature(path.join(top, MANIFEST_NAME)) : undefined;
  return { manifest, signature: own === undefined ? signed : { of: 'manifest', text: own, payload: manifest } };
}

export function readSignature(file: string): string | undefined {
  for (const ending of SIGNATURE_ENDINGS) {
    const text = readOwnText(file + ending, MAX_SIGNATURE_BYTES);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Reads a file unless it is a link, so that an untrusted folder cannot make us read other files. */
function readOwnText(file: string, maxBytes: number): string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const read = readTextFile(file, maxBytes);
  return read.type === 'read' && read.validUtf8 ? read.text : undefined;
}

export function noSkill(source: string, leftOut: readonly string[]): SkillError {
  // Skills first.
  const isSkill = (line: string): number => Number(/skill\.md: /i.test(line));
  const named = leftOut
    .toSorted((a, b) => isSkill(b) - isSkill(a))
    .slice(0, MAX_NAMED)
    .map((line) => printable(line));
  const more = leftOut.length > MAX_NAMED ? ` and ${String(leftOut.length - MAX_NAMED)} more` : '';
  const but = named.length === 0 ? '' : `; left out: ${named.join(', ')}${more}`;
  return refused('pack/no-skill', `${quoted(source, 200)} has no folder with a SKILL.md${but}`);
}
