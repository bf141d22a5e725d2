/** Converts a recorded run into a timeline. An action with its decision, approval and outcome is one step. */
import { readRun } from '#journal';
import {
  defined,
  describeAction,
  describeOutcome,
  eventText,
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

export function buildTimeline(lines: Iterable<JournalLine>): Pick<RunView, 'steps' | 'turns' | 'elapsedMs'> {
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
    if (event.type === 'model-call') {
      const { model, tokens } = event;
      turns.push({ turn, atMs: elapsed, model, tokens, sections: context.sections(tokens) });
    }
    const last = event.type === 'model-answer' ? turns.pop() : undefined;
    if (event.type === 'model-answer' && last !== undefined) {
      const { inputTokens, outputTokens } = event.usage;
      turns.push({ ...last, ...defined({ inputTokens, outputTokens }) });
    }
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

function toStep({ seq, elapsed, event }: JournalLine, turn: number): RunStep | undefined {
  const base = { events: [seq], atMs: elapsed, turn, lines: [] };
  if (event.type === 'action') {
    const { action, askedBy, tool } = event;
    const lines: RunStep['lines'] = askedBy === 'model' ? [] : [{ label: 'asked by', tone: 'faint', text: askedBy }];
    return { ...base, kind: 'action', tone: 'plain', text: cut(describeAction(action, tool)), lines };
  }
  const kind = classifyEvent(event);
  if (kind === undefined) return undefined;
  const [first] = eventText(event, 'verbose');
  if (first === undefined) return undefined;
  const step = { ...base, kind, tone: first.tone, text: cut(first.text) };
  if (event.type === 'subject-call') {
    const tone = event.ok ? 'good' : 'bad';
    const input = { label: 'input', tone: 'plain', text: cut(JSON.stringify(event.input) ?? '') } as const;
    return { ...step, tone, lines: [input, { label: 'outcome', tone, text: cut(event.output) }] };
  }
  if (event.type === 'plan') return { ...step, plan: event.plan };
  if (event.type === 'model-answer' && event.text !== '')
    return { ...step, lines: [{ label: 'says', tone: 'plain', text: cut(event.text) }] };
  return step;
}

/** Other events are parts of a turn heading, of an action, or of the record. */
const STEP_KINDS: Partial<Record<RunEvent['type'], StepKind>> = {
  'model-answer': 'model',
  plan: 'plan',
  activation: 'skill',
  'context-compact': 'context',
  note: 'note',
  'call-invalid': 'note',
  'answer-withdraw': 'note',
  'budget-end': 'note',
  'subagent-start': 'note',
  'subagent-end': 'note',
  chat: 'note',
  'subject-end': 'note',
  'subject-call': 'action',
  'run-end': 'end',
};

function classifyEvent(event: RunEvent): StepKind | undefined {
  if (event.type === 'plan' && event.plan.steps.length === 0) return undefined;
  return event.type === 'subject-call' && event.loads.length > 0 ? 'skill' : STEP_KINDS[event.type];
}

function withEvent(step: RunStep, { seq, elapsed, event }: JournalLine): RunStep {
  const added = addedBy(event);
  if (added === undefined) return step;
  const { line, tone = line.tone } = added;
  return {
    ...step,
    events: [...step.events, seq],
    tone: WORSE.indexOf(step.tone) >= WORSE.indexOf(tone) ? step.tone : tone,
    lines: [...step.lines, line],
    tookMs: event.type === 'observation' ? Math.max(0, elapsed - step.atMs) : step.tookMs,
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
      const { text, tone } = describeOutcome(observation, true);
      return { line: { label: 'outcome', tone, text: cut(text) } };
    }
    default:
      return undefined;
  }
}

const WORSE = ['faint', 'plain', 'good', 'warning', 'bad'] as const satisfies readonly Tone[];

function cut(text: string): string {
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`;
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

/** Estimates the sections of each request, which add up to it, from the shown content and from its growth. Must see every event in order. */
function contextTracker() {
  const shown = { catalog: 0, bodies: 0, resources: 0 };
  /** Instructions, tools and the request of the user, which are part of every request. */
  let base: number | undefined;
  const add = ({ reason, tokens }: ShownContent): void => {
    const section = SECTION_OF[reason];
    // A new catalog replaces the previous one.
    shown[section] = section === 'catalog' ? tokens : shown[section] + tokens;
  };
  return {
    see(event: RunEvent): void {
      if (event.type === 'session' && event.event.type === 'content-show') add(event.event.shown);
      if (event.type === 'session' && event.event.type === 'request-start')
        event.event.shown.filter(({ reason }) => reason === 'catalog').forEach(add);
      // After a compaction, the remaining skill content is shown again.
      if (event.type === 'context-compact') Object.assign(shown, { bodies: 0, resources: 0 });
    },
    sections(tokens: number): TurnView['sections'] {
      let left = Math.max(0, tokens);
      const take = (limit: number): number => {
        const part = Math.min(left, Math.max(0, limit));
        left -= part;
        return part;
      };
      const [catalog, bodies, resources] = [take(shown.catalog), take(shown.bodies), take(shown.resources)];
      base ??= left;
      const rest = take(base);
      return { catalog, bodies, resources, rest, observations: left };
    },
  };
}
