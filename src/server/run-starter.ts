/** The runs that the server started: how to start, follow and cancel them, and their files. */
import { EventEmitter, once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { AgentOptions, AgentResult } from '#agent';
import { sliceEnd, type RunEvent } from '#core';
import type { EventSink } from '#journal';
import { copyResults } from '#runtime';
import { makeTemporaryFolder, type ExecutionOptions } from '#sandbox';
import type { RunServerLimits, RunServerOptions } from './server-options.ts';
import { httpError } from './http-error.ts';

/** Something that happens in a run and is not recorded. */
export type LiveMessage =
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'withdraw' }
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string };

interface StartedRun {
  readonly run: string;
  /** Emits `message` with a `LiveMessage`. */
  readonly live: EventEmitter;
  readonly cancel: () => void;
}

export interface RunStarter {
  /** Starts a run; returns its id as soon as its record exists. Rejects if the run fails before that, or too many run. */
  readonly start: (begin: (options: RunParts, live: LiveOptions) => Promise<AgentResult>) => Promise<string>;
  readonly find: (run: string) => StartedRun | undefined;
  readonly active: () => number;
  readonly askedBy: (request: string) => string | undefined;
  /** The folder of the output files of a run; it may not exist. */
  readonly outputs: (run: string) => string;
  readonly uploads: string;
  /** Waits for the records and removes all files. */
  readonly close: () => Promise<void>;
}

type LiveOptions = Pick<ExecutionOptions, 'onOutput'>;
type RunParts = Pick<AgentOptions, 'run' | 'signal' | 'beforeEnd'>;

/** Output of a program is passed on at most this often. */
const OUTPUT_MS = 50;
const MAX_OUTPUT = 64_000;
const MAX_ASKED = 1_000;

export function openRunStarter(
  options: Pick<RunServerOptions, 'runtime' | 'agent' | 'directory'>,
  limits: Pick<RunServerLimits, 'runs'>,
  closing: AbortSignal,
): RunStarter {
  const running = new Set<Promise<unknown>>();
  const started = new Map<string, StartedRun>();
  const asked = new Map<string, string>();
  let folder: string | undefined;
  const base = (): string => (folder ??= makeTemporaryFolder(options.runtime.executionPlaces.base));

  const start: RunStarter['start'] = async (begin) => {
    if (closing.aborted) throw httpError(503, 'the server is shutting down');
    if (running.size >= limits.runs)
      throw httpError(429, `too many runs: the limit is ${String(limits.runs)} at a time`);
    const live = new EventEmitter().setMaxListeners(0);
    const cancelled = new AbortController();
    const signal = AbortSignal.any([closing, cancelled.signal]);
    let run = '';
    const sink: EventSink = ({ event }) => {
      if (event.type === 'run-start' && run === '') {
        ({ run } = event);
        started.set(run, { run, live, cancel: () => cancelled.abort() });
        live.emit('started');
      }
      if (event.type === 'approval-ask') remember(asked, event.request.id, run);
      const message = liveMessage(event);
      if (message !== undefined) live.emit('message', message);
    };
    const begun = once(live, 'started');
    const { agent = {} } = options;
    const output = openOutput(live);
    const ended = begin(
      {
        signal,
        run: { ...agent.run, directory: options.directory, sinks: [...(agent.run?.sinks ?? []), sink] },
        beforeEnd: async (session, recorded) => {
          output.flush();
          await agent.beforeEnd?.(session, recorded);
          const target = path.join(base(), 'outputs', run);
          await mkdir(target, { recursive: true, mode: 0o700 });
          for (const message of await copyResults(session, target)) recorded.record({ type: 'note', message });
        },
      },
      { onOutput: output.take },
    );
    running.add(ended);
    ended
      .catch(() => undefined)
      .finally(() => {
        running.delete(ended);
        started.delete(run);
      });
    await Promise.race([begun, ended]);
    return run === '' ? ((await ended).run ?? '') : run;
  };
  return {
    start,
    find: (run) => started.get(run),
    active: () => running.size,
    askedBy: (request) => asked.get(request),
    outputs: (run) => path.join(base(), 'outputs', run),
    get uploads() {
      return path.join(base(), 'uploads');
    },
    async close() {
      await Promise.allSettled(running);
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function liveMessage(event: RunEvent): LiveMessage | undefined {
  if (event.type === 'answer-delta') return { type: 'delta', text: event.text };
  return event.type === 'answer-withdraw' ? { type: 'withdraw' } : undefined;
}

function remember(map: Map<string, string>, key: string, value: string): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_ASKED && oldest !== undefined) map.delete(oldest);
}

/** Collects output, so that a program that writes single characters does not flood the page. */
function openOutput(live: EventEmitter): {
  readonly take: NonNullable<LiveOptions['onOutput']>;
  readonly flush: () => void;
} {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const waiting = { stdout: '', stderr: '' };
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const stream of ['stdout', 'stderr'] as const) {
      if (waiting[stream] !== '') live.emit('message', { type: 'output', stream, text: waiting[stream] });
      waiting[stream] = '';
    }
  };
  return {
    flush,
    take(stream, chunk) {
      const text = waiting[stream] + decoders[stream].decode(chunk, { stream: true });
      // The record has the whole output; the page shows its end while the program runs.
      waiting[stream] = sliceEnd(text, MAX_OUTPUT);
      timer ??= setTimeout(flush, OUTPUT_MS).unref();
    },
  };
}

export function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
      .toSorted();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
