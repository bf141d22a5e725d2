import { FINAL_ANSWER } from './action-protocol.ts';
import type { JsonPath } from '../core/json/json-schema.ts';
import { isObject } from '../core/json/json-schema.ts';
import { openJsonStream } from './json/json-stream.ts';
import type { JsonStream } from './json/json-stream.ts';
import { shownText } from '../core/text/line-text.ts';
import { cleanText } from '../core/text/text.ts';

/** What a person can be shown of a decision before it is complete. Nothing may be done by it: the rest may take it back. */
export interface ActionStreamHandlers {
  /** The final answer has grown. What is told adds up to it, as the model wrote it: who shows it cleans it. */
  readonly onAnswerText?: (delta: string) => void;
  /** A part is complete: a line of clean text. */
  readonly onField?: (name: ActionField, value: string) => void;
}

/** The name of the action, the goal of the plan, one of its steps. */
export type ActionField = 'action' | 'goal' | 'step';

/** Reads a decision while it arrives. `end` gives the object for `readDecision`, or what is wrong with it. */
export function openActionStream({ onAnswerText, onField }: ActionStreamHandlers): JsonStream {
  /** The name of the action may come behind its payload: what is an answer is known only then. */
  let type: unknown;
  let held = '';
  const tellAnswer = (delta: string): void => {
    held += delta;
    if (type !== FINAL_ANSWER || held === '') return;
    const text = held;
    held = '';
    onAnswerText?.(text);
  };
  return openJsonStream({
    onText: (path, delta) => {
      if (isAnswer(path) && (type === undefined || type === FINAL_ANSWER)) tellAnswer(delta);
    },
    onValue: (path, value) => {
      const field = fieldOf(path);
      if (field === undefined) return;
      const text = field === 'step' ? stepText(value) : typeof value === 'string' ? lineOf(value) : '';
      if (text !== '') onField?.(field, text);
      if (field !== 'action') return;
      type = value;
      tellAnswer('');
    },
  });
}

function isAnswer(path: JsonPath): boolean {
  return path.length === 3 && path[0] === 'action' && path[1] === 'payload' && path[2] === 'answer';
}

/** A plan stands in `plan_update` or in `plan_update.plan`. */
function fieldOf(path: JsonPath): ActionField | undefined {
  if (path[0] === 'action') return path.length === 2 && path[1] === 'type' ? 'action' : undefined;
  if (path[0] !== 'plan_update' || path.length > 4) return undefined;
  const [name, place, ...deeper] = path.slice(path[1] === 'plan' ? 2 : 1);
  if (deeper.length > 0) return undefined;
  if (name === 'goal' && place === undefined) return 'goal';
  return name === 'steps' && place !== undefined ? 'step' : undefined;
}

/** A step by its title; a change of a step by its id and what becomes of it. */
function stepText(step: unknown): string {
  if (typeof step === 'string') return lineOf(step);
  if (!isObject(step)) return '';
  const { id, title, status } = step;
  if (typeof title === 'string') return lineOf(title);
  return typeof id === 'string' && typeof status === 'string' ? `${shownText(id)}: ${shownText(status)}` : '';
}

const LONGEST_LINE = 200;

function lineOf(text: string): string {
  const line = cleanText(text.slice(0, LONGEST_LINE)).replaceAll(/\s+/g, ' ').trim();
  return text.length > LONGEST_LINE ? `${line}…` : line;
}
