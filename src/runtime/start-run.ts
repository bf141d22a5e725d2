import { randomUUID } from 'node:crypto';

import {
  RUN_SCHEMA,
  type RunEvent,
  type Redactor,
  type RunStart,
  type Surroundings,
  type RunInfo,
  type OfType,
} from '#core';
import { readSealKey } from '#platform';
import { createRun, runsDirectory, type ChainKeys, type EventSink, type RecordStorage, type RunRecord } from '#journal';
import { policyHash } from './policy-hash.ts';
import { VERSION } from '../version.ts';
import type { MeasureText } from './measured-texts.ts';
import { startSession, type SessionOptions, type SessionSource } from './start-session.ts';
import type { Session } from './session.ts';
import { globalTracer, traceCall } from './tracer.ts';
import { redacted } from './secrets/redact-value.ts';

export interface RunOptions extends SessionOptions {
  /** The request as written by the caller. */
  readonly request: string;
  /** Where runs are recorded (default: from the configuration); `false` disables recording. */
  readonly directory?: string | false;
  /** Opens the place of a record that is kept elsewhere than in a folder below the directory. */
  readonly openPlace?: (directory: string, now: Date) => RecordStorage;
  /** Receive each event after it was recorded. */
  readonly sinks?: readonly EventSink[];
  /**
   * Receives each event immediately, for a caller that flushes before effects become visible: events are then written with the next
   * `flush`, or when the process becomes idle. If there are sinks, each event is written by itself.
   */
  readonly follow?: (event: RunEvent) => void;
  /** Id of the parent run. */
  readonly parentRun?: string;
  /** Limits of the run, for the record. */
  readonly budgets?: Readonly<Record<string, number>>;
  /** How the agent was started, for the record. */
  readonly agent?: RunStart['agent'];
  /** The trace of the run; see `RunStart`. */
  readonly trace?: string;
  /** Labels and idempotency key of the run, for the record. */
  readonly labels?: RunStart['labels'];
  readonly key?: string;
  /**
   * Claims what the run continues: called with its id, empty if nothing is recorded, before the record begins. The run does not begin
   * if it throws. Not called for a record that is kept elsewhere (`openPlace`), where the caller decides who continues.
   */
  readonly claim?: (run: string, record: ClaimKeys) => void;
  /** Messages that the record begins with, such as why the run is continued elsewhere. */
  readonly notes?: readonly string[];
}

/** Where the run is recorded, and the keys of its chain. */
interface ClaimKeys extends ChainKeys {
  readonly directory: string;
}

/** A recorded session. */
export interface Run {
  /** Absent if nothing is recorded. */
  readonly id: string | undefined;
  readonly path: string | undefined;
  readonly session: Session;
  /** Cached token estimate and digest of a text, shared by all runs of a runtime. */
  readonly measureText: MeasureText;
  /**
   * Records an event that is not part of an action, before it takes effect. Throws `record/failed`. Events of `isUnrecorded` are
   * sent to sinks without being recorded and have the number of the event before them.
   */
  record(event: RunEvent): void;
  /** Writes all events so far. Throws `record/failed`. */
  flush(): void;
  /** Removes known secrets from all texts of a value. */
  redact<Value>(value: Value): Value;
  /**
   * Keeps a file that programs left in the record, without known secrets. Returns whether its bytes are unchanged; undefined if nothing is
   * recorded. Throws `record/failed`.
   */
  keepFile(
    bytes: Uint8Array,
    file: { readonly name: string; readonly isExecutable: boolean },
  ): 'same' | 'redacted' | undefined;
  /** Ends all programs, closes the record and flushes telemetry. Idempotent. */
  end(outcome: Exclude<RunInfo['outcome'], 'running'>, reason?: string): Promise<void>;
}

