import type { Action, JournalLine, Observation, RunEvent } from '#core';
import { VERSION } from '../../version.ts';

/**
 * Exports a run as a trajectory of ATIF, the Agent Trajectory Interchange Format of the Harbor project (RFC 0001). The request is a
 * step of the user, each answer of a model is a step of the agent with its tokens and actions, every other action is a step of its
 * own, and each note is a step of the system. Data that the format does not cover is in `extra.skillwright`. Contents are complete: a
 * trajectory contains everything that was read and written.
 */
export const ATIF_VERSION = 'ATIF-v1.8';

/** Facts about a run that are not in its events. */
export interface TrajectoryRun {
  readonly run: string;
  /** Default: `skillwright`. */
  readonly agent?: string;
  readonly model?: string;
}

export interface Trajectory {
  readonly schema_version: typeof ATIF_VERSION;
  readonly session_id: string;
  readonly trajectory_id: string;
  readonly agent: { readonly name: string; readonly version: string; readonly model_name?: string };
  readonly steps: readonly TrajectoryStep[];
  readonly final_metrics: TrajectoryTotals;
  readonly extra: Extra;
}

/** Token counts are present if a model reported them. */
interface TrajectoryTotals {
  readonly total_steps: number;
  readonly total_prompt_tokens?: number;
  readonly total_completion_tokens?: number;
  readonly total_cached_tokens?: number;
}

export interface TrajectoryStep {
  /** From 1, without gaps. */
  readonly step_id: number;
  readonly timestamp?: string;
  readonly source: 'system' | 'user' | 'agent';
  readonly model_name?: string;
  readonly message: string;
  /** 0: no model was involved. */
  readonly llm_call_count?: 0;
  readonly tool_calls?: readonly TrajectoryCall[];
  readonly observation?: { readonly results: readonly TrajectoryResult[] };
  readonly metrics?: TrajectoryMetrics;
  readonly extra?: Extra;
}

interface TrajectoryMetrics {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cached_tokens?: number;
}

interface TrajectoryCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly extra?: Extra;
}

interface TrajectoryResult {
  readonly source_call_id: string;
  readonly content: string;
  readonly extra: Extra;
}

interface Extra {
  readonly skillwright: Readonly<Record<string, unknown>>;
}

type StepParts = Omit<TrajectoryStep, 'step_id'>;
type EventOf<Type extends RunEvent['type']> = RunEvent & { readonly type: Type };

