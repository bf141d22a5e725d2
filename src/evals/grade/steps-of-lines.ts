/** What was asked for, one step each: calls of the model tied to the actions that they became. */
import { readAnswer } from '../../agent/answer-json.ts';
import type { JournalLine, RunEvent } from '../../core/run-events.ts';
import { isObject } from '../../core/json/json-schema.ts';
import type { Observation } from '../../core/observation.ts';
import type { StepFact } from './run-facts.ts';
import { tieCalls } from './match-calls.ts';
import type { OpenStep, WrittenCall } from './match-calls.ts';

export function stepsOfLines(lines: readonly JournalLine[]): readonly StepFact[] {
  const isActions = lines.some(({ event }) => event.type === 'run-start' && event.agent?.protocol === 'actions');
  const steps: StepFact[] = [];
  let calls: readonly WrittenCall[] = [];
  let answerSeq = 0;
  let open: OpenStep[] = [];
  const close = (): void => {
    steps.push(...tieCalls(calls, open, answerSeq));
    [calls, open] = [[], []];
  };
  for (const { seq, event } of lines) {
    if (event.type === 'model-answer') {
      close();
      calls = writtenCalls(event, isActions);
      answerSeq = seq;
    } else if (event.type === 'action')
      open.push({ call: event.call, seq, action: event.action, askedBy: event.askedBy, events: [seq] });
    else open = open.map((step) => withEvent(step, event, seq));
  }
  close();
  return steps;
}

function withEvent(step: OpenStep, event: RunEvent, seq: number): OpenStep {
  if (!('call' in event) || event.call !== step.call || event.type === 'span') return step;
  const events = [...step.events, seq];
  switch (event.type) {
    case 'decision':
      return { ...step, decision: event.decision, events };
    case 'approval-ask':
      return { ...step, approval: 'pending', events };
    case 'approval-answer':
      return { ...step, approval: event.answer, events };
    case 'observation': {
      const skill = skillOf(event.observation);
      return { ...step, observation: event.observation, events, ...(skill === undefined ? {} : { skill }) };
    }
    default:
      return step;
  }
}

function skillOf(observation: Observation): string | undefined {
  return 'skill' in observation ? observation.skill?.name : undefined;
}

type ModelAnswered = Extract<RunEvent, { readonly type: 'model-answer' }>;

function writtenCalls({ text, toolCalls }: ModelAnswered, isActions: boolean): readonly WrittenCall[] {
  if (toolCalls.length > 0) return toolCalls.map(({ name, input }) => ({ name, input: parsed(input) }));
  if (!isActions) return [];
  const reading = readAnswer(text);
  const action = reading.type === 'object' ? reading.value['action'] : undefined;
  if (!isObject(action) || typeof action['type'] !== 'string') return [];
  return [{ name: action['type'], input: action['payload'] }];
}

/** Nothing where it is no JSON. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
