import { diagnose, type Diagnostic, type Mode } from '#core';
import { isSettled } from '#platform';
import { relaxDiagnostics } from './scan-settings.ts';
import type { HeadOptions, HeadReading, readSimpleHead } from '../format/simple-head.ts';
import { findSpelling } from './list-directory.ts';
import { HeadReader } from './read-head-bytes.ts';
import { isUnchanged, type HeadRecord, type KnownFile } from './known-skills.ts';
import type { PendingHead, ScanResult, ScannedSkill, UnchangedSkills } from './scan-result.ts';
import { statFile } from './file-stamp.ts';

/** A folder that may be a skill. */
export interface Folder {
  readonly place: UnchangedSkills;
  readonly name: string;
  readonly dir: string;
  readonly isRoot: boolean;
}

export interface FolderReaderOptions {
  readonly mode: Mode;
  readonly blockAngleBrackets: boolean;
  readonly tolerated: readonly Diagnostic['code'][];
  readonly now: () => number;
}

const NO_DIAGNOSTICS: readonly Diagnostic[] = [];
/** The file system opens `skill.md` as `SKILL.md`, so that the real spelling must be looked up. */
const IGNORES_CASE = process.platform === 'darwin' || process.platform === 'win32';

/** Reads the frontmatter of skill folders and adds the results to one scan. */
export class FolderReader {
  readonly #reader = new HeadReader();
  readonly #result: ScanResult;
  readonly #options: HeadOptions;
  readonly #tolerated: FolderReaderOptions['tolerated'];
  readonly #now: () => number;
  /** Loaded for the first file that is not in the cache. */
  #readSimpleHead: typeof readSimpleHead | undefined;
  readonly #waiting: PendingHead[] = [];

  constructor(result: ScanResult, { mode, blockAngleBrackets, tolerated, now }: FolderReaderOptions) {
    this.#result = result;
    this.#options = { mode, blockAngleBrackets };
    this.#tolerated = tolerated;
    this.#now = now;
  }

  get bytesRead(): number {
    return this.#reader.bytesRead;
  }

  /** Returns false if the folder is not a skill. The file is not opened if `known` has its current stamp. */
  read(folder: Folder, file: string, known: KnownFile | undefined): boolean {
    const { dir, place, name } = folder;
    const path = `${dir}/${file}`;
    if (known?.file === file && this.keepUnchanged(place, name, path, known)) return true;
    if (IGNORES_CASE && file === 'SKILL.md') {
      const spelling = findSpelling(dir, file);
      if (spelling !== undefined && spelling !== file) return this.read(folder, spelling, known);
    }
    return this.#readFile(folder, file, path);
  }

  /** Counts the skill as unchanged if the file at `path` still has the stamp of `known`. */
  keepUnchanged(place: UnchangedSkills, name: string, path: string, known: KnownFile): boolean {
    const stamp = statFile(path);
    if (stamp === undefined || !isUnchanged(known, stamp)) return false;
    this.#result.skills += 1;
    this.#result.unchangedCount += 1;
    place.names.push(name);
    return true;
  }

  #readFile(folder: Folder, file: string, path: string): boolean {
    const result = this.#result;
    const readAt = this.#now();
    const reading = this.#reader.read(path, folder.dir);
    if (reading.type === 'absent') return false;
    result.skills += 1;
    if (reading.type === 'failed') {
      result.failed.push({ path, code: reading.code, message: reading.message });
      return true;
    }
    const { stamp } = reading;
    const skill = toScanned(folder, file, stamp);
    skill.settled = isSettled(stamp, readAt);
    result.fresh.push(skill);
    if (reading.type === 'unusable') {
      skill.diagnostics = [diagnose({ code: reading.code, path, message: reading.message }, this.#options.mode)];
      return true;
    }
    const { text, validUtf8, digest } = reading;
    skill.digest = digest;
    const source = { path, directory: folder.name, fileName: file, text, validUtf8 };
    if (this.#readSimpleHead === undefined) this.#waiting.push({ skill, source });
    else this.#parse({ skill, source }, this.#readSimpleHead);
    return true;
  }

  /** Leaves frontmatter that needs the YAML library to `loadParser`. */
  #parse(pending: PendingHead, read: typeof readSimpleHead): void {
    const head = read(pending.source, this.#options);
    if (head === undefined) this.#result.pending.push(pending);
    else this.#complete(pending.skill, head);
  }

  /** Loads the plain reader if a file waits for it; files after that do not wait. */
  async readWaiting(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const { readSimpleHead: read } = await import('../format/simple-head.ts');
    this.#readSimpleHead = read;
    for (const pending of this.#waiting.splice(0)) this.#parse(pending, read);
  }

  /** Loads the YAML library and returns the function that reads pending frontmatter with it. */
  async loadParser(): Promise<(pending: PendingHead) => void> {
    const { readHeadAsYaml } = await import('../format/read-head.ts');
    return ({ skill, source }) => {
      this.#complete(skill, readHeadAsYaml(source, this.#options));
    };
  }

  #complete(skill: ScannedSkill, { head, diagnostics }: HeadReading): void {
    skill.head = head;
    skill.diagnostics = relaxDiagnostics(this.#tolerated, diagnostics);
  }
}

function toScanned(
  { place, name, dir, isRoot }: Folder,
  file: string,
  stamp: NonNullable<ReturnType<typeof statFile>>,
): ScannedSkill {
  const { root, parent, group, linked } = place;
  const { size, mtimeMs, ctimeMs, ino, dev } = stamp;
  return {
    root,
    parent: isRoot ? undefined : parent,
    name,
    dir,
    group,
    linked,
    file,
    settled: false,
    digest: '',
    head: undefined,
    diagnostics: NO_DIAGNOSTICS,
    size,
    mtimeMs,
    ctimeMs,
    ino,
    dev,
  };
}

/** A skill folder that is unchanged since an earlier scan read `record` from it. */
export function toUnchanged(place: UnchangedSkills, name: string, record: HeadRecord): ScannedSkill {
  const skill = toScanned({ place, name, dir: `${place.parent}/${name}`, isRoot: false }, record.file, record);
  skill.settled = true;
  skill.digest = record.digest;
  skill.head = record.head;
  skill.diagnostics = record.diagnostics;
  return skill;
}
