/** Events as lines of a timeline: short text for a list, so that a page holds thousands of them. */
import {
  describeAction,
  describeOutcome,
  eventText,
  sliceStart,
  type JournalLine,
  type Observation,
  type RunEvent,
} from '#core';
import type { EventRow } from './api/runs.ts';
import type { Immutable } from './router.ts';

const MAX_TEXT = 300;
const MAX_PREVIEW = 600;
const MAX_ANSWER = 100_000;

/** In a fleet each attempt at a run has a record of its own, whose numbers begin at 1. */
export type RecordLine = JournalLine & { readonly attempt?: number };

type ModelAnswer = Extract<RunEvent, { readonly type: 'model-answer' }>;

/** What an answer of a model costs in US dollars; undefined if its price or its tokens are unknown, and never 0 for that. */
export type PriceAnswer = (model: string, usage: ModelAnswer['usage']) => number | undefined;

/** Makes rows of the events of one run in their order: an answer is priced by the model that was called before it. */
export function openEventRows(price?: PriceAnswer): (line: RecordLine) => Immutable<EventRow> {
  let model = '';
  return (line) => {
    const { event } = line;
    if (event.type === 'model-call') ({ model } = event);
    const row = eventRow(line);
    if (event.type === 'model-call') return { ...row, model };
    if (event.type !== 'model-answer') return row;
    return { ...row, model, usd: priceAnswer(price, model, event) };
  };
}

/** An estimated number of tokens has no price. */
export function priceAnswer(
  price: PriceAnswer | undefined,
  model: string,
  { usage, outputIsEstimated }: ModelAnswer,
): number | undefined {
  return usage.inputTokens === undefined || outputIsEstimated === true ? undefined : price?.(model, usage);
}

export function eventRow({ seq, elapsed, event, attempt }: RecordLine): Immutable<EventRow> {
  const { tone, text } = shownText(event);
  const preview = previewText(event);
  return {
    seq,
    attempt,
    at: Math.round(elapsed),
    type: event.type,
    tone,
    text: sliceStart(text, MAX_TEXT),
    ...(preview === '' ? {} : { preview: sliceStart(preview, MAX_PREVIEW) }),
    ...('call' in event && event.call !== undefined ? { call: event.call } : {}),
    ...(event.type === 'action' ? { action: event.action.type } : {}),
    ...('turn' in event ? { turn: event.turn } : {}),
    ...(event.type === 'plan' ? { plan: planView(event.plan) } : {}),
    ...(event.type === 'action' && event.action.type === 'final_answer'
      ? { answer: sliceStart(event.action.answer, MAX_ANSWER) }
      : {}),
    ...(event.type === 'approval-ask' ? { request: event.request.id } : {}),
    ...(event.type === 'model-answer' ? { tokens: countTokens(event), usage: event.usage } : {}),
  };
}

/** Sizes and limits are left to the terminal: beside each row the page shows the content itself. */
function shownText(event: RunEvent): Pick<EventRow, 'tone' | 'text'> {
  switch (event.type) {
    case 'action':
      return { tone: 'plain', text: describeAction(event.action, event.tool) };
    case 'observation':
      return outcomeText(event.observation);
    case 'model-answer':
      return { tone: 'faint', text: answerText(event) };
    default:
      return eventText(event, 'verbose')[0] ?? { tone: 'faint', text: event.type };
  }
}

function outcomeText(observation: Observation): Pick<EventRow, 'tone' | 'text'> {
  const outcome = describeOutcome(observation, false);
  if (observation.type === 'answered') return { ...outcome, text: 'answered' };
  if (observation.type === 'skill-loaded') return { ...outcome, text: SKILL_STATUS[observation.status] };
  if (observation.type !== 'tool-called') return outcome;
  return { ...outcome, text: observation.isError ? 'the tool reports an error' : 'done' };
}

const SKILL_STATUS = {
  new: 'instructions loaded',
  repeated: 'already loaded',
  changed: 'instructions loaded again, because they changed',
} as const;

function answerText({ toolCalls, retries }: ModelAnswer): string {
  const names = [...new Set(toolCalls.map(({ name }) => name))];
  const text = callsText(names, toolCalls.length);
  return retries === 0 ? text : `${text}, after ${String(retries)} ${retries === 1 ? 'retry' : 'retries'}`;
}

function callsText(names: readonly string[], calls: number): string {
  if (calls === 0) return 'answers';
  return `calls ${names.join(', ')}${calls > names.length ? ` (${String(calls)} calls)` : ''}`;
}

/** The start of what was said, printed or read, which is what a reader of a run looks for. */
function previewText(event: RunEvent): string {
  if (event.type === 'model-answer') return event.text;
  if (event.type === 'call-invalid') return event.reason;
  if (event.type === 'subject-call') return event.output;
  if (event.type === 'action' && 'command' in event.action)
    return event.action.command.length > MAX_TITLE ? event.action.command : '';
  return event.type === 'observation' ? outcomePreview(event.observation) : '';
}

/** A longer command is cut in the title of its row. */
const MAX_TITLE = 70;

function outcomePreview(observation: Observation): string {
  switch (observation.type) {
    case 'program-ran':
      return printed(observation.result);
    case 'command-seen':
      return observation.result === undefined ? observation.output : printed(observation.result);
    case 'file-read':
    case 'resource-read':
    case 'response-received':
    case 'tool-called':
      return observation.text;
    case 'directory-listed':
      return observation.entries.map(({ path }) => path).join('\n');
    case 'lines-found':
      return observation.matches.map(({ path, line, text }) => `${path}:${String(line)}: ${text}`).join('\n');
    case 'skills-found':
      return observation.results.map(({ name }) => name).join('\n');
    default:
      return '';
  }
}

function printed({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  return stdout === '' || stderr === '' ? `${stdout}${stderr}` : `${stdout.trimEnd()}\n${stderr}`;
}

export function planView({
  goal,
  steps,
}: Extract<RunEvent, { readonly type: 'plan' }>['plan']): NonNullable<Immutable<EventRow>['plan']> {
  return { goal, steps: steps.map(({ id, title, status }) => ({ id, title, status })) };
}

function countTokens({ usage }: ModelAnswer): number {
  return (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
}

const MAX_CHARACTERS = 64_000;

/** An event with long texts cut, for display. */
export function cutEvent(event: RunEvent): { readonly event: unknown; readonly isCut: boolean } {
  let isCut = false;
  const text = JSON.stringify(event, (_, value: unknown) => {
    if (typeof value !== 'string' || value.length <= MAX_CHARACTERS) return value;
    isCut = true;
    return `${sliceStart(value, MAX_CHARACTERS)}…`;
  });
  return { event: JSON.parse(text), isCut };
}
