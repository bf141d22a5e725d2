/** Records a run as it happens. An action that cannot be recorded is not performed: callers append first, and stop if that throws. */
import { closeSync, fsync, fsyncSync, openSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import {
  RUN_SCHEMA,
  visibleJson,
  type RunEvent,
  type RunStart,
  quoted,
  SkillError,
  type RunInfo,
  cleanText,
  type OfType,
  type Redactor,
} from '#core';
import { OPEN_FLAGS, sha256, thisProcess, type LockOwner } from '#platform';
import { openStore, storedJson, type ContentKind, type ContentReference, type Keep } from './references.ts';
import { FIRST_HASH, linkLine } from './journal-lines.ts';
import { contentPath } from './content.ts';
import { flushDue, asRead, openTimeText, ownFields, type DueFlush } from './recorded-event.ts';
import { openFolderPlace, isWriteError, recordFailed, type NamedText, type RecordStorage } from './record-storage.ts';
import { FINAL_FILE, INDEX_FILE, RUN_FILE, SCAN_FILE, STATE_FILE } from './run-folder.ts';
import { toRunInfo, fileText, summarize, withSeal, type RunSummary } from './run-info.ts';
import { sealRun } from './seal.ts';
import { CHAIN_FILE, type ChainKeys } from './chain-lines.ts';
import { appendToChain, forgetRun, type ChainEvent } from './run-chain.ts';

/** What is known about the file that the bytes were. */
type KeptFile = Pick<OfType<RunEvent, 'content-keep'>, 'name' | 'isExecutable'>;

export interface RunRecordOptions extends ChainKeys {
  /**
   * `each`: every line is on disk before `append` returns. `none`: the system decides when; a killed process loses nothing either way.
   */
  readonly sync?: 'none' | 'each';
  /** Redacts every text before it is written. */
  readonly redactor?: Pick<Redactor, 'text' | 'bytes' | 'isEmpty'>;
  readonly now?: () => Date;
  /**
   * Opens the place of the record instead of a folder below the directory. The record is then kept elsewhere: it is not part of the chain
   * of the directory, and `run.json` is first written after some time.
   */
  readonly openPlace?: (directory: string, now: Date, project?: string) => RecordStorage;
  /** The project of the run. A directory behind a link in it is not used. */
  readonly project?: string;
  /** Called with the id before anything is recorded. The run does not begin if it throws. */
  readonly claim?: (run: string) => void;
  /** The owner record of this process, if the caller already has it. */
  readonly owner?: LockOwner;
}

export interface RunRecord {
  readonly id: string;
  readonly path: string;
  /**
   * Writes the event before it returns. Throws `record/failed` if that is impossible, and on every later call. Throws `input/invalid`
   * for a value that is nested too deeply, which leaves the record unchanged.
   */
  append(event: RunEvent): void;
  /**
   * Buffers an event until the next `flush`, or until the program would wait: no event before a wait is ever missing. Callers flush
   * before an action with visible effects. Throws like `append`.
   */
  hold(event: RunEvent): void;
  /** Writes all buffered events. Throws `record/failed` if that is impossible. */
  flush(): void;
  /** Stores bytes in the folder and records their path. */
  keep(bytes: Uint8Array, kind?: ContentKind, file?: KeptFile): KeptContent;
  /** Records the last event and writes all files of the run. Nothing can be appended afterwards. */
  end(outcome: Exclude<RunInfo['outcome'], 'running'>, reason: string): void;
  /** The same, without blocking: the disk writes all files at once, which takes a fraction of the time. */
  endAsync(outcome: Exclude<RunInfo['outcome'], 'running'>, reason: string): Promise<void>;
}

interface KeptContent extends ContentReference {
  /** The stored bytes are without secrets that were in the others. */
  readonly isRedacted: boolean;
}

/** The interval at which `run.json` is rewritten while events arrive. */
const CHECKPOINT_MS = 5_000;

/**
 * Creates a run folder that only this user can access. Throws `record/failed` if it cannot be created, or if another user owns the
 * directory.
 */
export function createRun(directory: string, start: RunStart, options: RunRecordOptions = {}): RunRecord {
  const now = options.now ?? (() => new Date());
  try {
    const startedAt = now();
    const { openPlace = openFolderPlace } = options;
    const place = openPlace(directory, startedAt, options.project);
    let isClaimed = false;
    try {
      options.claim?.(place.id);
      isClaimed = true;
      return new JournalWriter(place, start, { ...options, now, startedAt });
    } catch (error) {
      if (options.openPlace === undefined) {
        rmSync(place.path, { recursive: true, force: true });
        if (isClaimed) forgetRun(place, { ...options, now: startedAt });
      }
      throw error;
    }
  } catch (error) {
    throw isWriteError(error) ? recordFailed(directory, error) : error;
  }
}

class JournalWriter implements RunRecord {
  readonly id: string;
  readonly path: string;
  readonly #place: RecordStorage;
  readonly #options: RunRecordOptions & { readonly now: () => Date };
  readonly #isElsewhere: boolean;
  readonly #isSynced: boolean;
  /** Texts of the current event that get files of their own. */
  readonly #contents = new Map<string, Uint8Array>();
  readonly #keepLong: Keep = (bytes) => {
    const $ref = contentPath('observations', bytes);
    this.#contents.set($ref, bytes);
    return { $ref, bytes: bytes.length };
  };
  readonly #storePlain = openStore({ keep: this.#keepLong });
  readonly #storeClean = openStore({ keep: this.#keepLong, redact: (text) => this.#redact(text) });
  readonly #openedAt = performance.now();
  #checkpointAt = performance.now();
  readonly #timeText: () => string;
  #seq = 0;
  #head = FIRST_HASH;
  /** Buffered lines. */
  #held = '';
  /** A flush that runs before the program waits. It does not keep the run in memory after its end. */
  #due: DueFlush | undefined;
  /** Includes buffered lines. */
  #summary: RunSummary | undefined;
  /** Covers written lines only. */
  #written: RunSummary | undefined;
  #answer: string | undefined;
  #failure: SkillError | undefined;
  #isEnded = false;

  constructor(
    place: RecordStorage,
    start: RunStart,
    { startedAt, ...options }: RunRecordOptions & { readonly now: () => Date; readonly startedAt: Date },
  ) {
    this.id = place.id;
    this.path = place.path;
    this.#place = place;
    this.#options = options;
    this.#isElsewhere = options.openPlace !== undefined;
    this.#isSynced = options.sync === 'each';
    this.#timeText = openTimeText(options.now);
    const { index, scan, ...known } = start;
    // The files are only referenced after their digests are in the first line.
    const indexDigest = this.#writeJson(INDEX_FILE, index);
    const scanned = scan === undefined ? {} : { scanDigest: this.#writeJson(SCAN_FILE, scan) };
    try {
      this.append({
        type: 'run-start',
        schema: RUN_SCHEMA,
        run: this.id,
        ...(this.#isElsewhere ? {} : { chain: this.#link({ type: 'run-start', run: this.id }, startedAt) }),
        ...known,
        indexDigest,
        ...scanned,
        process: options.owner ?? thisProcess(),
      });
      // Nothing waits for the first line: a run that a power failure ends now has done nothing yet.
      if (!this.#isElsewhere) this.#checkpoint(false);
    } catch (error) {
      this.#place.close();
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
    if (this.#isSynced) return this.append(event);
    this.#guarded(() => this.#holdLine(event));
    if (this.#due !== undefined) return;
    this.#due = { flush: () => this.#flushNow() };
    process.nextTick(flushDue, this.#due);
  }

  flush(): void {
    if (this.#held !== '' || this.#failure !== undefined) this.#guarded(() => this.#writeHeld());
  }

  keep(bytes: Uint8Array, kind: ContentKind = 'observations', file: KeptFile = {}): KeptContent {
    return this.#guarded(() => {
      const clean = this.#options.redactor?.bytes(bytes) ?? bytes;
      const kept = { $ref: contentPath(kind, clean), bytes: clean.length };
      if (this.#place.keep(kept.$ref, clean, this.#isSynced) || file.name !== undefined) {
        this.#holdLine({ type: 'content-keep', path: kept.$ref, bytes: kept.bytes, ...file });
        this.#writeHeld();
      }
      return { ...kept, start: Buffer.from(clean).toString('utf8', 0, START_BYTES), isRedacted: clean !== bytes };
    });
  }

  end(outcome: Exclude<RunInfo['outcome'], 'running'>, reason: string): void {
    const { descriptors, finish } = this.#beginEnd(outcome, reason);
    try {
      descriptors.forEach(fsyncSync);
    } catch (error) {
      finish(error);
    }
    finish();
  }

  async endAsync(outcome: Exclude<RunInfo['outcome'], 'running'>, reason: string): Promise<void> {
    const { descriptors, finish } = this.#beginEnd(outcome, reason);
    const waits = await Promise.allSettled(descriptors.map((descriptor) => syncLater(descriptor)));
    const failed = waits.find((wait) => wait.status === 'rejected');
    finish(failed?.reason);
  }

  /** Writes everything. The files get their names after all descriptors are synced, so that `run.json` is never ahead of its lines. */
  #beginEnd(outcome: Exclude<RunInfo['outcome'], 'running'>, reason: string): EndingRun {
    return this.#guarded(() => {
      this.#holdLine({ type: 'run-end', outcome, reason });
      this.#writeHeld();
      const isChained = !this.#isElsewhere;
      if (isChained) this.#link({ type: 'run-end', run: this.id, head: this.#head, count: this.#seq });
      this.#isEnded = true;
      if (this.#due !== undefined) this.#due.flush = undefined;
      const { state } = this.#written ?? {};
      const files = this.#place.prepare([
        ...(state === undefined ? [] : [[STATE_FILE, fileText(state)] as const]),
        ...(this.#answer === undefined ? [] : [[FINAL_FILE, cleanText(this.#answer)] as const]),
        ...this.#infoFile(),
      ]);
      const chain = isChained ? [openSync(path.join(path.dirname(this.path), CHAIN_FILE), OPEN_FLAGS.foreignFile)] : [];
      return {
        descriptors: [...chain, ...files.descriptors],
        finish: (problem) => {
          try {
            if (problem !== undefined) {
              files.discard();
              // If the last lines cannot be synced, the run has not ended.
              this.#isEnded = false;
              throw problem;
            }
            files.replace();
          } catch (error) {
            this.#fail(error);
          } finally {
            chain.forEach(closeSync);
            this.#place.close();
          }
        },
      };
    });
  }

  #link(event: ChainEvent, now = this.#options.now()): string | undefined {
    return appendToChain(path.dirname(this.path), event, { ...this.#options, now, sync: this.#isSynced });
  }

  /** Any disk error ends the record. */
  #guarded<Result>(act: () => Result): Result {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isEnded)
      throw new SkillError({
        code: 'record/failed',
        message: `the run in ${quoted(this.path, 200)} has ended`,
        hint: 'begin another run',
        data: { path: this.path, cause: 'ended' },
      });
    try {
      return act();
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): never {
    if (!isWriteError(error)) throw error;
    this.#failure = recordFailed(this.path, error);
    this.#recordFailure(this.#failure.message);
    throw this.#failure;
  }

  /** No caller waits for this flush; the stored failure is thrown by the next call. */
  #flushNow(): void {
    this.#due = undefined;
    if (this.#failure !== undefined) return;
    try {
      this.flush();
    } catch (error) {
      if (error !== this.#failure) throw error;
    }
  }

  #holdLine(event: RunEvent): void {
    // Contents of a rejected event.
    this.#contents.clear();
    // Checked for each event, because a run may learn secrets later.
    const clean = this.#options.redactor?.isEmpty === false ? this.#storeClean(event) : this.#storePlain(event);
    const stored = clean === event ? event : { ...clean, ...ownFields(event) };
    const eventJson = visibleJson(storedJson(stored, this.#keepLong));
    const seq = this.#seq + 1;
    const time = this.#timeText();
    const elapsed = Math.round((performance.now() - this.#openedAt) * 1000) / 1000;
    const json = `{"seq":${String(seq)},"time":"${time}","elapsed":${String(elapsed)},"event":${eventJson}}`;
    const { line, hash } = linkLine(this.#head, json);
    // After the line is complete, so that a rejected value leaves no file behind.
    for (const [place, content] of this.#contents) this.#place.keep(place, content, this.#isSynced);
    this.#held += line;
    this.#seq = seq;
    this.#head = hash;
    this.#summary = summarize(this.#summary, { seq, time, elapsed, event: asRead(event, stored), hash });
    if (event.type === 'observation' && event.observation.type === 'answered')
      this.#answer = this.#redact(event.observation.answer);
  }

  #writeHeld(): void {
    const lines = this.#held;
    this.#held = '';
    this.#place.append(lines, this.#isSynced);
    this.#written = this.#summary;
    if (performance.now() - this.#checkpointAt > CHECKPOINT_MS) this.#checkpoint();
  }

  /** Writes a new file and returns its digest. */
  #writeJson(name: string, value: unknown): string {
    const store = openStore({ redact: (text) => this.#redact(text) });
    const bytes = Buffer.from(`${visibleJson(JSON.stringify(store(value ?? null)))}\n`, 'utf8');
    this.#place.add(name, bytes, this.#isSynced);
    return sha256(bytes);
  }

  #redact(text: string): string {
    return this.#options.redactor?.text(text) ?? text;
  }

  #checkpoint(isWaiting = true): void {
    this.#checkpointAt = performance.now();
    this.#write(this.#infoFile(), () => this.#place.syncLines(isWaiting));
  }

  /** Returns undefined before the first line. */
  #infoFile(outcome?: { readonly outcome: RunInfo['outcome']; readonly reason: string }): readonly NamedText[] {
    if (this.#written === undefined) return [];
    const info = { ...toRunInfo(this.#written), ...outcome };
    const text = fileText(info);
    const { sealKey } = this.#options;
    const seal = sealKey === undefined || !this.#isEnded ? undefined : sealRun(sealKey, info, text);
    return [[RUN_FILE, withSeal(text, seal)]];
  }

  /** Lines are synced before these files, so that even after a power failure `run.json` is not ahead of its lines. */
  #write(files: readonly NamedText[], syncLines: () => void): void {
    this.#place.replace(files, { sync: this.#isSynced, syncLines });
  }

  /** If even this cannot be written, the run looks like a killed one. */
  #recordFailure(reason: string): void {
    try {
      if (this.#isEnded) return;
      this.#write(this.#infoFile({ outcome: 'record-failed', reason: this.#redact(reason) }), () => undefined);
    } catch (error) {
      if (!isWriteError(error)) throw error;
    } finally {
      this.#place.close();
    }
  }
}

const syncLater = promisify(fsync);

interface EndingRun {
  /** What must be on disk before `finish`. */
  readonly descriptors: readonly number[];
  /** Throws `record/failed`, also for a problem that is given. */
  readonly finish: (problem?: unknown) => void;
}

const START_BYTES = 200;
