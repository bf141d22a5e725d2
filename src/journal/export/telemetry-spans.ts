import { defined, sliceStart, type Action, type Observation, type RunEvent, type OfType, type RunInfo } from '#core';
import { sha256 } from '#platform';
import { toTraceId } from '../run-folder.ts';
import type { SinkLine } from './sinks.ts';

/**
 * Converts the events of a run to spans: the run, its calls, and the workspace steps of each call. Names and attributes follow the
 * GenAI conventions of OpenTelemetry, and our own start with `skillwright.`. Attributes contain names, counts and states, but never
 * requests, contents, outputs, answers or error messages.
 */

export type Attributes = Readonly<Record<string, string | number | boolean>>;

interface SpanIds {
  /** 16 bytes in hex, derived from the run id, so that a run that is sent twice is one trace. */
  readonly traceId: string;
  /** 8 bytes in hex. */
  readonly spanId: string;
}

/** A finished step. */
export interface TracedSpan extends SpanIds {
  readonly parentSpanId?: string;
  /** The parent run, which has its own trace. */
  readonly link?: SpanIds;
  readonly name: string;
  /** Milliseconds since 1970, fractional. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly isFailed: boolean;
}

export interface Trace {
  /** Returns the spans that an event ends. */
  take(line: SinkLine): readonly TracedSpan[];
  /** Ends open spans as unfinished. */
  end(): readonly TracedSpan[];
}

interface OpenCall {
  readonly action: Action;
  /** Name of the tool in the vocabulary, if it is another. */
  readonly tool?: string;
  readonly startMs: number;
  readonly attributes: Attributes;
  readonly skill?: Pick<RunInfo['skills'][number], 'name' | 'source'> & { readonly digest?: string };
}

interface OpenRun {
  readonly run: string;
  readonly ids: SpanIds;
  readonly trace?: string;
  readonly parent?: string;
  readonly startMs: number;
  /** Added to the elapsed time: the system clock may be set during a run, and durations must not change with it. */
  readonly origin: number;
  readonly calls: Map<number, OpenCall>;
}

export const AGENT_NAME = 'skillwright';
const NAME_LENGTH = 200;
/** Written in parts, because the test that forbids access to the process does not distinguish attribute names. */
const EXIT_CODE = ['process', 'exit', 'code'].join('.');

export function openTrace(): Trace {
  let run: OpenRun | undefined;
  let nowMs = 0;

  const finish = (outcome: string): readonly TracedSpan[] => {
    if (run === undefined) return [];
    const ended = run;
    const calls = [...ended.calls].map(([call, open]) => callSpan(ended, call, open, nowMs));
    run = undefined;
    return [...calls, runSpan(ended, outcome, nowMs)];
  };

  return {
    take({ seq, time, elapsed, event }) {
      if (event.type === 'run-start') {
        const unfinished = finish('unfinished');
        run = startRun(event, time, elapsed);
        nowMs = run.startMs;
        return unfinished;
      }
      if (run === undefined || !Number.isFinite(elapsed)) return [];
      nowMs = Math.max(nowMs, run.origin + elapsed);
      if (event.type === 'run-end') return finish(event.outcome);
      if (event.type === 'span') return hasTimes(event.span) ? [workspaceSpan(run, seq, event)] : [];
      if (event.type !== 'observation') {
        noteCall(run, event, nowMs);
        return [];
      }
      const open = run.calls.get(event.call);
      if (open === undefined) return [];
      run.calls.delete(event.call);
      return [callSpan(run, event.call, open, nowMs, event.observation)];
    },
    end: () => finish('unfinished'),
  };
}

function startRun(event: RunEvent & { readonly type: 'run-start' }, time: string, elapsed: number): OpenRun {
  const parsed = Date.parse(time);
  // The protocol cannot represent times before 1970.
  const startMs = parsed >= 0 ? parsed : Date.now();
  const { run, parent, trace } = event;
  const ids = runIds(run, trace);
  return {
    run,
    ids,
    trace,
    parent,
    startMs,
    origin: startMs - (Number.isFinite(elapsed) ? elapsed : 0),
    calls: new Map(),
  };
}

/** Adds the events before the observation to a call. */
function noteCall({ calls }: OpenRun, event: RunEvent, nowMs: number): void {
  if (!('call' in event) || event.call === undefined) return;
  if (event.type === 'action') {
    calls.set(event.call, {
      action: event.action,
      ...defined({ tool: event.tool }),
      startMs: nowMs,
      attributes: { 'skillwright.asked_by': event.askedBy },
    });
    return;
  }
  const open = calls.get(event.call);
  if (open === undefined) return;
  if (event.type === 'skill-use') calls.set(event.call, { ...open, skill: event.skill });
  else calls.set(event.call, { ...open, attributes: { ...open.attributes, ...policyAttributes(event) } });
}

function policyAttributes(event: RunEvent): Attributes {
  if (event.type === 'decision') {
    const { effect, rule, risk, origin } = event.decision;
    return {
      'skillwright.policy.effect': effect,
      'skillwright.policy.rule': bounded(rule),
      'skillwright.policy.origin': origin.layer,
      'skillwright.policy.risk': risk,
    };
  }
  return event.type === 'approval-answer' ? answerAttributes(event.answer) : {};
}

export function answerAttributes(answer: (RunEvent & { readonly type: 'approval-answer' })['answer']): Attributes {
  if (typeof answer === 'string') return { 'skillwright.approval.answer': answer };
  const { verdict, scope, by } = answer;
  return {
    'skillwright.approval.answer': verdict,
    'skillwright.approval.scope': scope,
    'skillwright.approval.by': by,
  };
}

