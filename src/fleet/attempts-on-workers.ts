/** The side of an evaluation whose attempts run on workers: submits them, waits, and brings records and files to this machine. */
import { setMaxListeners } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { countText, SkillError, toRelativePath, isProblem } from '#core';
import type { Elsewhere } from '#evals';
import { newRunId } from '#journal';
import { namesIn } from '#platform';
import { ensureProject } from './keys.ts';
import type { Fleet } from './open-fleet.ts';
import { restoreRecord, storedRecords } from './run-store.ts';
import { cancelRun, readRow, submitRun, type StoredAttempt } from './run-table.ts';
import { pinFolders } from './skill-sets.ts';
import { checked, damaged, type SuiteModel } from './stored-attempt.ts';

interface RemoteResult {
  readonly result: Readonly<Record<string, unknown>>;
  /** The name of its record below `runs`; undefined if nothing was recorded. */
  readonly record: string | undefined;
}

export interface AttemptsOnWorkers {
  /** Stores the skills of a suite once. Its copies have no cases in them. */
  pin(set: {
    readonly folder: string;
    readonly roots: readonly { readonly source: string; readonly path: string }[];
  }): Promise<StoredAttempt['roots']>;
  run(
    attempt: StoredAttempt,
    request: string,
    places: { readonly runs: string; readonly outputs: string | undefined },
  ): Promise<RemoteResult>;
  close(): Promise<void>;
}

const PROJECT = 'default';
const POLL_MS = 100;
const SEEN_SECONDS = 10;
const SEEN_EACH_MS = 1_000;

/** Throws `executor/unavailable` if no worker could take an attempt. `maxSilentMs`: how long attempts wait while no worker is seen. */
export async function openAttemptsOnWorkers(
  fleet: Fleet,
  signal: AbortSignal,
  maxSilentMs = 30_000,
): Promise<AttemptsOnWorkers> {
  const { pool, contents } = fleet;
  const isWorkerSeen = async (): Promise<boolean> => {
    const { rowCount } = await pool.query(
      'select 1 from skillwright.workers where seen_at > now() - make_interval(secs => $1) and not is_draining limit 1',
      [SEEN_SECONDS],
    );
    return rowCount !== 0;
  };
  await ensureProject(pool, PROJECT);
  if (!(await isWorkerSeen()))
    throw noWorkers(`no worker of the fleet was seen in the last ${String(SEEN_SECONDS)} seconds`);
  const owner = { actor: `eval on ${hostname()}`, project: PROJECT };
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const open = new Map<string, Promise<RemoteResult>>();
  const pinned = new Map<string, Promise<StoredAttempt['roots']>>();

  // One question for all open attempts.
  let [seenAt, askedAt] = [performance.now(), performance.now()];
  const checkWorkers = async (): Promise<void> => {
    const now = performance.now();
    if (now - askedAt > Math.min(SEEN_EACH_MS, maxSilentMs)) {
      askedAt = now;
      if (await isWorkerSeen()) seenAt = performance.now();
    }
    if (now - seenAt <= maxSilentMs) return;
    const attempts = `${countText(open.size, 'open attempt is', 'open attempts are')} cancelled: ${[...open.keys()].join(', ')}`;
    throw noWorkers(
      `no worker of the fleet was seen for ${String(SEEN_SECONDS + maxSilentMs / 1_000)} seconds; ${attempts}`,
    );
  };

  const result = async (
    id: string,
    { runs, outputs }: Parameters<AttemptsOnWorkers['run']>[2],
  ): Promise<RemoteResult> => {
    try {
      while ((await readRow(pool, PROJECT, id))?.state !== 'ended') {
        stop.throwIfAborted();
        await checkWorkers();
        await sleep(POLL_MS, undefined, { signal: stop }).catch(() => undefined);
      }
    } catch (error) {
      await cancelRun(fleet, PROJECT, id);
      throw error;
    }
    const { rows } = await pool.query<{ stored: Stored | null; reason: string }>(
      'select result as stored, reason from skillwright.runs where id = $1',
      [id],
    );
    const [end] = rows;
    if (end?.stored === null || end === undefined) throw new Error(`the worker failed: ${end?.reason ?? 'no result'}`);
    let record: string | undefined;
    // Records of attempts that were lost are not results.
    const records = await storedRecords(pool, id);
    const last = records.at(-1)?.attempt;
    for (const one of records.filter(({ attempt }) => attempt === last)) {
      await restoreRecord(fleet, { run: id, ...one }, runs);
      if (!one.isChild) ({ record } = one);
    }
    for (const { path: name, digest } of outputs === undefined ? [] : end.stored.outputs) {
      const place = toRelativePath(name);
      if (isProblem(place)) throw damaged('a result names a file outside its folder');
      const file = path.join(outputs ?? '', place);
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, await checked(contents, digest), { mode: 0o600 });
    }
    return { result: end.stored.result, record };
  };

  return {
    pin({ folder, roots }) {
      const pinRoots = async (): Promise<StoredAttempt['roots']> => {
        const sets = [];
        for (const { source, path: root } of roots.length === 0 ? [{ source: 'option', path: folder }] : roots) {
          const skills = namesIn(root).map((name) => ({ name, dir: path.join(root, name) }));
          sets.push({ source, skillSet: await pinFolders(fleet, skills) });
        }
        return sets;
      };
      const known = pinned.get(folder) ?? pinRoots();
      pinned.set(folder, known);
      return known;
    },
    async run(attempt, request, places) {
      const [first] = attempt.roots;
      if (first === undefined) throw new TypeError('an attempt has at least one set of skills');
      stop.throwIfAborted();
      const options = { evaluation: attempt };
      const submission = { id: newRunId(new Date()), request, skillSet: first.skillSet, options };
      const { id } = await submitRun(fleet, submission, owner);
      const done = result(id, places);
      open.set(id, done);
      return done.finally(() => open.delete(id));
    },
    async close() {
      over.abort(new Error('the evaluation has ended'));
      await Promise.allSettled(open.values());
    },
  };
}

