/** Describes what an agent does between actions, one line per event. Model output is truncated, escaped and quoted. */
import type { ChatEvent } from './chat.ts';
import type { RunEvent, RunScan } from './run-events.ts';
import { countText, shownText } from './text/line-text.ts';
import type { ModelUsage } from './model.ts';
import type { Plan } from './plan.ts';

type AgentEventType =
  | 'scan'
  | 'turn'
  | 'model-call'
  | 'model-answer'
  | 'plan'
  | 'activation'
  | 'answer-delta'
  | 'decision-delta'
  | 'tool.response'
  | 'answer-withdraw'
  | 'call-invalid'
  | 'context-compact'
  | 'budget-end'
  | 'subagent-start'
  | 'subagent-end'
  | 'chat'
  | 'subject-call'
  | 'subject-end';

export type AgentEvent = Extract<RunEvent, { readonly type: AgentEventType }>;

const SHOWN_NAMES = 5;
const REASON_LENGTH = 300;

export function agentEventText(event: AgentEvent): string {
  switch (event.type) {
    case 'scan':
      return scanText(event);
    case 'turn':
      return `turn ${String(event.turn)}`;
    case 'model-call':
      return `calls ${shownText(event.model)}, about ${countText(event.tokens, 'token')}`;
    case 'model-answer':
      return answerText(event);
    case 'plan':
      return planLine(event.plan);
    case 'activation':
      return `skill ${shownText(event.skill)}, by ${shownText(event.reason)}`;
    case 'answer-delta':
      return `answer continues: ${shownText(event.text)}`;
    case 'decision-delta':
      return `${event.field === 'action' ? 'preparing' : 'planning'}: ${shownText(event.text)}`;
    case 'tool.response':
      return `${shownText(event.tool)} answered: ${shownText(event.text)}`;
    case 'answer-withdraw':
      return `the text above is not the answer: ${shownText(event.reason, REASON_LENGTH)}`;
    case 'call-invalid':
      return `invalid call of ${shownText(event.tool)}: ${shownText(event.reason, REASON_LENGTH)}`;
    case 'context-compact': {
      const { before, after, dropped } = event;
      return `context compacted from about ${countText(before, 'token')} to ${String(after)}: ${namesText(dropped)}`;
    }
    case 'budget-end':
      return `budget exhausted: ${shownText(event.name)}, ${String(event.used)} of ${String(event.limit)}`;
    case 'subagent-start':
      return `subagent for ${shownText(event.skill)}, run ${shownText(event.run)}`;
    case 'subagent-end':
      return `subagent ${shownText(event.outcome)}, run ${shownText(event.run)}`;
    case 'chat':
      return chatText(event.event);
    case 'subject-call': {
      const { tool, ok, loads } = event;
      const loaded = loads.length === 0 ? '' : `, loads ${namesText(loads.map(({ skill }) => skill))}`;
      return `${shownText(tool)} ${ok ? 'succeeded' : 'failed'}${loaded}`;
    }
    case 'subject-end': {
      const { exitCode, files } = event;
      const end = exitCode === null ? 'killed' : `exit code ${String(exitCode)}`;
      return `the agent ended: ${end}, ${countText(files.length, 'file')} written`;
    }
  }
}

function scanText({ roots, valid, ignored, conflicts }: RunScan): string {
  const parts = [
    countText(valid, 'skill'),
    `${String(ignored.length)} ignored`,
    `${String(conflicts.length)} shadowed`,
  ];
  return `scanned ${countText(roots.length, 'root')}: ${parts.join(', ')}`;
}

function chatText(event: ChatEvent): string {
  switch (event.type) {
    case 'message':
      return `user: ${shownText(event.text)}`;
    case 'answer':
      return `answer: ${shownText(event.text)}`;
    case 'undo':
      return 'the last message and its answer were removed';
    case 'carry':
      return `continues run ${shownText(event.run)}`;
  }
}

function answerText({
  toolCalls,
  text,
  usage,
  retries,
}: Extract<AgentEvent, { readonly type: 'model-answer' }>): string {
  const calls = namesText(toolCalls.map(({ name }) => name));
  const parts = [
    ...(toolCalls.length === 0 ? [] : [`calls ${calls}`]),
    ...(text === '' ? [] : [`says ${countText(text.length, 'character')}`]),
    ...usageText(usage),
    ...(retries === 0 ? [] : [`after ${countText(retries, 'retry', 'retries')}`]),
  ];
  return `the model ${parts.length === 0 ? 'says nothing' : parts.join(', ')}`;
}

function usageText({ inputTokens, outputTokens }: ModelUsage): readonly string[] {
  if (inputTokens === undefined && outputTokens === undefined) return [];
  return [`${String(inputTokens ?? 0)} tokens in and ${String(outputTokens ?? 0)} out`];
}

function planLine({ goal, steps }: Plan): string {
  const done = steps.filter(({ status }) => status === 'completed').length;
  const now = steps.find(({ status }) => status === 'in_progress');
  const state = steps.length === 0 ? shownText(goal) : `${String(done)} of ${countText(steps.length, 'step')} done`;
  return `plan: ${state}${now === undefined ? '' : `, now ${shownText(now.title)}`}`;
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).map((name) => shownText(name));
  return `${shown.join(', ')}${names.length > SHOWN_NAMES ? ` and ${String(names.length - SHOWN_NAMES)} more` : ''}`;
}
