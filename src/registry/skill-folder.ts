import { readColonHead } from '../format/colon-head.ts';
import { diagnose } from '../core/diagnostic.ts';
import type { Diagnostic, Mode } from '../core/diagnostic.ts';
import { readWithoutFences } from '../format/missing.ts';
import { openQuickHeadReader } from '../format/quick-head.ts';
import type { QuickHeadReader, QuickReading } from '../format/quick-head.ts';
import { hasBracket } from '../format/quick-notes.ts';
import { readPlainHead } from '../format/skill-head.ts';
import type { HeadOptions, HeadReading, HeadSource } from '../format/skill-head.ts';
import { NoteTeller } from '../format/deferred-diagnostics.ts';
import { isSettled, statFile } from '../platform/fs/file-stamp.ts';
import type { FileStamp } from '../platform/fs/file-stamp.ts';
import { spellingOf } from '../platform/fs/list-directory.ts';
import { HeadReader } from './read-head-bytes.ts';
import { isUnchanged } from './head-record.ts';
import type { HeadRecord, Memory } from './head-record.ts';
import type { KeptSkills, PendingHead, ReadSkill, Walked } from './walked.ts';

/** A folder that may be a skill. */
export interface Folder {
  readonly place: KeptSkills;
  readonly name: string;
  readonly dir: string;
  readonly isRoot: boolean;
}

export interface FolderReaderOptions {
  readonly mode: Mode;
  readonly blockAngleBrackets: boolean;
  readonly now: () => number;
  readonly memory: Memory;
  /** The file system finds `skill.md` when asked for `SKILL.md`, so that the real spelling has to be looked up. */
  readonly ignoresCase?: boolean;
}

const NONE: readonly Diagnostic[] = [];

/** Reads the frontmatter of skill folders for one scan, and files what it finds with the walk. */
export class FolderReader {
  readonly #reader = new HeadReader();
  #quick: QuickHeadReader | undefined;
  readonly #walked: Walked;
  readonly #head: HeadOptions;
  readonly #teller: NoteTeller;
  readonly #now: () => number;
  readonly #ignoresCase: boolean;
  readonly #memory: Memory;

  constructor(
    walked: Walked,
    {
      mode,
      memory,
      blockAngleBrackets,
      now,
      ignoresCase = process.platform === 'darwin' || process.platform === 'win32',
    }: FolderReaderOptions,
  ) {
    this.#walked = walked;
    this.#head = { mode, blockAngleBrackets };
    this.#teller = new NoteTeller(this.#head);
    this.#now = now;
    this.#memory = memory;
    this.#ignoresCase = ignoresCase;
  }

  get bytesRead(): number {
    return this.#reader.bytesRead;
  }

  /** False where the folder is no skill. The record `known` is believed where its stamp is that of the file now. */
  read(folder: Folder, file: string, known: number | undefined): boolean {
    const { dir } = folder;
    const path = `${dir}/${file}`;
    if (known !== undefined && this.#memory.file(known) === file && this.#isAsRemembered(path, known)) {
      this.#keep(folder.place, known);
      return true;
    }
    if (this.#ignoresCase && file === 'SKILL.md') {
      const spelling = spellingOf(dir, file);
      if (spelling !== undefined && spelling !== file) return this.read(folder, spelling, known);
    }
    return this.#readFile(folder, file, path);
  }

  /** The record of that number is of this SKILL.md and the file has not changed since; then it is kept. */
  keepUnchanged(place: KeptSkills, path: string, number: number): boolean {
    const unchanged = this.#memory.file(number) === 'SKILL.md' && this.#isAsRemembered(path, number);
    if (unchanged) this.#keep(place, number);
    return unchanged;
  }

  #isAsRemembered(path: string, number: number): boolean {
    const stamp = statFile(path);
    return stamp !== undefined && isUnchanged(this.#memory, number, stamp);
  }