interface Stored {
  readonly result: Readonly<Record<string, unknown>>;
  readonly outputs: readonly { readonly path: string; readonly digest: string }[];
}

function noWorkers(message: string): SkillError {
  return new SkillError({
    code: 'executor/unavailable',
    message,
    hint: 'start a worker with the same database and model, and run the evaluation again: skillwright worker --model NAME',
    data: { executor: 'fleet', reasons: ['no worker'], install: 'skillwright worker' },
  });
}

interface EvaluationWorkers {
  readonly elsewhere: (model: SuiteModel | undefined) => Elsewhere;
  close(): Promise<void>;
}

/** Attempts run on the workers; cases, skills and results are those of this machine. Throws if no worker could take an attempt. */
export async function openEvaluationWorkers(
  fleet: Fleet,
  { judge, signal }: { readonly judge?: string; readonly signal: AbortSignal },
): Promise<EvaluationWorkers> {
  const { packAttempt } = await import('#evals');
  // Each attempt of the suite waits with it.
  setMaxListeners(0, signal);
  const attempts = await openAttemptsOnWorkers(fleet, signal);
  return {
    elsewhere:
      (model) =>
      async ({ evalCase, arm, attempt, set, timeoutMs, runs, outputs }) => {
        const pack = packAttempt({ evalCase, arm, attempt });
        // The run here reports a file that cannot be read.
        if (pack === undefined) return undefined;
        await fleet.contents.save(pack.bytes);
        const stored = {
          packed: pack.packed,
          timeoutMs,
          roots: await attempts.pin(set),
          skillsDigest: set.digest,
          model: model === undefined ? undefined : { id: model.id, way: model.way },
          judge,
        };
        const { result, record } = await attempts.run(stored, evalCase.input, { runs, outputs });
        const { id, name, place, input, tags } = evalCase;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `createAttemptRunner` of a worker returned it.
        const graded = result as unknown as NonNullable<Awaited<ReturnType<Elsewhere>>>;
        const run = record === undefined ? graded.run : path.join(runs, record);
        return { ...graded, case: id, name, place, input, tags, run };
      },
    close: () => attempts.close(),
  };
}