/** Opens a session whose events are recorded before they take effect. Fails if the record cannot be created. */
export async function startRun(
  source: SessionSource,
  surroundings: Surroundings & Pick<ChainKeys, 'onWarning'>,
  options: RunOptions,
): Promise<Run> {
  const { sinks = [], follow, record: observe, notes = [] } = options;
  const telemetry = await openTelemetry(source, options.tracing ?? {});
  const listeners = [...sinks, ...(telemetry === undefined ? [] : [telemetry.sink])];
  const early: RunEvent[] = [];
  let take = (event: RunEvent): void => void early.push(event);
  let flush = (): void => undefined;
  const session = await startSession(source, {
    ...withSpans(options, (event) => take(event)),
    record(event) {
      take(event);
      observe?.(event);
    },
    flush: () => flush(),
  });
  try {
    const start = buildRunStart(source, session, options);
    const record = openRecord(source, surroundings, options, start);
    const notify = openNotifier({ listeners, follow, redactor: source.secrets.redactor });
    notify(startEvent(start, record));
    const isHeld = follow !== undefined && listeners.length === 0;
    take = (event) => {
      if (!isUnrecorded(event)) record?.[isHeld ? 'hold' : 'append'](event);
      notify(event);
    };
    flush = () => record?.flush();
    if (start.scan !== undefined) take({ type: 'scan', ...start.scan });
    early.forEach(take);
    for (const message of notes) take({ type: 'note', message });
    return recordedRun(session, record, telemetry, {
      take,
      notify,
      flush,
      measureText: source.measureText,
      redact: (value) => redacted(value, source.secrets.redactor),
    });
  } catch (error) {
    await session.close();
    throw error;
  }
}

function buildRunStart(
  { project }: SessionSource,
  session: Session,
  { request, parentRun: parent, budgets, agent, trace, labels, key }: RunOptions,
): RunStart {
  const { execution, index } = session;
  const mounts = (execution?.mounts ?? []).map(({ source, access }) => ({ path: source, access }));
  const { roots, durationMs, found, valid, leftOut, conflicts } = index.report;
  return {
    request,
    version: VERSION,
    project,
    indexHash: index.indexHash,
    index: index.skills.map(({ id, name, description, digest, dir, state, controls }) => ({
      id,
      name,
      description,
      digest,
      dir,
      state,
      controls,
    })),
    scan: {
      roots: roots.map(({ source, path, status, skills }) => ({ source, path, status, skills })),
      durationMs,
      found,
      valid,
      ignored: leftOut.map(({ path, code, message }) => ({ path, code, message })),
      conflicts,
      indexHash: index.indexHash,
    },
    policyHash: policyHash(session.policy),
    vocabulary: session.vocabulary.name === 'skillwright' ? undefined : session.vocabulary.name,
    parent,
    budgets,
    agent,
    trace,
    labels,
    key,
    executor:
      execution === undefined
        ? undefined
        : {
            name: execution.executor,
            isolation: execution.isolation,
            ...execution.identity,
            mounts: mounts.length === 0 ? undefined : mounts,
          },
  };
}

function openRecord(
  source: SessionSource,
  { home, onWarning }: Surroundings & Pick<ChainKeys, 'onWarning'>,
  { directory, openPlace, claim }: RunOptions,
  start: RunStart,
): RunRecord | undefined {
  const isOff = directory === false || (directory === undefined && source.config.runs?.enabled === false);
  const { redactor } = source.secrets;
  // Without a key the run is recorded without a seal.
  const key = readSealKey(home, { create: true });
  const named = directory === false ? undefined : directory;
  const runs = runsDirectory(source.project, named ?? source.config.runs?.directory);
  const claimRun = (run: string): void => claim?.(run, { directory: runs, sealKey: key, home, onWarning });
  if (isOff) {
    claimRun('');
    return undefined;
  }
  return createRun(runs, start, {
    ...(openPlace === undefined ? { claim: claimRun } : {}),
    sync: source.config.runs?.sync ?? 'none',
    redactor,
    project: source.project,
    owner: source.owner(),
    openPlace,
    sealKey: key,
    home,
    onWarning,
  });
}

interface NotifierOptions {
  readonly listeners: readonly EventSink[];
  readonly follow: RunOptions['follow'];
  readonly redactor: Redactor;
}

/** Passes events on with the same order and numbers as the record. */
function openNotifier({ listeners, follow, redactor }: NotifierOptions): (event: RunEvent) => void {
  const openedAt = performance.now();
  let seq = 0;
  return (original) => {
    const event = redacted(original, redactor);
    follow?.(event);
    if (listeners.length === 0) return;
    if (!isUnrecorded(event)) seq += 1;
    const line = { seq, time: new Date().toISOString(), elapsed: performance.now() - openedAt, event };
    for (const sink of listeners)
      try {
        sink(line);
      } catch {
        // A closed pipe or a full disk behind a sink must not end a run, and there is no other place to report it.
      }
  };
}