  #keep(place: KeptSkills, number: number): void {
    this.#walked.skills += 1;
    this.#walked.unchanged += 1;
    place.numbers.push(number);
  }

  #readFile(folder: Folder, file: string, path: string): boolean {
    const walked = this.#walked;
    const readAt = this.#now();
    const reading = this.#reader.read(path, folder.dir);
    if (reading.type === 'absent') return false;
    walked.skills += 1;
    if (reading.type === 'failed') {
      walked.failed.push({ path, code: reading.code, message: reading.message });
      return true;
    }
    const { stamp } = reading;
    const skill = toFresh(folder, file, stamp);
    skill.settled = isSettled(stamp, readAt);
    if (reading.type === 'unusable') {
      skill.diagnostics = [diagnose({ code: reading.code, path, message: reading.message }, this.#head.mode)];
    } else {
      const { text, validUtf8, digest } = reading;
      skill.digest = digest;
      const quick = validUtf8 ? this.#readQuick(text, folder.name) : undefined;
      if (quick === undefined) {
        this.#readInFull(skill, { path, directory: folder.name, fileName: file, text, validUtf8 });
      } else {
        skill.head = quick.head;
        skill.notes = file === 'SKILL.md' ? quick.notes : undefined;
        skill.untold = text;
      }
    }
    walked.fresh.push(skill);
    return true;
  }

  /** Opened for the first file that is read: a listing that finds all as remembered needs none. */
  #readQuick(text: string, directory: string): QuickReading | undefined {
    this.#quick ??= openQuickHeadReader();
    const reading = this.#quick.read(text, directory);
    // What is left out for a bracket is for those who tell of it.
    const isBlocked = this.#head.blockAngleBrackets === true && hasBracket(reading?.head?.description ?? '');
    return isBlocked ? undefined : reading;
  }

  #readInFull(skill: ReadSkill, source: HeadSource): void {
    const understood =
      skill.digest === ''
        ? readWithoutFences(source, this.#head)
        : (readPlainHead(source, this.#head) ?? readColonHead(source, this.#head));
    if (understood === undefined) this.#walked.pending.push({ skill, source });
    else complete(skill, understood);
  }

  /** Makes the diagnostics of a skill, where that was put off. */
  tell(skill: ReadSkill): void {
    const { dir, file, name, untold, head, notes } = skill;
    if (untold === '') return;
    const source = { path: `${dir}/${file}`, directory: name, fileName: file, text: untold, validUtf8: true };
    skill.diagnostics =
      (head === undefined || notes === undefined ? undefined : this.#teller.tell(source, head, notes)) ??
      this.#tellInFull(source);
    skill.untold = '';
    skill.notes = undefined;
  }

  #tellInFull(source: HeadSource): readonly Diagnostic[] {
    const reading = readPlainHead(source, this.#head) ?? readColonHead(source, this.#head);
    if (reading === undefined) throw new Error('the quick reader took what the others do not take');
    return reading.diagnostics;
  }

  /** Loads the whole parser, which completes whatever is pending. */
  async loadParser(): Promise<(pending: PendingHead) => void> {
    const { readHead } = await import('../format/read-head.ts');
    return ({ skill, source }) => {
      complete(skill, readHead(source, this.#head));
    };
  }
}

function complete(skill: ReadSkill, { head, diagnostics }: HeadReading | HeadRecord): void {
  skill.head = head;
  skill.diagnostics = diagnostics;
}

function toFresh({ place, name, dir, isRoot }: Folder, file: string, stamp: FileStamp): ReadSkill {
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
    diagnostics: NONE,
    untold: '',
    notes: undefined,
    size,
    mtimeMs,
    ctimeMs,
    ino,
    dev,
  };
}

/** A skill folder that is as remembered. */
export function toKept(place: KeptSkills, name: string, record: HeadRecord): ReadSkill {
  const skill = toFresh({ place, name, dir: `${place.parent}/${name}`, isRoot: false }, record.file, record);
  skill.settled = true;
  skill.digest = record.digest;
  complete(skill, record);
  return skill;
}
