/** Events as lines of a timeline: short text for a list, so that a page holds thousands of them. */
import { describeAction, eventText, sliceStart, type JournalLine, type RunEvent } from '#core';
import type { EventRow } from './api/runs.ts';
import type { Immutable } from './router.ts';

const MAX_TEXT = 300;
const MAX_ANSWER = 100_000;

/** In a fleet each attempt at a run has a record of its own, whose numbers begin at 1. */
export type RecordLine = JournalLine & { readonly attempt?: number };

export function eventRow({ seq, elapsed, event, attempt }: RecordLine): Immutable<EventRow> {
  const { tone, text } = shownText(event);
  return {
    seq,
    attempt,
    at: Math.round(elapsed),
    type: event.type,
    tone,
    text: sliceStart(text, MAX_TEXT),
    ...('call' in event && event.call !== undefined ? { call: event.call } : {}),
    ...('turn' in event ? { turn: event.turn } : {}),
    ...(event.type === 'plan' ? { plan: planView(event.plan) } : {}),
    ...(event.type === 'action' && event.action.type === 'final_answer'
      ? { answer: sliceStart(event.action.answer, MAX_ANSWER) }
      : {}),
    ...(event.type === 'approval-ask' ? { request: event.request.id } : {}),
    ...(event.type === 'model-answer' ? { tokens: countTokens(event) } : {}),
  };
}

function shownText(event: RunEvent): Pick<EventRow, 'tone' | 'text'> {
  if (event.type === 'action') return { tone: 'plain', text: describeAction(event.action, event.tool) };
  const [first] = eventText(event, 'verbose');
  return first ?? { tone: 'faint', text: event.type };
}

export function planView({
  goal,
  steps,
}: Extract<RunEvent, { readonly type: 'plan' }>['plan']): NonNullable<Immutable<EventRow>['plan']> {
  return { goal, steps: steps.map(({ id, title, status }) => ({ id, title, status })) };
}

function countTokens({ usage }: Extract<RunEvent, { readonly type: 'model-answer' }>): number {
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
