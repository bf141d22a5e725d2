/**
 * Builds a pack: a zip of one or more skills with a manifest of all files. Equal skills give equal bytes on every machine. Everything is
 * validated before the first byte is written, and the file is written atomically.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { Zip, ZipPassThrough, deflateSync } from 'fflate';

import {
  collisionKey,
  isValidName,
  quoted,
  toRelativePath,
  type Diagnostic,
  type SkillError,
  ARCHIVE_LIMITS,
  isProblem,
} from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import { parseSkillMd } from '#skills';
import { openConfined, sha256, pause, realEntry, realPath, temporaryPrefix, type ConfinedDirectory } from '#platform';
import { MANIFEST_NAME, MANIFEST_SCHEMA, formatManifest, type PackManifest, type ManifestSkill } from './manifest.ts';
import { asRefusal, refused, type PackRefusal } from '../problems.ts';
import { openWholeFile, refuseExisting } from '../whole-file.ts';
import { readPackFiles, type PackFiles } from './pack-files.ts';
import { SIGNATURE_SUFFIX } from '../sign/sign.ts';
import type { LockedFile } from '../lock/lock-file.ts';

export interface PackProgress {
  readonly step: 'read' | 'write';
  /** Number of files so far; `total` is known after all were read. */
  readonly done: number;
  readonly total?: number;
  readonly path: string;
}

interface PackUnit {
  readonly dir: string;
  readonly name: string;
  readonly version?: string;
  /** An Agent Plugin, which is packed as a whole. */
  readonly isPlugin?: boolean;
}

export interface BuildPackOptions {
  readonly skills: readonly PackUnit[];
  /** Output file. Without it, everything is done except writing. */
  readonly out?: string;
  /** Replaces an existing file. */
  readonly force?: boolean;
  /** Strict check of a skill. Its errors stop the build. */
  readonly check?: (dir: string) => readonly Diagnostic[];
  /** Packs files that look like secrets, for skills about secrets. */
  readonly allowSecrets?: boolean;
  /** `skill`: the files of a single skill at the top, without a manifest, as discovery by `.well-known` wants it (default: `pack`). */
  readonly layout?: 'pack' | 'skill';
  readonly limits?: ArchiveLimits;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PackProgress) => void;
}

export interface BuiltPack {
  readonly type: 'packed';
  /** Absent if nothing was written. */
  readonly path?: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Number of files in skills, without the manifest. */
  readonly files: number;
  /** Files that were not packed, each with the rule that excluded it. */
  readonly leftOut: readonly string[];
  readonly manifest: PackManifest;
}

/** Throws only the abort reason. */
export async function buildPack(options: BuildPackOptions): Promise<BuiltPack | PackRefusal> {
  try {
    return await build(options);
  } catch (error) {
    return asRefusal(error);
  }
}

interface ReadSkill extends Pick<PackFiles, 'spellings' | 'leftOut'> {
  readonly dir: string;
  readonly manifest: ManifestSkill;
}

async function build(options: BuildPackOptions): Promise<BuiltPack> {
  const { out, force = false, limits = ARCHIVE_LIMITS } = options;
  refuseNames(options.skills);
  if (options.layout === 'skill' && options.skills.length > 1)
    throw refused('pack/two-skills', 'an archive with the files of a skill at its top holds one skill');
  if (out !== undefined && !force) refuseExisting(out);
  const skills: ReadSkill[] = [];
  let files = 0;
  for (const unit of options.skills) {
    const skill = await readSkill(unit, options, files);
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
  if (skills.length === 0) throw refused('pack/no-skill', 'no skill was given');
  const names = new Set<string>();
  for (const { name, dir } of skills) {
    if (!isValidName(name)) throw refused('pack/name', `${quoted(name)} is not a valid skill name`, dir);
    if (names.has(collisionKey(name)))
      throw refused('pack/two-skills', `the skill ${quoted(name)} was given twice`, dir);
    names.add(collisionKey(name));
  }
}

async function readSkill(unit: PackUnit, options: BuildPackOptions, before: number): Promise<ReadSkill> {
  const { dir, name, isPlugin = false } = unit;
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
    main: isPlugin ? 'plugin.json' : 'SKILL.md',
    signal,
    onFile: (at) => {
      done += 1;
      onProgress?.({ step: 'read', done, path: at });
    },
  });
  const version = isPlugin ? unit.version : readSkillVersion(read.mainText, name, dir);
  return {
    dir: real,
    spellings: read.spellings,
    manifest: { name, version, digest: read.digest, files: read.files },
    leftOut: read.leftOut,
  };
}

/** The pack, its signature, and temporary files of killed processes. */
function ownFiles(out: string): (file: string) => boolean {
  const place = realEntry(path.resolve(out));
  const names = [place, `${place}${SIGNATURE_SUFFIX}`];
  const left = names.map((name) => path.join(path.dirname(place), temporaryPrefix(name)));
  return (file) => names.includes(file) || (file.endsWith('.tmp') && left.some((start) => file.startsWith(start)));
}

function readSkillVersion(text: string, name: string, dir: string): string | undefined {
  const source = { path: 'SKILL.md', directory: name, fileName: 'SKILL.md', text, validUtf8: true };
  const { head } = parseSkillMd(source, { mode: 'lenient' });
  if (head === undefined) throw refused('pack/format', `the frontmatter of ${quoted(name)} cannot be read`, dir);
  if (head.name !== name)
    throw refused('pack/name', `the skill has the name ${quoted(head.name)}, expected ${quoted(name)}`, dir);
  return head.meta['version'];
}

