import { isUtf8 } from 'node:buffer';
import { closeSync, fchmodSync, lstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { hash as hashAtOnce } from 'node:crypto';
import path from 'node:path';

import { compareText, parentFolder, quoted } from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import type { ScanFile } from '#scan';
import { OPEN_FLAGS, digestOfEntries, isSystemError, makeFolders, TreeFingerprint, writeAll } from '#platform';
import type { LockedFile } from '../lock/lock-file.ts';
import { openPathValidator, type PathValidator } from './portable-name.ts';
import { isRefusal, orRefusal, refused } from '../problems.ts';
import { SKILL_FILE_NAME, MAX_HEAD, readStagedPlugin, skillName } from './skill-folders.ts';
import type { SkillContents, SourceSkill } from './source.ts';
import { toScanFile } from '../inspect/scan-files.ts';

const NOTHING = new Uint8Array();
const FILE_MODE = 0o644;
const PROGRAM_MODE = 0o755;
/** Links followed to resolve one link. */
const MAX_LINKS = 40;

export interface StagedSkillOptions {
  /** Relative to the source; empty if the source itself is the skill. */
  readonly folder: string;
  /** Absolute path, which must not exist. */
  readonly path: string;
  /** The name if neither SKILL.md nor the folder has one. */
  readonly fallbackName: string;
  readonly limits: ArchiveLimits;
  /** Bytes of file contents to keep for the inspection (default: 0). */
  readonly room?: number;
  /** The folder is an Agent Plugin. */
  readonly wholePlugin?: boolean;
  /** Files arrive in walk order, so that the fingerprint can be computed while writing. */
  readonly isInOrder?: boolean;
}

/** Passes the content in pieces to `write` and returns its SHA-256 in hex and its size. */
export type Fill = (write: (bytes: Uint8Array) => void) => { readonly sha256: string; readonly bytes: number };

/**
 * Writes one skill into the staging folder and computes its lock data. Names are validated, files are created exclusively and with plain
 * permissions. Throws a refusal and system errors.
 */
export class StagedSkill {
  readonly #options: StagedSkillOptions;
  readonly #names: PathValidator;
  readonly #entries: Parameters<typeof digestOfEntries>[0][number][] = [];
  readonly #files: [path: string, file: LockedFile][] = [];
  readonly #folders = new Set<string>();
  /** What each link of a plugin says, by its path. */
  readonly #links = new Map<string, string>();
  #bytes = 0;
  /** Size of the texts in `#seen`. Binary contents are not kept. */
  #kept = 0;
  #head = '';
  /** Undefined if the contents exceed the limit. */
  #seen: ScanFile[] | undefined = [];
  #skillText: string | undefined;
  /** Undefined if a name was normalized, because the order of the copy then differs from the walk. */
  #looks: TreeFingerprint | undefined;
  /** Folders whose fingerprint is added at the end, because new files change their times. */
  readonly #unfinished: { readonly at: string; readonly place: string; readonly look: number }[] = [];

  constructor(options: StagedSkillOptions) {
    this.#options = options;
    this.#names = openPathValidator(options.limits);
    this.#looks = options.isInOrder === true ? new TreeFingerprint() : undefined;
    makeFolder(options.path);
    this.#expectLook('', options.path);
  }

  folder(at: string): void {
    if (at === '' || this.#folders.has(at)) return;
    this.folder(parentFolder(at));
    const below = this.#usable(at, 'folder');
    const place = `${this.#options.path}/${below}`;
    mkdirSync(place);
    this.#folders.add(at);
    this.#entries.push({ kind: 'folder', path: below, content: NOTHING });
    this.#expectLook(below, place);
  }

  file(from: string, isExecutable: boolean, fill: Fill): void {
    this.folder(parentFolder(from));
    const at = this.#usable(from, 'file');
    const mode = isExecutable ? PROGRAM_MODE : FILE_MODE;
    const place = `${this.#options.path}/${at}`;
    const descriptor = openSync(place, OPEN_FLAGS.newFile, mode);
    try {
      let first: Uint8Array = NOTHING;
      const { sha256, bytes } = fill((piece) => {
        this.#write(at, descriptor, piece);
        first = piece;
      });
      this.#see(at, isExecutable, { piece: first, bytes });
      // Sets the mode independently of the umask. Checking first would take longer.
      fchmodSync(descriptor, mode);
      this.#entries.push({ kind: isExecutable ? 'program' : 'file', path: at, content: Buffer.from(sha256, 'hex') });
      this.#files.push([at, isExecutable ? { sha256, bytes, executable: true } : { sha256, bytes }]);
    } finally {
      closeSync(descriptor);
    }
    // By name and after closing, as later checks will see it: some file systems report other times before.
    this.#looks?.append(at, lstatSync(place));
  }

  /** Writes a file from memory. */
  wholeFile(at: string, isExecutable: boolean, bytes: Uint8Array): void {
    this.file(at, isExecutable, (write) => {
      write(bytes);
      return { sha256: hashAtOnce('sha256', bytes, 'hex'), bytes: bytes.length };
    });
  }

  /** Keeps a link until all files are written: `finish` puts a copy of its target in its place. */
  link(at: string, target: string): void {
    this.#links.set(at.normalize('NFC'), target.normalize('NFC'));
  }

  /** The name in SKILL.md as far as it was written, or the name of the folder. */
  async name(): Promise<string> {
    const { folder, fallbackName, wholePlugin = false } = this.#options;
    if (wholePlugin) {
      // A refused plugin may not have its manifest yet.
      const staged = orRefusal(() => readStagedPlugin(this.#options.path));
      return isRefusal(staged) ? fallbackName : staged.name;
    }
    return await skillName(this.#head, folder === '' ? fallbackName : path.posix.basename(folder));
  }

  async finish(): Promise<SourceSkill> {
    const { folder, path: place } = this.#options;
    const isPlugin = this.#options.wholePlugin === true;
    this.#copyTargets();
    if (!isPlugin && !this.#files.some(([at]) => at === SKILL_FILE_NAME))
      throw refused('pack/no-skill', `${quoted(folder)} has no file with the exact name ${SKILL_FILE_NAME}`);
    const seen = isPlugin ? undefined : this.#seenSkill();
    for (const { at, place: folderPlace, look } of this.#unfinished) this.#looks?.set(look, at, lstatSync(folderPlace));
    return {
      folder,
      path: place,
      name: await this.name(),
      digest: digestOfEntries(this.#entries),
      files: Object.fromEntries(this.#files.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      looks: this.#looks,
      seen,
      ...(isPlugin ? { plugin: readStagedPlugin(place).plugin } : {}),
    };
  }

  /** Bytes that count against the limit of all skills. */
  get keptBytes(): number {
    return this.#seen === undefined ? 0 : this.#kept;
  }

  /** Keeps the decoded content. `piece` is a shared buffer, so it must be copied or decoded. */
  #see(
    at: string,
    isExecutable: boolean,
    { piece, bytes }: { readonly piece: Uint8Array; readonly bytes: number },
  ): void {
    if (piece.length < bytes) this.#seen = undefined;
    if (this.#seen === undefined) return;
    const whole = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const file = toScanFile(at, whole, isExecutable);
    if (file.binary === undefined) this.#kept += bytes;
    if (this.#kept > (this.#options.room ?? 0)) {
      this.#seen = undefined;
      return;
    }
    this.#seen.push(file);
    if (at === SKILL_FILE_NAME && isUtf8(whole)) this.#skillText = file.binary === undefined ? file.text : undefined;
  }

  #seenSkill(): SkillContents | undefined {
    if (this.#seen === undefined) return undefined;
    const files = this.#seen.toSorted((a, b) => compareText(a.path, b.path));
    return { files, skillText: this.#skillText };
  }

  /** Copies only files that were written here, so that no link reads or reaches anything outside. */
  #copyTargets(): void {
    // A new file cannot be appended to the fingerprint in the order of the walk.
    if (this.#links.size > 0) this.#looks = undefined;
    const files = [...this.#files];
    for (const from of this.#links.keys()) {
      const target = this.#findTarget(from);
      const copied = files.filter(([at]) => at === target || at.startsWith(`${target}/`));
      if (target === undefined || copied.length === 0 || from.startsWith(`${target}/`))
        throw refused('archive/link', `${quoted(from)} is a link to nothing beside it in the plugin`, from);
      for (const [at, { executable = false }] of copied)
        this.wholeFile(from + at.slice(target.length), executable, readFileSync(`${this.#options.path}/${at}`));
    }
  }

  /** Undefined if it is outside. */
  #findTarget(from: string): string | undefined {
    let at = from;
    for (let followed = 0; followed < MAX_LINKS; followed += 1) {
      const target = this.#links.get(at);
      if (target === undefined) return at;
      at = path.posix.join(path.posix.dirname(at), target).replace(/\/$/, '');
      if (path.posix.isAbsolute(target) || /^\.\.?(?:\/|$)/.test(at)) return undefined;
    }
    return undefined;
  }

  /** The normalized name. */
  #usable(at: string, type: 'file' | 'folder'): string {
    const usable = this.#names.check(at, type);
    if (usable !== at) this.#looks = undefined;
    return usable;
  }

  #expectLook(at: string, place: string): void {
    if (this.#looks !== undefined) this.#unfinished.push({ at, place, look: this.#looks.reserve() });
  }

  #write(at: string, descriptor: number, bytes: Uint8Array): void {
    const { maxBytes } = this.#options.limits;
    this.#bytes += bytes.length;
    if (this.#bytes > maxBytes)
      throw refused('archive/too-large', `with ${quoted(at)} the skill has more than ${String(maxBytes)} bytes`, at);
    if (at === SKILL_FILE_NAME && this.#head === '')
      this.#head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_HEAD)).toString('utf8');
    writeAll(descriptor, bytes);
  }
}

/** The parent folder nearly always exists. */
function makeFolder(place: string): void {
  try {
    mkdirSync(place);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    makeFolders(place);
  }
}
