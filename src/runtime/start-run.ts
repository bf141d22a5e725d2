import type { Redactor } from '../journal/redact/redact.ts';
import { createRun } from '../journal/journal-writer.ts';
import type { RunRecord } from '../journal/journal-writer.ts';
import { runsDirectory } from '../journal/run-folder.ts';
import { joinedSink } from '../journal/export/sinks.ts';
import type { EventSink } from '../journal/export/sinks.ts';
import type { Telemetry } from '../journal/export/telemetry.ts';
import { isSkillError } from '../core/errors.ts';
import { RUN_SCHEMA } from '../core/run-events.ts';
import type { AgentStart, Outcome, RunEvent, RunStart } from '../core/run-events.ts';
import { readSealKey, sealKey } from '../platform/fs/seal-key.ts';
import { VERSION } from '../version.ts';
import type { Surroundings } from '../core/config/loaded-config.ts';
import type { MeasureText } from './measured-texts.ts';
import type { Session } from './session.ts';
import { startSession } from './start-session.ts';
import type { SessionOptions, SessionSource } from './start-session.ts';
import { policyHash } from '../policy/session-policy.ts';
import { redacted } from './secrets/without-secrets.ts';

export interface RunOptions extends SessionOptions {
  /** What is asked for, in the words of whoever asks. */
  readonly request: string;
  /** Where runs are recorded; as the configuration says where nothing is given, `false` for nowhere. */
  readonly directory?: string | false;
  /** Told of each event, after it was recorded. */
  readonly sinks?: readonly EventSink[];
  /**
   * For whoever drives the run and knows when something is done that others can see: told of each event at once, which is then
   * written with the next `flush`, or before the program waits. Where sinks listen each event is written by itself all the same.
   */
  readonly follow?: (event: RunEvent) => void;
  /** The run that this one is a part of. */
  readonly parentRun?: string;
  /** What it may use, for the record. */
  readonly budgets?: Readonly<Record<string, number>>;
  /** How the agent was started that works on it, for the record. */
  readonly agent?: AgentStart;
}

/** A session that leaves a record. */
export interface Run {
  /** Absent where nothing is recorded. */
  readonly id: string | undefined;
  readonly path: string | undefined;
  readonly session: Session;
  /** What a text costs and which it is, remembered for all runs of a runtime: for what each of them says. */
  readonly measureText: MeasureText;
  /**
   * Records what happens beside the actions of the session, before it counts. Throws `record/failed` where that cannot be written.
   * Parts of an answer that grows are told and not recorded: they have the number of the event before them.
   */
  record(event: RunEvent): void;
  /** All that happened so far is written before it returns. Throws `record/failed` where it cannot be. */
  flush(): void;
  /** Ends every program, closes the record and sends what is to be sent. May be called twice. */
  end(outcome: Exclude<Outcome, 'running'>, reason?: string): Promise<void>;
}

/** Opens a session whose every event is recorded before it counts. Nothing starts where the record cannot be begun. */
export async function startRun(source: SessionSource, surroundings: Surroundings, options: RunOptions): Promise<Run> {
  const { request, directory, sinks, follow, parentRun, record: also, budgets, agent, ...sessionOptions } = options;
  const telemetry = await openTelemetry(source);
  const listeners = [...(sinks ?? []), ...(telemetry === undefined ? [] : [telemetry.sink])];
  const early: RunEvent[] = [];
  let take = (event: RunEvent): void => void early.push(event);
  let flush = (): void => undefined;
  const session = await startSession(source, {
    ...withSpans(sessionOptions, (event) => take(event)),
    record(event) {
      take(event);
      also?.(event);
    },
    flush: () => flush(),
  });
  try {
    const start = startOf(source, session, { request, parentRun, budgets, agent });
    const record = openRecord(source, surroundings, directory, start);
    const told = teller({ listeners, follow, redactor: source.secrets.redactor });
    told(startEvent(start, record));
    const isHeld = follow !== undefined && listeners.length === 0;
    take = (event) => {
      if (event.type !== 'answer-delta') record?.[isHeld ? 'hold' : 'append'](event);
      told(event);
    };
    flush = () => record?.flush();
    early.forEach(take);
    return runOver(session, record, telemetry, { take, told, flush, measureText: source.measureText });
  } catch (error) {
    await session.close();
    throw error;
  }
}

