/**
 * Builds a pack: a zip of one or more skills with a manifest of every file. Two builds of equal skills are equal bytes, on any machine.
 * All is judged before the first byte is written, and the file appears whole or not at all.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';

import type { Diagnostic } from '../../core/diagnostic.ts';
import { isValidName } from '../../core/skill-name.ts';
import { ARCHIVE_LIMITS } from '../../core/archive-limits.ts';
import type { ArchiveLimits } from '../../core/archive-limits.ts';
import { MANIFEST_NAME, MANIFEST_SCHEMA, formatManifest } from './manifest.ts';
import type { PackManifest } from './manifest.ts';
import { collisionKey } from '../sources/portable-name.ts';
import { PackRefused, packRefusal } from '../problems.ts';
import type { PackProblem, PackRefusal } from '../problems.ts';
import { parseSkillMd } from '../../format/skill-md.ts';
import { quoted } from '../../core/text/text.ts';
import { realPath } from '../../platform/fs/paths.ts';
import { temporaryPrefix } from '../../platform/fs/atomic-replace.ts';
import { openWholeFile, refuseExisting } from '../whole-file.ts';
import { readPackFiles } from './pack-files.ts';
import { packedFiles } from './packed-files.ts';
import type { JudgedSkill } from './packed-files.ts';
import { SIGNATURE_SUFFIX } from '../sign/sign.ts';
import { MAX_ZIP_BYTES, MAX_ZIP_ENTRIES, openZip } from './zip-writer.ts';

export interface PackProgress {
  readonly step: 'read' | 'write';
  /** Files so far; `total` is known when all were read. */
  readonly done: number;
  readonly total?: number;
  readonly path: string;
}

export interface BuildPackOptions {
  readonly skills: readonly { readonly dir: string; readonly name: string }[];
  /** Where to. Absent: all is done but the writing, to see what would come of it. */
  readonly out?: string;
  /** Replaces what is there. */
  readonly force?: boolean;
  /** The strict check of a skill; its errors stop the pack. */
  readonly check?: (dir: string) => readonly Diagnostic[];
  /** Packs what looks like a secret: for skills about secrets. */
  readonly allowSecrets?: boolean;
  readonly limits?: ArchiveLimits;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PackProgress) => void;
}

export interface BuiltPack {
  readonly type: 'packed';
  /** Absent where nothing was written. */
  readonly path?: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** Files of skills, the manifest not counted. */
  readonly files: number;
  /** What was not taken, and which file says so. */
  readonly leftOut: readonly string[];
  readonly manifest: PackManifest;
}

/** Throws only what `signal` gives. */
export async function buildPack(options: BuildPackOptions): Promise<BuiltPack | PackRefusal> {
  try {
    return await build(options);
  } catch (error) {
    if (error instanceof PackRefused) return error.refusal;
    throw error;
  }
}

interface ReadSkill extends JudgedSkill {
  readonly leftOut: readonly string[];
}

async function build(options: BuildPackOptions): Promise<BuiltPack> {
  const { out, force = false, limits = ARCHIVE_LIMITS } = options;
  refuseNames(options.skills);
  if (out !== undefined && !force) refuseExisting(out);
  const skills: ReadSkill[] = [];
  let files = 0;
  for (const { dir, name } of options.skills) {
    const skill = await readSkill(dir, name, options, files);
    files += Object.keys(skill.manifest.files).length;
    skills.push(skill);
  }
  refuseSize(skills, limits);
  const manifest: PackManifest = { schema: MANIFEST_SCHEMA, skills: skills.map((skill) => skill.manifest) };
  const { bytes, sha256 } = await writeZip(skills, manifest, files, options);
  const leftOut = skills.flatMap((skill) => skill.leftOut.map((line) => `${skill.manifest.name}/${line}`));
  const written = out === undefined ? {} : { path: out };
  return { type: 'packed', ...written, bytes, sha256, files, leftOut, manifest };
}

function refuseNames(skills: BuildPackOptions['skills']): void {
  if (skills.length === 0) throw refused('pack/no-skill', 'no skill was named');
  const names = new Set<string>();
  for (const { name, dir } of skills) {
    if (!isValidName(name)) throw refused('pack/name', `${quoted(name)} is no name of a skill`, dir);
    if (names.has(collisionKey(name))) throw refused('pack/two-skills', `the skill ${quoted(name)} comes twice`, dir);
    names.add(collisionKey(name));
  }
}

