/** An agent at work, as a person sees it: the plan, a line an action, and the answer while it grows. */
import { jsonlSink, terminalSink } from '../../journal/export/sinks.ts';
import type { EventSink } from '../../journal/export/sinks.ts';
import { describeAction } from '../../core/action-text.ts';
import { TEXT_LEVELS } from '../../core/event-text.ts';
import type { TextLevel } from '../../core/event-text.ts';
import type { RunEvent } from '../../core/run-events.ts';
import { shownText } from '../../core/text/line-text.ts';
import type { Plan, PlanStep, StepState } from '../../core/plan.ts';
import { cleanText, printable } from '../../core/text/text.ts';
import type { Style, Terminal } from '../terminal/terminal.ts';
import { fitText } from '../../platform/text-width.ts';

export interface AgentDisplay {
  readonly sink: EventSink;
  /** Shows the answer, unless it has grown on the screen already. */
  readonly end: (answer: string) => void;
}

/**
 * On a terminal a line says what is waited for, and the answer is shown as it comes. Elsewhere there are plain lines, and the answer
 * when it is whole. What is said goes to stderr, the answer to stdout.
 */
export function openAgentDisplay(terminal: Terminal, level: TextLevel): AgentDisplay {
  const growing = openGrowingText(terminal);
  let isWaiting = false;
  let plan: Plan | undefined;
  const wait = (text: string): void => {
    if (!terminal.isInteractive || level === 'quiet') return;
    terminal.overwrite(terminal.style('dim', fitText(text, terminal.width - 1)));
    isWaiting = true;
  };
  const clear = (): void => {
    if (isWaiting) terminal.overwrite('');
    isWaiting = false;
  };
  const say = (text: string): void => {
    growing.interrupt();
    terminal.remark(text);
  };
  const lines = terminalSink({ level, write: (line) => say(line.trimEnd()), style: terminal.style });
  const sink: EventSink = (line) => {
    const { event } = line;
    clear();
    if (event.type === 'answer-delta') return growing.add(event.text);
    if (event.type === 'model-call') growing.begin();
    if (event.type === 'plan') {
      if (level !== 'quiet') for (const step of planLines(plan, event.plan, terminal)) say(step);
      plan = event.plan;
    } else if (!isSaidElsewhere(event)) lines(line);
    const waited = waitText(event);
    if (waited !== undefined) wait(waited);
  };
  return {
    sink,
    end(answer) {
      clear();
      growing.end(answer);
    },
  };
}

/** The answer is shown, and how it ended is said with it. */
function isSaidElsewhere(event: RunEvent): boolean {
  if (event.type === 'observation') return event.observation.type === 'answered';
  return event.type === 'run-end' && event.outcome === 'done';
}

function waitText(event: RunEvent): string | undefined {
  if (event.type === 'model-call') return `turn ${String(event.turn)}: asking ${shownText(event.model)} …`;
  if (event.type === 'action' && event.action.type !== 'final_answer') return `${describeAction(event.action)} …`;
  return undefined;
}

const MARKS: Readonly<Record<StepState, readonly [mark: string, style: Style]>> = {
  completed: ['[x]', 'green'],
  in_progress: ['[>]', 'bold'],
  pending: ['[ ]', 'dim'],
};

/** As the flags want it: lines of JSON, or text for a person. */
export function displayFor(
  { json, log }: { readonly json?: boolean; readonly log?: string },
  terminal: Terminal,
): AgentDisplay {
  if (json === true) return { sink: jsonlSink((text) => terminal.pass('stdout', text)), end: () => undefined };
  return openAgentDisplay(terminal, TEXT_LEVELS.find((known) => known === log) ?? 'normal');
}

/** The steps that are new or not as they were. */
export function planLines(
  before: Plan | undefined,
  { steps }: Plan,
  { style }: Pick<Terminal, 'style'>,
): readonly string[] {
  const known = new Map(before?.steps.map((step) => [step.id, step]));
  return steps
    .filter((step) => !isSame(known.get(step.id), step))
    .map(({ title, status }) => {
      const [mark, look] = MARKS[status];
      return `  ${style(look, `${mark} ${printable(title)}`)}`;
    });
}

function isSame(before: PlanStep | undefined, { title, status }: PlanStep): boolean {
  return before?.title === title && before.status === status;
}

interface GrowingText {
  /** Another text starts: what came before it was no answer. */
  begin(): void;
  add(text: string): void;
  /** Something else is about to be shown. */
  interrupt(): void;
  end(answer: string): void;
}

/** A text that is shown as it comes, where a person looks at stdout. */
function openGrowingText({ isAnswerOnTerminal, pass, out }: Terminal): GrowingText {
  let text = '';
  let half = '';
  let isLineOpen = false;
  const interrupt = (): void => {
    if (isLineOpen) pass('stdout', '\n');
    isLineOpen = false;
  };
  return {
    begin() {
      interrupt();
      text = '';
      half = '';
    },
    add(piece) {
      if (!isAnswerOnTerminal) return;
      text += piece;
      const joined = half + piece;
      // A character may come in two halves.
      half = /[\uD800-\uDBFF]$/.test(joined) ? joined.slice(-1) : '';
      const shown = cleanText(half === '' ? joined : joined.slice(0, -1));
      if (shown === '') return;
      pass('stdout', shown);
      isLineOpen = !shown.endsWith('\n');
    },
    interrupt,
    end(answer) {
      const isShown = text !== '' && text.trim() === answer.trim();
      interrupt();
      if (!isShown) out(cleanText(answer));
    },
  };
}
