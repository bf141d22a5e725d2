/** Converts a recorded run into a timeline. An action with its decision, approval and outcome is one step. */
import { readRun } from '#journal';
import {
  defined,
  describeAction,
  describeOutcome,
  eventText,
  isPoorOutcome,
  isSkillError,
  type JournalLine,
  type RunEvent,
  type ShownContent,
} from '#core';
import type { ContextSection, RunStep, RunView, StepKind, StepLine, Tone, TurnView } from './view.ts';

export const MOST_STEPS = 400;
const LAST_STEPS = 50;
const MOST_TEXT = 2000;

/** Throws `run/invalid` if the folder has no run. Reads only the start of long texts. */
export function runView(folder: string): RunView {
  const { info, torn, lines } = readRun(folder, { content: 'start' });
  const { steps, turns, elapsedMs } = buildTimeline(lines);
  return {
    run: info.run,
    outcome: info.outcome,
    reason: cut(info.reason),
    elapsedMs,
    turns,
    // Keeps the first and the last steps.
    steps:
      steps.length <= MOST_STEPS ? steps : [...steps.slice(0, MOST_STEPS - LAST_STEPS), ...steps.slice(-LAST_STEPS)],
    stepsLeftOut: Math.max(0, steps.length - MOST_STEPS),
    isTorn: torn,
  };
}