function startEvent(start: RunStart, record: RunRecord | undefined): OfType<RunEvent, 'run-start'> {
  const { index: _, scan: __, ...rest } = start;
  return { type: 'run-start', schema: RUN_SCHEMA, run: record?.id ?? '', ...rest };
}

function withSpans(options: SessionOptions, take: (event: RunEvent) => void): SessionOptions {
  const { execution } = options;
  if (execution === undefined) return options;
  return {
    ...options,
    execution: {
      ...execution,
      onSpan(span, call) {
        execution.onSpan?.(span, call);
        take({ type: 'span', call, span });
      },
    },
  };
}

interface RunTelemetry {
  readonly sink: EventSink;
  readonly shutdown: () => Promise<unknown>;
}

async function openTelemetry(
  { config }: SessionSource,
  { tracer = globalTracer(), conversation }: NonNullable<SessionOptions['tracing']>,
): Promise<RunTelemetry | undefined> {
  const { endpoint = '', headers } = config.telemetry ?? {};
  if (endpoint === '' && tracer === undefined) return undefined;
  const { telemetrySink } = await import('#journal/telemetry');
  return telemetrySink({
    headers,
    conversation,
    ...(endpoint !== '' && { endpoint }),
    ...(tracer !== undefined && { onCall: (span) => traceCall(tracer, span) }),
  });
}

/** A session whose calls are traced and not recorded. One in which nothing is done leaves no trace. */
export async function startTracedSession(source: SessionSource, options: SessionOptions): Promise<Session> {
  const telemetry = await openTelemetry(source, options.tracing ?? {});
  if (telemetry === undefined) return startSession(source, options);
  const { redactor } = source.secrets;
  const notify = openNotifier({ listeners: [telemetry.sink], follow: undefined, redactor });
  let isStarted = false;
  const take = (event: RunEvent): void => {
    if (!isStarted && event.type !== 'action') return;
    if (!isStarted) {
      const start = startEvent(buildRunStart(source, session, { request: '' }), undefined);
      notify({ ...start, run: randomUUID() });
    }
    isStarted = true;
    notify(event);
  };
  const session = await startSession(source, {
    ...withSpans(options, take),
    record(event) {
      options.record?.(event);
      take(event);
    },
  });
  const close = session.close.bind(session);
  // Child sessions and stored answers know this object, so it is not wrapped.
  session.close = async (how) => {
    try {
      await close(how);
    } finally {
      if (isStarted) notify({ type: 'run-end', outcome: 'done', reason: '' });
      await telemetry.shutdown();
    }
  };
  return session;
}

type Take = (event: RunEvent) => void;

interface RunParts extends Pick<Run, 'flush' | 'measureText' | 'redact'> {
  readonly take: Take;
  readonly notify: Take;
}

function recordedRun(
  session: Session,
  record: RunRecord | undefined,
  telemetry: RunTelemetry | undefined,
  { take, notify, flush, measureText, redact }: RunParts,
): Run {
  let ended: Promise<void> | undefined;
  const end = async (outcome: Exclude<RunInfo['outcome'], 'running'>, reason: string): Promise<void> => {
    try {
      await session.close();
    } finally {
      try {
        await record?.endAsync(outcome, reason);
        notify({ type: 'run-end', outcome, reason });
      } finally {
        await telemetry?.shutdown();
      }
    }
  };
  return {
    id: record?.id,
    path: record?.path,
    session,
    measureText,
    redact,
    record: take,
    flush,
    keepFile(bytes, file) {
      if (record === undefined) return undefined;
      const { $ref, bytes: size, isRedacted } = record.keep(bytes, 'artifacts', file);
      notify({ type: 'content-keep', path: $ref, bytes: size, ...file });
      return isRedacted ? 'redacted' : 'same';
    },
    end: (outcome, reason = '') => (ended ??= end(outcome, reason)),
  };
}

/** Whether an event is only for display: sinks get it, the record does not. */
export function isUnrecorded({ type }: RunEvent): boolean {
  return type === 'answer-delta' || type === 'decision-delta' || type === 'tool.response';
}
