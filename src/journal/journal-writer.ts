/** Writing a run down as it happens. What is not recorded is not done: whoever acts appends first, and stops where that throws. */
import { rmSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../core/errors.ts';
import { RUN_SCHEMA } from '../core/run-events.ts';
import type { ContentKind, ContentReference, Outcome, RunEvent, RunStart } from '../core/run-events.ts';
import { quoted } from '../core/text/text.ts';
import { visibleJson } from '../core/json/visible-json.ts';
import { writeFilesAtomically, writeNewFile } from '../platform/fs/atomic-replace.ts';
import { thisProcess } from '../platform/fs/lock-owner.ts';
import type { LockOwner } from '../platform/fs/lock-owner.ts';
import { openSha256 } from '../platform/hash.ts';
import { isSystemError } from '../platform/fs/paths.ts';
import { AppendFile, IncompleteWrite } from './append-file.ts';
import { FIRST_HASH, linkLine } from './chain.ts';
import { ClockText, thousandths } from './clock-text.ts';
import { contentPath, keepContent } from './content.ts';
import { asRead, ownFields } from './recorded-event.ts';
import type { Redactor } from './redact/redact.ts';
import { openStore, plainJson, storedJson } from './references.ts';
import type { Keep } from './references.ts';
import { EVENTS_FILE, FINAL_FILE, INDEX_FILE, RUN_FILE, STATE_FILE, makeRunFolder } from './run-folder.ts';
import { finalText, infoOf, infoText, stateText, summarise, withSeal } from './run-info.ts';
import type { RunSummary } from './run-info.ts';
import { sealOf } from './seal.ts';

export interface RunRecordOptions {
  /** `each`: every line is on the disk before `append` returns. `none`: the system decides when; a kill loses nothing either way. */
  readonly sync?: 'none' | 'each';
  /** Takes secrets out of every text, before it is written anywhere. */
  readonly redactor?: Pick<Redactor, 'text' | 'bytes' | 'isEmpty'>;
  readonly now?: () => Date;
  /** Seals the run when it ends. */
  readonly sealKey?: Uint8Array;
  /** This process, where it was asked for before. */
  readonly owner?: LockOwner;
}

export interface RunRecord {
  readonly id: string;
  readonly path: string;
  /**
   * Written before it returns. Throws `record/failed` where it cannot be, and from then on every time. Throws `input/invalid` for a
   * value that is too deep, which leaves the record as it was.
   */
  append(event: RunEvent): void;
  /**
   * Takes an event whose turn to be written is the next `flush`, or the next moment in which the program would wait: nothing that
   * came before a wait is ever missing. Whoever is about to do something that others can see flushes first. Throws as `append` does.
   */
  hold(event: RunEvent): void;
  /** All that was taken is written before it returns. Throws `record/failed` where it cannot be. */
  flush(): void;
  /** Keeps bytes in the folder and records that they are there. */
  keep(bytes: Uint8Array, kind?: ContentKind): ContentReference;
  /** The last event, and all files of the run. Nothing can be appended afterwards. */
  end(outcome: Exclude<Outcome, 'running'>, reason: string): void;
}

/** `run.json` is written anew after so long, where something happens. */
const CHECKPOINT_MS = 5_000;

/** Opens a new run folder, for us alone. Throws `record/failed` where it cannot be made, or the directory is not ours. */
export function createRun(directory: string, start: RunStart, options: RunRecordOptions = {}): RunRecord {
  const now = options.now ?? (() => new Date());
  try {
    const folder = makeRunFolder(path.resolve(directory), now());
    try {
      return new JournalWriter(folder, start, { ...options, now });
    } catch (error) {
      rmSync(folder.path, { recursive: true, force: true });
      throw error;
    }
  } catch (error) {
    throw isWriteError(error) ? recordFailed(directory, error) : error;
  }
}

class JournalWriter implements RunRecord {
  readonly id: string;
  readonly path: string;
  readonly #events: AppendFile;
  readonly #options: RunRecordOptions & { readonly now: () => Date };
  /** Texts of the event that is being stored which get files of their own. */
  readonly #contents = new Map<string, Uint8Array>();
  readonly #keepLong: Keep = (bytes) => {
    const $ref = contentPath('observations', bytes);
    this.#contents.set($ref, bytes);
    return { $ref, bytes: bytes.length };
  };
  readonly #storePlain = openStore({ keep: this.#keepLong });
  readonly #storeClean = openStore({ keep: this.#keepLong, redact: (text) => this.#redact(text) });
  readonly #hash = openSha256();
  readonly #clock = new ClockText();
  readonly #openedAt = performance.now();
  #checkpointAt = performance.now();
  #seq = 0;
  #head = FIRST_HASH;
  /** Lines that are not written yet. */
  #held = '';
  /** A flush that is due before the program waits; it holds nothing once the run is over, however long nothing waits. */
  #due: DueFlush | undefined;
  /** With what is held. */
  #summary: RunSummary | undefined;
  /** Of what is written. */
  #written: RunSummary | undefined;
  #answer: string | undefined;
  #failure: SkillError | undefined;
  #isEnded = false;

  constructor(
    folder: { readonly id: string; readonly path: string },
    start: RunStart,
    options: RunRecordOptions & { readonly now: () => Date },
  ) {
    this.id = folder.id;
    this.path = folder.path;
    this.#options = options;
    const index = Buffer.from(this.#indexText(start.index), 'utf8');
    // Before its digest is in the first line, nobody knows that it is there.
    writeNewFile(path.join(this.path, INDEX_FILE), index, { sync: options.sync === 'each' });
    this.#events = new AppendFile(path.join(this.path, EVENTS_FILE));
    const { index: _, ...known } = start;
    try {
      this.append({
        type: 'run-start',
        schema: RUN_SCHEMA,
        run: this.id,
        ...known,
        indexDigest: this.#hash(index),
        process: options.owner ?? thisProcess(),
      });
      this.#checkpoint();
    } catch (error) {
      this.#events.close();
      throw error;
    }
  }

  append(event: RunEvent): void {
    this.#guarded(() => {
      this.#holdLine(event);
      this.#writeHeld();
    });
  }

  hold(event: RunEvent): void {
    if (this.#options.sync === 'each') return this.append(event);
    this.#guarded(() => this.#holdLine(event));
    if (this.#due !== undefined) return;
    this.#due = { flush: () => this.#flushNow() };
    process.nextTick(flushDue, this.#due);
  }

  flush(): void {
    if (this.#held !== '' || this.#failure !== undefined) this.#guarded(() => this.#writeHeld());
  }

  keep(bytes: Uint8Array, kind: ContentKind = 'observations'): ContentReference {
    return this.#guarded(() => {
      const clean = this.#options.redactor?.bytes(bytes) ?? bytes;
      const kept = { $ref: contentPath(kind, clean), bytes: clean.length };
      if (this.#keepFile(kept.$ref, clean)) {
        this.#holdLine({ type: 'content-keep', path: kept.$ref, bytes: kept.bytes });
        this.#writeHeld();
      }
      return { ...kept, start: Buffer.from(clean).toString('utf8', 0, START_BYTES) };
    });
  }

  end(outcome: Exclude<Outcome, 'running'>, reason: string): void {
    this.#guarded(() => {
      this.#holdLine({ type: 'run-end', outcome, reason });
      this.#writeHeld();
      this.#isEnded = true;
      if (this.#due !== undefined) this.#due.flush = undefined;
      const { state } = this.#written ?? {};
      this.#write([
        ...(state === undefined ? [] : [[STATE_FILE, stateText(state)] as const]),
        ...(this.#answer === undefined ? [] : [[FINAL_FILE, finalText(this.#answer)] as const]),
        ...this.#infoFile(),
      ]);
      this.#events.close();
    });
  }

  /** Whatever goes wrong with the disk is the end of the record. */
  #guarded<Result>(act: () => Result): Result {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isEnded) throw ended(this.path);
    try {
      return act();
    } catch (error) {
      if (!isWriteError(error)) throw error;
      this.#failure = recordFailed(this.path, error);
      this.#tellFailure(this.#failure.message);
      throw this.#failure;
    }
  }

  /** Nobody waits for it, so that nobody is told: whoever comes next is, by the failure that is kept. */
  #flushNow(): void {
    this.#due = undefined;
    if (this.#failure !== undefined) return;
    try {
      this.flush();
    } catch (error) {
      if (error !== this.#failure) throw error;
    }
  }

  /** Not before the whole line is made: a value that is refused leaves no file behind. */
  #keepContents(): void {
    for (const [place, content] of this.#contents) this.#keepFile(place, content);
    this.#contents.clear();
  }

  #holdLine(event: RunEvent): void {
    // Of one that was refused.
    if (this.#contents.size > 0) this.#contents.clear();
    const plain = this.#plainJson(event);
    const clean = plain === undefined ? this.#stored(event) : event;
    const stored = clean === event ? event : { ...clean, ...ownFields(event) };
    const eventJson = visibleJson(plain ?? storedJson(stored, this.#keepLong));
    const seq = this.#seq + 1;
    const time = this.#clock.text(this.#options.now());
    const micros = Math.round((performance.now() - this.#openedAt) * 1000);
    const json = `{"seq":${String(seq)},"time":"${time}","elapsed":${thousandths(micros)},"event":${eventJson}}`;
    const { line, hash } = linkLine(this.#head, json, this.#hash);
    if (this.#contents.size > 0) this.#keepContents();
    this.#held += line;
    this.#seq = seq;
    this.#head = hash;
    this.#summary = summarise(this.#summary, { seq, time, elapsed: micros / 1000, event: asRead(event, stored), hash });
    if (event.type === 'observation' && event.observation.type === 'answered')
      this.#answer = this.#redact(event.observation.answer);
  }

  #writeHeld(): void {
    const lines = this.#held;
    this.#held = '';
    this.#events.append(lines);
    if (this.#options.sync === 'each') this.#events.sync();
    this.#written = this.#summary;
    if (performance.now() - this.#checkpointAt > CHECKPOINT_MS) this.#checkpoint();
  }

  #indexText(index: unknown): string {
    const store = openStore({ redact: (text) => this.#redact(text) });
    return `${visibleJson(JSON.stringify(store(index ?? null)))}\n`;
  }

  /** Nothing where the event has to be walked through. Observations mostly are too long to be tried. */
  #plainJson(event: RunEvent): string | undefined {
    return event.type === 'observation' || this.#mayHoldSecrets() ? undefined : plainJson(event);
  }

  #stored(event: RunEvent): object {
    return this.#mayHoldSecrets() ? this.#storeClean(event) : this.#storePlain(event);
  }

  /** Asked for each event: a run gets to know secrets while it goes on. */
  #mayHoldSecrets(): boolean {
    const { redactor } = this.#options;
    return redactor !== undefined && !redactor.isEmpty;
  }

  #redact(text: string): string {
    return this.#options.redactor?.text(text) ?? text;
  }

  #keepFile(place: string, bytes: Uint8Array): boolean {
    return keepContent(this.path, place, bytes, this.#options.sync === 'each');
  }

  #checkpoint(): void {
    this.#checkpointAt = performance.now();
    this.#write(this.#infoFile());
  }

  /** Nothing before the first line. */
  #infoFile(outcome?: { readonly outcome: Outcome; readonly reason: string }): readonly NamedText[] {
    if (this.#written === undefined) return [];
    const info = { ...infoOf(this.#written), ...outcome };
    const text = infoText(info);
    const { sealKey } = this.#options;
    const seal = sealKey === undefined || !this.#isEnded ? undefined : sealOf(sealKey, info, text);
    return [[RUN_FILE, withSeal(text, seal)]];
  }

  /** What they say of the events is on the disk before them: not even a power cut leaves `run.json` ahead of its lines. */
  #write(files: readonly NamedText[], before = () => this.#syncLines()): void {
    writeFilesAtomically(
      files.map(([name, text]) => ({ file: path.join(this.path, name), data: Buffer.from(text, 'utf8') })),
      before,
      { sync: this.#isEnded || this.#options.sync === 'each' },
    );
  }

  /** A run whose last lines do not get to the disk has not ended. */
  #syncLines(): void {
    try {
      this.#events.sync();
    } catch (error) {
      this.#isEnded = false;
      throw error;
    }
  }

  /** Where even this cannot be written, the run looks as if it had been killed. */
  #tellFailure(reason: string): void {
    try {
      if (this.#isEnded) return;
      this.#write(this.#infoFile({ outcome: 'record-failed', reason: this.#redact(reason) }), () => undefined);
    } catch (error) {
      if (!isWriteError(error)) throw error;
    } finally {
      this.#events.close();
    }
  }
}

type NamedText = readonly [name: string, text: string];

interface DueFlush {
  flush: (() => void) | undefined;
}

/** A function of its own: the queue must not hold the run through what a closure sees. */
function flushDue(due: DueFlush): void {
  due.flush?.();
}

const START_BYTES = 200;

function isWriteError(error: unknown): error is Error {
  return isSystemError(error) || error instanceof IncompleteWrite;
}

function recordFailed(place: string, error: Error): SkillError {
  const cause = isSystemError(error) ? error.code : error.message;
  return new SkillError({
    code: 'record/failed',
    message: `the run cannot be recorded in ${quoted(place, 200)}: ${cause}`,
    hint: 'look at the space on the disk and at the folder; what cannot be recorded is not done',
    data: { path: place, cause },
    cause: error,
  });
}

function ended(place: string): SkillError {
  return new SkillError({
    code: 'record/failed',
    message: `the run in ${quoted(place, 200)} is over`,
    hint: 'begin another run',
    data: { path: place, cause: 'ended' },
  });
}
