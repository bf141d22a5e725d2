/** What lies at the top of a source beside its skills: the manifest of a pack and its signature. */
import { lstatSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { MANIFEST_NAME, MAX_MANIFEST_BYTES } from '../pack/manifest.ts';
import { packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import type { BroughtSource } from './source.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';

/** minisign writes less than 400 bytes. */
export const MAX_SIGNATURE_BYTES = 8 * 1024;
const SIGNATURE_ENDINGS = ['.minisig', '.sig'] as const;
const MAX_NAMED = 5;

/**
 * Notices a manifest at `top`; one that is not in the tree yet is copied there. Not for a source that is itself a skill, whose own file
 * it would be.
 */
export function withManifest(brought: BroughtSource, top: string): BroughtSource {
  const text = readOwnText(path.join(top, MANIFEST_NAME), MAX_MANIFEST_BYTES);
  if (text === undefined) return brought;
  const manifest = path.join(brought.folder, MANIFEST_NAME);
  if (lstatSync(manifest, { throwIfNoEntry: false }) === undefined) writeFileSync(manifest, text, { flag: 'wx' });
  const signed = brought.signature === undefined ? readSignature(path.join(top, MANIFEST_NAME)) : undefined;
  return {
    ...brought,
    manifest,
    ...(signed === undefined ? {} : { signature: { of: 'manifest', text: signed, payload: manifest } }),
  };
}

/** The text of the signature beside a file. */
export function readSignature(file: string): string | undefined {
  for (const ending of SIGNATURE_ENDINGS) {
    const text = readOwnText(file + ending, MAX_SIGNATURE_BYTES);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Text of a file that is no link: a stranger's folder does not choose what of ours is read. */
function readOwnText(file: string, maxBytes: number): string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const read = readTextFile(file, maxBytes);
  return read.type === 'read' && read.validUtf8 ? read.text : undefined;
}

export function noSkill(source: string, leftOut: readonly string[]): PackRefusal {
  const named = leftOut.slice(0, MAX_NAMED).map((line) => printable(line));
  const more = leftOut.length > MAX_NAMED ? ', …' : '';
  const but = named.length === 0 ? '' : `; left out: ${named.join(', ')}${more}`;
  return packRefusal('pack/no-skill', `${quoted(source, 200)} has no folder with a SKILL.md${but}`);
}