interface Asked {
  readonly request: string;
  readonly parentRun: string | undefined;
  readonly budgets: Readonly<Record<string, number>> | undefined;
  readonly agent: AgentStart | undefined;
}

function startOf(
  { index }: SessionSource,
  session: Session,
  { request, parentRun: parent, budgets, agent }: Asked,
): RunStart {
  const { execution } = session;
  return {
    request,
    version: VERSION,
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
    policyHash: policyHash(session.policy),
    ...(parent === undefined ? {} : { parent }),
    ...(budgets === undefined ? {} : { budgets }),
    ...(agent === undefined ? {} : { agent }),
    ...(execution === undefined
      ? {}
      : { executor: { name: execution.executor, isolation: execution.isolation, ...execution.identity } }),
  };
}

function openRecord(
  source: SessionSource,
  { home }: Surroundings,
  directory: string | false | undefined,
  start: RunStart,
): RunRecord | undefined {
  const isOff = directory === false || (directory === undefined && source.config.runs?.enabled === false);
  if (isOff) return undefined;
  const { redactor } = source.secrets;
  const key = home === undefined ? undefined : usableKey(home);
  return createRun(runsDirectory(source.project, directory ?? source.config.runs?.directory), start, {
    sync: source.config.runs?.sync ?? 'none',
    redactor,
    owner: source.owner(),
    ...(key === undefined ? {} : { sealKey: key }),
  });
}

/** A run without a seal is still a record: whoever has no folder for a key has none to check it with either. */
function usableKey(home: string): Uint8Array | undefined {
  try {
    return readSealKey(home) ?? sealKey(home);
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}

interface Listening {
  readonly listeners: readonly EventSink[];
  readonly follow: RunOptions['follow'];
  readonly redactor: Redactor;
}

/** Tells of events in the order and with the numbers of the record. */
function teller({ listeners, follow, redactor }: Listening): (event: RunEvent) => void {
  const openedAt = performance.now();
  const tell = joinedSink(listeners);
  let seq = 0;
  return (given) => {
    const event = redacted(given, redactor);
    follow?.(event);
    if (listeners.length === 0) return;
    if (event.type !== 'answer-delta') seq += 1;
    tell({ seq, time: new Date().toISOString(), elapsed: performance.now() - openedAt, event });
  };
}

function startEvent(start: RunStart, record: RunRecord | undefined): RunEvent {
  const { index: _, ...told } = start;
  return { type: 'run-start', schema: RUN_SCHEMA, run: record?.id ?? '', ...told };
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
        take({ type: 'span', ...(call === undefined ? {} : { call }), span });
      },
    },
  };
}

/** Loaded only where somebody listens. */
async function openTelemetry({ config }: SessionSource): Promise<Telemetry | undefined> {
  const { endpoint = '', headers } = config.telemetry ?? {};
  if (endpoint === '') return undefined;
  const { telemetrySink } = await import('../journal/export/telemetry.ts');
  return telemetrySink({ endpoint, ...(headers === undefined ? {} : { headers }) });
}

type Take = (event: RunEvent) => void;

interface RunParts extends Pick<Run, 'flush' | 'measureText'> {
  readonly take: Take;
  readonly told: Take;
}

function runOver(
  session: Session,
  record: RunRecord | undefined,
  telemetry: Telemetry | undefined,
  { take, told, flush, measureText }: RunParts,
): Run {
  let ended: Promise<void> | undefined;
  const end = async (outcome: Exclude<Outcome, 'running'>, reason: string): Promise<void> => {
    try {
      await session.close();
    } finally {
      try {
        record?.end(outcome, reason);
        told({ type: 'run-end', outcome, reason });
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
    record: take,
    flush,
    end: (outcome, reason = '') => (ended ??= end(outcome, reason)),
  };
}