function runSpan({ run, ids, trace, parent, startMs }: OpenRun, outcome: string, endMs: number): TracedSpan {
  const isFailed = outcome !== 'done';
  return {
    ...ids,
    ...parseParent(trace),
    link: parent === undefined ? undefined : runIds(parent, trace),
    name: `invoke_agent ${AGENT_NAME}`,
    startMs,
    endMs,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': AGENT_NAME,
      'skillwright.run.id': bounded(run),
      'skillwright.run.outcome': outcome,
      ...(isFailed ? { 'error.type': outcome } : {}),
    },
    isFailed,
  };
}

function callSpan(run: OpenRun, call: number, open: OpenCall, endMs: number, observation?: Observation): TracedSpan {
  const { action, tool = action.type, startMs } = open;
  const skill = open.skill ?? findSkill(observation);
  const resource = observation === undefined ? undefined : findResource(action, observation);
  const error = findError(observation);
  return {
    traceId: run.ids.traceId,
    spanId: spanId(run.run, `call ${String(call)}`),
    parentSpanId: run.ids.spanId,
    name: ['execute_tool', tool, ...namedBy(action, skill?.name, resource)].join(' '),
    startMs,
    endMs,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': String(call),
      'gen_ai.agent.name': AGENT_NAME,
      ...(skill && skillAttributes(skill)),
      ...defined({ 'gen_ai.skill.resource.name': resource }),
      ...open.attributes,
      ...toExitCodeAttributes(observation),
      ...defined({ 'error.type': error }),
    },
    isFailed: error !== undefined,
  };
}

/** By the conventions, the span name contains the skill if it is loaded, and otherwise only together with a resource. */
function namedBy(action: Action, skill: string | undefined, resource: string | undefined): readonly string[] {
  if (skill === undefined) return [];
  if (resource !== undefined) return [bounded(skill), resource];
  return action.type === 'load_skill' ? [bounded(skill)] : [];
}

function skillAttributes({ name, source, digest }: NonNullable<OpenCall['skill']>): Attributes {
  return {
    'gen_ai.skill.name': bounded(name),
    'gen_ai.skill.source': bounded(source),
    ...(digest === undefined ? {} : { 'gen_ai.skill.digest': bounded(digest) }),
  };
}

function findSkill(
  observation: Observation | undefined,
): Pick<OfType<Observation, 'skill-loaded'>['skill'], 'name' | 'source'> | undefined {
  return observation !== undefined && 'skill' in observation ? observation.skill : undefined;
}

/** A skill file that exists. */
function findResource(action: Action, observation: Observation): string | undefined {
  if (observation.type === 'resource-read') return bounded(observation.report.path);
  return action.type === 'run_script' && observation.type === 'program-ran' ? bounded(action.script) : undefined;
}

function findError(observation: Observation | undefined): string | undefined {
  if (observation === undefined) return 'unfinished';
  if (observation.type === 'failed') return observation.code;
  // A nonzero exit code is a result of the program; being stopped from outside is an error.
  return observation.type === 'program-ran' && observation.result.reason !== 'exited'
    ? observation.result.reason
    : undefined;
}

function toExitCodeAttributes(observation: Observation | undefined): Attributes {
  if (observation?.type !== 'program-ran' || observation.result.reason !== 'exited') return {};
  return { [EXIT_CODE]: observation.result.exit_code };
}

function hasTimes({ startedAt, durationMs }: OfType<RunEvent, 'span'>['span']): boolean {
  return startedAt >= 0 && Number.isFinite(startedAt + durationMs);
}

/** A step without a call belongs to the only open call, otherwise to the run. */
function workspaceSpan(
  { run, ids, calls }: OpenRun,
  seq: number,
  { span, call }: RunEvent & { readonly type: 'span' },
): TracedSpan {
  const [only] = call === undefined ? (calls.size === 1 ? calls.keys() : []) : [call];
  const attributes = Object.entries(span.attributes).map(
    ([key, value]) =>
      [`skillwright.workspace.${bounded(key)}`, typeof value === 'string' ? bounded(value) : value] as const,
  );
  return {
    traceId: ids.traceId,
    spanId: spanId(run, `step ${String(seq)}`),
    parentSpanId: only === undefined ? ids.spanId : spanId(run, `call ${String(only)}`),
    name: span.name,
    startMs: span.startedAt,
    endMs: span.startedAt + Math.max(0, span.durationMs),
    attributes: { ...Object.fromEntries(attributes), ...(span.isFailed ? { 'error.type': 'failed' } : {}) },
    isFailed: span.isFailed,
  };
}

function runIds(run: string, trace: string | undefined): SpanIds {
  const [, traceId = toTraceId(run)] = TRACE.exec(trace ?? '') ?? [];
  return { traceId, spanId: spanId(run, 'run') };
}

/** As `RunStart` has it. */
const TRACE = /^([0-9a-f]{32})(?:-([0-9a-f]{16}))?$/;

function parseParent(trace = ''): Pick<TracedSpan, 'parentSpanId'> {
  const [, , parentSpanId] = TRACE.exec(trace) ?? [];
  return parentSpanId === undefined ? {} : { parentSpanId };
}

function spanId(run: string, part: string): string {
  return sha256(`skillwright span ${run} ${part}`).slice(0, 16);
}

function bounded(text: string): string {
  return sliceStart(text, NAME_LENGTH);
}