async function readSkill(dir: string, name: string, options: BuildPackOptions, before: number): Promise<ReadSkill> {
  const { out, check, limits = ARCHIVE_LIMITS, signal, onProgress } = options;
  const wrong = check?.(dir).find(({ severity }) => severity === 'error');
  if (wrong !== undefined)
    throw refused('pack/format', `${wrong.message} (${wrong.code}, line ${String(wrong.line)})`, wrong.path);
  let done = before;
  const real = realPath(dir);
  const read = await readPackFiles(real, name, {
    limits,
    isOwn: out === undefined ? () => false : ownFiles(out),
    allowSecrets: options.allowSecrets ?? false,
    ...(signal === undefined ? {} : { signal }),
    onFile: (at) => {
      done += 1;
      onProgress?.({ step: 'read', done, path: at });
    },
  });
  const version = versionOf(read.skillMd, name, dir);
  return {
    dir: real,
    spellings: read.spellings,
    manifest: { name, ...(version === undefined ? {} : { version }), digest: read.digest, files: read.files },
    leftOut: read.leftOut,
  };
}

/** The pack, the signature that lies beside it, and what a killed process left of either. */
function ownFiles(out: string): (file: string) => boolean {
  const place = path.join(realPath(path.dirname(path.resolve(out))), path.basename(out));
  const names = [place, `${place}${SIGNATURE_SUFFIX}`];
  const left = names.map((name) => path.join(path.dirname(place), temporaryPrefix(name)));
  return (file) => names.includes(file) || (file.endsWith('.tmp') && left.some((start) => file.startsWith(start)));
}

function versionOf(text: string, name: string, dir: string): string | undefined {
  const source = { path: 'SKILL.md', directory: name, fileName: 'SKILL.md', text, validUtf8: true };
  const { head } = parseSkillMd(source, { mode: 'lenient' });
  if (head === undefined) throw refused('pack/format', `the frontmatter of ${quoted(name)} cannot be read`, dir);
  if (head.name !== name)
    throw refused('pack/name', `the skill calls itself ${quoted(head.name)} and not ${quoted(name)}`, dir);
  return head.meta['version'];
}

function refuseSize(skills: readonly ReadSkill[], limits: ArchiveLimits): void {
  const files = skills.flatMap(({ manifest }) => Object.values(manifest.files));
  const most = Math.min(limits.maxEntries, MAX_ZIP_ENTRIES) - 1;
  if (files.length > most) throw refused('archive/too-many', `there are more than ${String(most)} files`);
  if (files.reduce((sum, { bytes }) => sum + bytes, 0) > limits.maxBytes)
    throw refused('archive/too-large', `the files have more than ${String(limits.maxBytes)} bytes`);
}

interface WrittenZip {
  readonly bytes: number;
  readonly sha256: string;
}

async function writeZip(
  skills: readonly ReadSkill[],
  manifest: PackManifest,
  total: number,
  { out, force = false, limits = ARCHIVE_LIMITS, signal, onProgress }: BuildPackOptions,
): Promise<WrittenZip> {
  const hash = createHash('sha256');
  const target = out === undefined ? undefined : openWholeFile(out, { force });
  const zip = openZip((bytes) => {
    if (zip.size > Math.min(limits.maxArchiveBytes, MAX_ZIP_BYTES))
      throw refused('archive/too-large', `the pack has more than ${String(limits.maxArchiveBytes)} bytes`);
    hash.update(bytes);
    target?.write(bytes);
  });
  try {
    zip.add({ name: MANIFEST_NAME, isExecutable: false }, Buffer.from(formatManifest(manifest), 'utf8'));
    let done = 0;
    for await (const { name, isExecutable, bytes } of packedFiles(skills, signal)) {
      zip.add({ name, isExecutable }, bytes);
      done += 1;
      onProgress?.({ step: 'write', done, total, path: name });
    }
    zip.end();
    target?.finish();
  } catch (error) {
    target?.drop();
    throw error;
  }
  return { bytes: zip.size, sha256: hash.digest('hex') };
}

function refused(code: PackProblem, message: string, at?: string): PackRefused {
  return new PackRefused(packRefusal(code, message, at));
}