/** The run of a result; undefined if the run is gone or damaged. The result is still shown. */
export function resultView({ run }: { readonly run?: string }): RunView | undefined {
  if (run === undefined) return undefined;
  try {
    return runView(run);
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}

interface Timeline {
  readonly steps: readonly RunStep[];
  readonly turns: readonly TurnView[];
  readonly elapsedMs: number;
}

export function buildTimeline(lines: Iterable<JournalLine>): Timeline {
  const steps: RunStep[] = [];
  const turns: TurnView[] = [];
  const calls = new Map<number, number>();
  const context = contextTracker();
  let [turn, elapsedMs] = [0, 0];
  for (const line of lines) {
    const { event, elapsed } = line;
    elapsedMs = Math.max(elapsedMs, elapsed);
    context.see(event);
    if (event.type === 'turn') turn = event.turn;
    if (event.type === 'model-call')
      turns.push({
        turn,
        atMs: elapsed,
        model: event.model,
        tokens: event.tokens,
        sections: context.sections(event.tokens),
      });
    if (event.type === 'model-answer') addUsage(turns, event);
    const place = 'call' in event && event.call !== undefined ? calls.get(event.call) : undefined;
    const known = place === undefined ? undefined : steps[place];
    if (place !== undefined && known !== undefined) steps[place] = withEvent(known, line);
    else {
      const step = toStep(line, turn);
      if (step === undefined) continue;
      if (event.type === 'action') calls.set(event.call, steps.length);
      steps.push(step);
    }
  }
  return { steps, turns, elapsedMs };
}

function addUsage(turns: TurnView[], { usage }: Extract<RunEvent, { readonly type: 'model-answer' }>): void {
  const last = turns.pop();
  if (last === undefined) return;
  turns.push({
    ...last,
    ...defined({ inputTokens: usage.inputTokens, outputTokens: usage.outputTokens }),
  });
}

function toStep({ seq, elapsed, event }: JournalLine, turn: number): RunStep | undefined {
  const base = { events: [seq], atMs: elapsed, turn, lines: [] };
  if (event.type === 'action')
    return {
      ...base,
      kind: 'action',
      tone: 'plain',
      text: cut(describeAction(event.action)),
      lines: askedBy(event.askedBy),
    };
  const kind = classifyEvent(event);
  if (kind === undefined) return undefined;
  const [first] = eventText(event, 'verbose');
  if (first === undefined) return undefined;
  const step = { ...base, kind, tone: first.tone, text: cut(first.text) };
  if (event.type === 'subject-call')
    return {
      ...step,
      tone: event.ok ? 'good' : 'bad',
      lines: [
        { label: 'input', tone: 'plain', text: cut(JSON.stringify(event.input) ?? '') },
        { label: 'outcome', tone: event.ok ? 'good' : 'bad', text: cut(event.output) },
      ],
    };
  if (event.type === 'plan') return { ...step, plan: event.plan };
  if (event.type === 'model-answer' && event.text !== '')
    return { ...step, lines: [{ label: 'says', tone: 'plain', text: cut(event.text) }] };
  return step;
}

function classifyEvent(event: RunEvent): StepKind | undefined {
  switch (event.type) {
    case 'model-answer':
      return 'model';
    case 'plan':
      return event.plan.steps.length === 0 ? undefined : 'plan';
    case 'activation':
      return 'skill';
    case 'context-compact':
      return 'context';
    case 'note':
    case 'call-invalid':
    case 'answer-withdraw':
    case 'budget-end':
    case 'subagent-start':
    case 'subagent-end':
    case 'chat':
    case 'subject-end':
      return 'note';
    case 'subject-call':
      return event.loads.length > 0 ? 'skill' : 'action';
    case 'run-end':
      return 'end';
    // Parts of a turn heading, of an action, or of the record.
    case 'run-start':
    case 'scan':
    case 'turn':
    case 'model-call':
    case 'action':
    case 'decision':
    case 'approval-ask':
    case 'approval-answer':
    case 'skill-use':
    case 'observation':
    case 'session':
    case 'span':
    case 'content-keep':
    case 'answer-delta':
    case 'decision-delta':
      return undefined;
  }
}

function askedBy(who: string): readonly StepLine[] {
  return who === 'model' ? [] : [{ label: 'asked by', tone: 'faint', text: who }];
}

function withEvent(step: RunStep, { seq, elapsed, event }: JournalLine): RunStep {
  const added = addedBy(event);
  if (added === undefined) return step;
  const { line, tone } = added;
  return {
    ...step,
    events: [...step.events, seq],
    tone: worse(step.tone, tone ?? line.tone),
    lines: [...step.lines, line],
    ...(event.type === 'observation' ? { tookMs: Math.max(0, elapsed - step.atMs) } : {}),
  };
}

interface Added {
  readonly line: StepLine;
  /** The tone of the step, if it differs from that of the line. */
  readonly tone?: Tone;
}

function addedBy(event: RunEvent): Added | undefined {
  switch (event.type) {
    case 'decision': {
      const { effect, risk, rule, origin, reason } = event.decision;
      const tone = effect === 'deny' ? 'bad' : effect === 'ask' ? 'warning' : 'faint';
      const text = `${effect}, risk ${risk}, by rule ${rule} of ${origin.layer}: ${reason}`;
      return { line: { label: 'decision', tone, text: cut(text) }, tone: tone === 'faint' ? 'plain' : tone };
    }
    case 'approval-ask':
    case 'approval-answer': {
      const [line] = eventText(event, 'verbose');
      const label = event.type === 'approval-ask' ? 'question' : 'answer';
      return line === undefined
        ? undefined
        : { line: { label, tone: line.tone, text: cut(line.text.replace(/^\w+: /, '')) } };
    }
    case 'observation': {
      const { observation } = event;
      const tone = observation.type === 'failed' ? 'bad' : isPoorOutcome(observation) ? 'warning' : 'good';
      return { line: { label: 'outcome', tone, text: cut(describeOutcome(observation, true)) } };
    }
    default:
      return undefined;
  }
}

const WORSE = ['faint', 'plain', 'good', 'warning', 'bad'] as const satisfies readonly Tone[];

function worse(a: Tone, b: Tone): Tone {
  return WORSE.indexOf(a) >= WORSE.indexOf(b) ? a : b;
}

function cut(text: string): string {
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`;
}

interface ContextTracker {
  /** Must see every event of a run in order. */
  see(event: RunEvent): void;
  /** Splits the tokens of a request into sections, which add up to it. */
  sections(tokens: number): Readonly<Record<ContextSection, number>>;
}

const SECTION_OF = {
  catalog: 'catalog',
  load: 'bodies',
  document: 'bodies',
  invocation: 'bodies',
  compaction: 'bodies',
  resource: 'resources',
  list: 'resources',
  search: 'resources',
} as const satisfies Record<ShownContent['reason'], ContextSection>;

/** Estimates the sections of each request from the shown content and from its growth. */
function contextTracker(): ContextTracker {
  const shown = { catalog: 0, bodies: 0, resources: 0 };
  /** Instructions, tools and the request of the user, which are part of every request. */
  let base: number | undefined;
  const add = ({ reason, tokens }: ShownContent): void => {
    const section = SECTION_OF[reason];
    // A new catalog replaces the previous one.
    shown[section] = section === 'catalog' ? tokens : shown[section] + tokens;
  };
  return {
    see(event) {
      if (event.type === 'session' && event.event.type === 'content-show') add(event.event.shown);
      if (event.type === 'session' && event.event.type === 'request-start')
        event.event.shown.filter(({ reason }) => reason === 'catalog').forEach(add);
      // After a compaction, the remaining skill content is shown again.
      if (event.type === 'context-compact') Object.assign(shown, { bodies: 0, resources: 0 });
    },
    sections(tokens) {
      let left = Math.max(0, tokens);
      const take = (wanted: number): number => {
        const taken = Math.min(left, Math.max(0, wanted));
        left -= taken;
        return taken;
      };
      const [catalog, bodies, resources] = [take(shown.catalog), take(shown.bodies), take(shown.resources)];
      base ??= left;
      const rest = take(base);
      return { catalog, bodies, resources, rest, observations: left };
    },
  };
}