/** All events of one call. */
interface Call {
  readonly call: number;
  readonly timestamp: Pick<TrajectoryStep, 'timestamp'>;
  readonly asked: EventOf<'action'>;
  readonly observation?: Observation;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** An answer of a model and its actions. */
interface Turn {
  readonly timestamp: Pick<TrajectoryStep, 'timestamp'>;
  readonly model: string | undefined;
  readonly answer: EventOf<'model-answer'>;
  readonly calls: readonly Call[];
}

/** Returns the lines of a run as an ATIF trajectory, which other tools read. */
export function toAtif(run: TrajectoryRun, lines: Iterable<JournalLine>): Trajectory {
  const { steps, start, end } = gather(lines);
  const numbered = (steps.length === 0 ? [NOTHING] : steps).map((step, index) => ({
    step_id: index + 1,
    ...('call' in step ? callStep(step) : 'calls' in step ? turnStep(step) : step),
  }));
  return {
    schema_version: ATIF_VERSION,
    session_id: run.run,
    trajectory_id: run.run,
    agent: {
      name: run.agent ?? 'skillwright',
      version: start?.version ?? VERSION,
      ...(run.model === undefined ? {} : { model_name: run.model }),
    },
    steps: numbered,
    final_metrics: { total_steps: numbered.length, ...totalsOf(numbered) },
    extra: { skillwright: runFacts(start, end) },
  };
}

type Gathering = StepParts | Call | Turn;

interface Gathered {
  readonly steps: readonly Gathering[];
  readonly start?: EventOf<'run-start'>;
  readonly end?: EventOf<'run-end'>;
}

/** Steps in the order of their start; later events are added to their step. */
function gather(lines: Iterable<JournalLine>): Gathered {
  const steps: Gathering[] = [];
  const places = new Map<number, number>();
  let start: EventOf<'run-start'> | undefined;
  let end: EventOf<'run-end'> | undefined;
  let model: string | undefined;
  for (const { time, event } of lines) {
    const timestamp = timestampOf(time);
    if (event.type === 'run-start') {
      start = event;
      steps.push({ ...timestamp, source: 'user', message: event.request });
    } else if (event.type === 'run-end') end = event;
    else if (event.type === 'note') steps.push({ ...timestamp, source: 'system', message: event.message });
    else if (event.type === 'model-call') ({ model } = event);
    else if (event.type === 'model-answer') steps.push({ timestamp, model, answer: event, calls: [] });
    else if (event.type === 'action') {
      const call: Call = { call: event.call, timestamp, asked: event, facts: { asked_by: event.askedBy } };
      const turn = event.askedBy === 'model' ? lastTurn(steps) : -1;
      const open = steps[turn];
      places.set(event.call, open === undefined ? steps.length : turn);
      if (open !== undefined && 'calls' in open) steps[turn] = { ...open, calls: [...open.calls, call] };
      else steps.push(call);
    } else if (event.type !== 'span' && 'call' in event) {
      const place = places.get(event.call) ?? -1;
      const open = steps[place];
      if (open !== undefined) steps[place] = withEvent(open, event);
    }
  }
  return { steps, ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
}

function lastTurn(steps: readonly Gathering[]): number {
  return steps.findLastIndex((step) => 'calls' in step);
}

function runFacts(start: Gathered['start'], end: Gathered['end']): Readonly<Record<string, unknown>> {
  return {
    ...(start === undefined ? {} : { index_hash: start.indexHash, policy_hash: start.policyHash }),
    ...(start?.parent === undefined ? {} : { parent: start.parent }),
    outcome: end?.outcome ?? 'running',
    ...(end === undefined ? {} : { reason: end.reason }),
  };
}

/** A trajectory has at least one step. */
const NOTHING: StepParts = { source: 'system', message: 'nothing was recorded' };

type CallEvent = EventOf<
  'decision' | 'approval-ask' | 'approval-answer' | 'skill-use' | 'observation' | 'subagent-start' | 'subagent-end'
>;

function withEvent(open: Gathering, event: CallEvent): Gathering {
  if ('call' in open) return callWith(open, event);
  if (!('calls' in open)) return open;
  return { ...open, calls: open.calls.map((call) => (call.call === event.call ? callWith(call, event) : call)) };
}

function callWith(open: Call, event: CallEvent): Call {
  switch (event.type) {
    case 'decision': {
      const { effect, risk, rule, origin, reason } = event.decision;
      return withFacts(open, { decision: { effect, risk, rule, origin: origin.layer, reason } });
    }
    case 'approval-ask':
      return withFacts(open, { question: event.request.id });
    case 'approval-answer':
      return withFacts(open, { answer: event.answer });
    case 'skill-use': {
      const { name, source, digest } = event.skill;
      return withFacts(open, { skill: { name, source, digest } });
    }
    case 'observation':
      return { ...open, observation: event.observation };
    case 'subagent-start':
      return withFacts(open, { subagent: { run: event.run, skill: event.skill } });
    case 'subagent-end':
      return withFacts(open, { subagent_outcome: event.outcome });
  }
}

function withFacts(open: Call, facts: Call['facts']): Call {
  return { ...open, facts: { ...open.facts, ...facts } };
}

function callStep({ call, timestamp, asked, observation, facts }: Call): StepParts {
  const { action, askedBy } = asked;
  // It is unknown how many model calls an action took, but known if it took none.
  const noModel = askedBy === 'model' ? {} : { llm_call_count: 0 as const };
  const head = { ...timestamp, source: 'agent', ...noModel } as const;
  const extra = { skillwright: facts };
  // The final answer is a message, not the result of a tool.
  if (action.type === 'final_answer') return { ...head, message: action.answer, extra };
  const id = `call-${String(call)}`;
  return {
    ...head,
    message: '',
    tool_calls: [{ tool_call_id: id, function_name: action.type, arguments: argumentsOf(action) }],
    ...(observation === undefined ? {} : { observation: { results: [resultOf(id, observation)] } }),
    extra,
  };
}

/** The message is the answer to the user if there is one, otherwise the text of the model. */
function turnStep({ timestamp, model, answer, calls }: Turn): StepParts {
  const said = calls.find(({ asked }) => asked.action.type === 'final_answer')?.asked.action;
  const tools = calls.filter(({ asked }) => asked.action.type !== 'final_answer');
  const results = tools.flatMap(({ call, observation }) =>
    observation === undefined ? [] : [resultOf(`call-${String(call)}`, observation)],
  );
  const metrics = metricsOf(answer);
  return {
    ...timestamp,
    source: 'agent',
    ...(model === undefined ? {} : { model_name: model }),
    message: said?.type === 'final_answer' ? said.answer : answer.text,
    ...(tools.length === 0 ? {} : { tool_calls: tools.map(turnCall) }),
    ...(results.length === 0 ? {} : { observation: { results } }),
    ...(Object.keys(metrics).length === 0 ? {} : { metrics }),
    extra: { skillwright: { turn: answer.turn, finish: answer.finish, retries: answer.retries } },
  };
}

function turnCall({ call, asked: { action }, facts }: Call): TrajectoryCall {
  return {
    tool_call_id: `call-${String(call)}`,
    function_name: action.type,
    arguments: argumentsOf(action),
    extra: { skillwright: facts },
  };
}

function metricsOf({ usage }: EventOf<'model-answer'>): TrajectoryMetrics {
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  return {
    ...(isCount(inputTokens) ? { prompt_tokens: inputTokens } : {}),
    ...(isCount(outputTokens) ? { completion_tokens: outputTokens } : {}),
    ...(isCount(cachedInputTokens) ? { cached_tokens: cachedInputTokens } : {}),
  };
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && value >= 0;
}

function totalsOf(steps: readonly TrajectoryStep[]): Omit<TrajectoryTotals, 'total_steps'> {
  const sum = (name: keyof TrajectoryMetrics): number | undefined =>
    steps.reduce<number | undefined>((total, { metrics }) => {
      const more = metrics?.[name];
      return more === undefined ? total : (total ?? 0) + more;
    }, undefined);
  const [prompt, completion, cached] = [sum('prompt_tokens'), sum('completion_tokens'), sum('cached_tokens')];
  return {
    ...(prompt === undefined ? {} : { total_prompt_tokens: prompt }),
    ...(completion === undefined ? {} : { total_completion_tokens: completion }),
    ...(cached === undefined ? {} : { total_cached_tokens: cached }),
  };
}

function argumentsOf(action: Action): TrajectoryCall['arguments'] {
  const { type: _, ...parameters } = action;
  return parameters;
}

/** The complete observation as JSON; `extra` distinguishes failures from results. */
function resultOf(id: string, observation: Observation): TrajectoryResult {
  const { type, action: _, ...content } = observation;
  return {
    source_call_id: id,
    content: JSON.stringify(content),
    extra: { skillwright: type === 'failed' ? { type, code: observation.code } : { type } },
  };
}

function timestampOf(time: string): Pick<TrajectoryStep, 'timestamp'> {
  return /^\d{4}-\d\d-\d\dT/.test(time) && !Number.isNaN(Date.parse(time)) ? { timestamp: time } : {};
}
