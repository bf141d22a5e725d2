/** Shows an agent at work: the plan, one line per action, and the answer while it streams. */
import { jsonlSink, terminalSink } from '../../journal/export/sinks.ts';
import type { EventSink } from '../../journal/export/sinks.ts';
import { describeAction } from '../../core/action-text.ts';
import { TEXT_LEVELS } from '../../core/event-text.ts';
import type { TextLevel } from '../../core/event-text.ts';
import type { RunEvent } from '../../core/run-events.ts';
import { shownText } from '../../core/text/line-text.ts';
import type { Plan, PlanStep, StepState } from '../../core/plan.ts';
import { printable } from '../../core/text/text.ts';
import type { Style, Terminal } from '../terminal/terminal.ts';
import { openAnswerStream } from './answer-stream.ts';
import { fitText } from '../../platform/text-width.ts';

export interface AgentDisplay {
  readonly sink: EventSink;
  /** Prints the answer, unless it was already streamed. */
  readonly end: (answer: string) => void;
}

/**
 * On a terminal, a status line shows what the agent waits for and the answer streams. Elsewhere, plain lines are printed and the answer
 * when it is complete. Progress goes to stderr, the answer to stdout.
 */
export function openAgentDisplay(terminal: Terminal, level: TextLevel): AgentDisplay {
  const stream = openAnswerStream(terminal);
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
    stream.interrupt();
    terminal.remark(text);
  };
  const lines = terminalSink({ level, write: (line) => say(line.trimEnd()), style: terminal.style });
  const sink: EventSink = (line) => {
    const { event } = line;
    clear();
    if (event.type === 'answer-delta') return stream.add(event.text);
    if (event.type === 'model-call') stream.begin();
    if (event.type === 'plan') {
      if (level !== 'quiet') for (const step of planLines(plan, event.plan, terminal)) say(step);
      plan = event.plan;
    } else if (!isShownElsewhere(event)) lines(line);
    const waited = waitText(event);
    if (waited !== undefined) wait(waited);
  };
  return {
    sink,
    end(answer) {
      clear();
      stream.end(answer);
    },
  };
}

/** The answer and the outcome are printed at the end. */
function isShownElsewhere(event: RunEvent): boolean {
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

/** The display that the flags select: JSON lines or text. */
export function displayFor(
  { json, log }: { readonly json?: boolean; readonly log?: string },
  terminal: Terminal,
): AgentDisplay {
  if (json === true) return { sink: jsonlSink((text) => terminal.pass('stdout', text)), end: () => undefined };
  return openAgentDisplay(terminal, TEXT_LEVELS.find((known) => known === log) ?? 'normal');
}

/** The steps of a plan that are new or changed. */
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