function refuseSize(skills: readonly ReadSkill[], limits: ArchiveLimits): void {
  const files = skills.flatMap(({ manifest }) => Object.values(manifest.files));
  const most = Math.min(limits.maxEntries, MAX_ZIP_ENTRIES) - 1;
  if (files.length > most) throw refused('archive/too-many', `there are more than ${String(most)} files`);
  if (files.reduce((sum, { bytes }) => sum + bytes, 0) > limits.maxBytes)
    throw refused('archive/too-large', `the files have more than ${String(limits.maxBytes)} bytes`);
}

async function writeZip(
  skills: readonly ReadSkill[],
  manifest: PackManifest,
  total: number,
  { out, force = false, layout = 'pack', limits = ARCHIVE_LIMITS, signal, onProgress }: BuildPackOptions,
): Promise<Pick<BuiltPack, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256');
  const target = out === undefined ? undefined : openWholeFile(out, { force });
  let size = 0;
  const zip = new Zip((error, bytes) => {
    if (error !== null) throw error;
    size += bytes.length;
    if (size > Math.min(limits.maxArchiveBytes, MAX_ZIP_BYTES))
      throw refused('archive/too-large', `the pack has more than ${String(limits.maxArchiveBytes)} bytes`);
    hash.update(bytes);
    target?.write(bytes);
  });
  const add = (name: string, data: Uint8Array, isExecutable = false): void => {
    const entry = new DeflatedEntry(name, data, isExecutable);
    zip.add(entry);
    entry.push(data, true);
  };
  try {
    if (layout === 'pack') add(MANIFEST_NAME, Buffer.from(formatManifest(manifest), 'utf8'));
    let done = 0;
    for await (const { name, isExecutable, bytes } of packedFiles(skills, signal)) {
      add(layout === 'pack' ? name : name.slice(name.indexOf('/') + 1), bytes, isExecutable);
      done += 1;
      onProgress?.({ step: 'write', done, total, path: name });
    }
    zip.end();
    target?.finish();
  } catch (error) {
    target?.drop();
    throw error;
  }
  return { bytes: size, sha256: hash.digest('hex') };
}

interface PackedFile {
  /** Path in the pack. */
  readonly name: string;
  readonly isExecutable: boolean;
  readonly bytes: Uint8Array;
}

/** Files to read before yielding to the event loop. */
const SLICE = 16;

/** Yields the files sorted by the bytes of their names. Throws a refusal if a file changed since it was validated. */
async function* packedFiles(skills: readonly ReadSkill[], signal: AbortSignal | undefined): AsyncGenerator<PackedFile> {
  const folders = new Map<string, ConfinedDirectory>();
  const sorted = skills
    .flatMap(({ dir, manifest: { name, files }, spellings }) =>
      Object.entries(files).map(([at, file]) => {
        return { dir, at: spellings.get(at) ?? at, file, key: Buffer.from(`${name}/${at}`, 'utf8') };
      }),
    )
    .toSorted((a, b) => Buffer.compare(a.key, b.key));
  try {
    for (const { dir } of skills) folders.set(dir, openFolder(dir));
    for (const [count, { dir, at, file, key }] of sorted.entries()) {
      if (count % SLICE === 0) await pause(signal);
      const bytes = readFile(folders.get(dir), at, file);
      if (sha256(bytes) !== file.sha256) throw changed(at);
      yield { name: key.toString('utf8'), isExecutable: file.executable === true, bytes };
    }
  } finally {
    for (const folder of folders.values()) folder.close();
  }
}

function openFolder(dir: string): ConfinedDirectory {
  const opened = openConfined(dir);
  if (opened.type === 'failed') throw refused('source/changed', `${quoted(dir, 200)} no longer exists`, dir);
  return opened.directory;
}

function readFile(folder: ConfinedDirectory | undefined, at: string, { bytes, executable }: LockedFile): Buffer {
  const path = toRelativePath(at);
  if (isProblem(path)) throw refused('archive/name', path.message, at);
  const read = folder?.read(path, { maxBytes: bytes, allowHardLinks: true, followLinks: false });
  if (read?.type !== 'read' || read.isExecutable !== (executable === true)) throw changed(at);
  return read.bytes;
}

function changed(at: string): SkillError {
  return refused('source/changed', `${quoted(at, 120)} changed while it was packed`, at);
}

/** The writer does not produce Zip64. No pack within the limits needs it. */
const MAX_ZIP_ENTRIES = 0xfffe;
const MAX_ZIP_BYTES = 0xffff_fffe;

/** `fflate` writes the local time of a date, so the date is given in local time: every machine writes 1980-01-01 00:00. */
const TIME = new Date(1980, 0, 1);
const UNIX = 3;
const DEFLATED = 8;
/** `mem` is fixed because `fflate` derives its default from `Math.log`, whose last digit may differ between machines. */
const DEFLATE = { level: 9, mem: 5 } as const;
/** Files that shrink by more than this factor are stored, because archive readers (ours included) reject them as zip bombs. */
const MAX_SHRINK = 100;

/** An entry that is compressed as a whole, because only then it is known whether to store it instead. */
class DeflatedEntry extends ZipPassThrough {
  readonly #deflated: Uint8Array<ArrayBuffer> | undefined;

  constructor(name: string, data: Uint8Array, isExecutable: boolean) {
    super(name);
    const deflated = deflateSync(data, DEFLATE);
    const isWorthIt = deflated.length < data.length && data.length <= deflated.length * MAX_SHRINK;
    this.#deflated = isWorthIt ? deflated : undefined;
    if (isWorthIt) this.compression = DEFLATED;
    this.os = UNIX;
    this.attrs = ((isExecutable ? 0o100755 : 0o100644) << 16) >>> 0;
    this.mtime = TIME;
  }

  protected override process(data: Uint8Array<ArrayBuffer>, final: boolean): void {
    this.ondata(null, this.#deflated ?? data, final);
  }
}
