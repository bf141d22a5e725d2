import { describeAction, describeOutcome, limitText } from './action-text.ts';
import type { Action } from './action.ts';
import { agentEventText } from './agent-event-text.ts';
import type { ApprovalRequest } from './approval.ts';
import type { ResumedRun, RunEvent } from './run-events.ts';
import type { Decision, RuleOrigin } from './access.ts';
import { withToolName } from './decided-tool.ts';
import type { SessionEvent } from './session.ts';
import { countText, durationText, forPeople, shownText } from './text/line-text.ts';

/**
 * Text that a person reads while a run is in progress. Untrusted text is truncated, escaped and quoted, so that it cannot imitate output of
 * this program.
 */

/** `quiet`: denials, questions, failures and the end. `normal`: also one line per action. `verbose`: also reasons and sizes. */
export type TextLevel = 'quiet' | 'normal' | 'verbose';

export interface TextLine {
  readonly tone: 'plain' | 'faint' | 'good' | 'warning' | 'bad';
  readonly text: string;
}

/** What is known about the call that an event belongs to. */
export interface CallSoFar {
  readonly action?: Action;
  /** Name of its tool in the vocabulary; the type of the action if absent. */
  readonly tool?: string | undefined;
  readonly decision?: Decision;
  /** Time since the action was requested. */
  readonly durationMs?: number;
}

const REASON_LENGTH = 300;

export function eventText(event: RunEvent, level: TextLevel, call: CallSoFar = {}): readonly TextLine[] {
  return eventLines(event, level, call).map(({ tone, text }) => ({ tone, text: forPeople(text) }));
}

function eventLines(event: RunEvent, level: TextLevel, call: CallSoFar): readonly TextLine[] {
  switch (event.type) {
    case 'run-start':
      return level === 'quiet' ? [] : [{ tone: 'plain', text: startText(event, level) }];
    case 'action':
      return level === 'verbose'
        ? [{ tone: 'faint', text: `asked by ${event.askedBy}: ${describeAction(event.action, event.tool)}` }]
        : [];
    case 'decision':
      return decisionLines(event.decision, level, call);
    case 'approval-ask':
      return askLines(event.request, level, call);
    case 'approval-answer':
      return level === 'quiet' ? [] : [{ tone: 'plain', text: answerText(event.answer) }];
    case 'skill-use':
      return level === 'verbose'
        ? [{ tone: 'faint', text: `uses skill ${skillText(event.skill)}, ${shownText(event.skill.digest)}` }]
        : [];
    case 'observation':
      return observationLines(event, level, call);
    case 'content-keep':
      return [];
    case 'session':
      return level === 'verbose' ? [{ tone: 'faint', text: `session: ${sessionText(event.event)}` }] : [];
    case 'span':
      return level === 'verbose' ? [{ tone: event.span.isFailed ? 'warning' : 'faint', text: spanText(event) }] : [];
    case 'note':
      return level === 'quiet' ? [] : [{ tone: 'warning', text: `note: ${shownText(event.message, REASON_LENGTH)}` }];
    case 'answer-withdraw':
      if (event.by === 'action' && level !== 'verbose') return [];
      return [{ tone: 'warning', text: agentEventText(event) }];
    case 'call-invalid':
      return level === 'quiet' ? [] : [{ tone: 'warning', text: agentEventText(event) }];
    case 'scan':
    case 'turn':
    case 'model-call':
    case 'model-answer':
    case 'plan':
    case 'activation':
    case 'context-compact':
    case 'subagent-start':
    case 'subagent-end':
    case 'chat':
    case 'subject-call':
    case 'subject-end':
      return isWorthALine(event, level) ? [{ tone: 'faint', text: agentEventText(event) }] : [];
    case 'budget-end':
      return [{ tone: 'warning', text: agentEventText(event) }];
    case 'answer-delta':
    case 'decision-delta':
    case 'tool.response':
      // Sinks that stream the answer show these themselves.
      return [];
    case 'run-end':
      return [{ tone: event.outcome === 'done' ? 'good' : 'bad', text: endText(event) }];
  }
}

const SHOWN: ReadonlySet<RunEvent['type']> = new Set(['plan', 'subagent-start', 'subagent-end', 'context-compact']);

/** Agent events between actions: plan, subagents and a shortened conversation at `normal`, everything at `verbose`. */
function isWorthALine({ type }: RunEvent, level: TextLevel): boolean {
  if (level === 'normal') return SHOWN.has(type);
  return level === 'verbose';
}

function startText(event: RunEvent & { readonly type: 'run-start' }, level: TextLevel): string {
  const { resumes } = event.agent ?? {};
  const text = `run ${shownText(event.run)}: ${shownText(event.request)}${resumes === undefined ? '' : resumedText(resumes)}`;
  if (level !== 'verbose') return text;
  const parent = event.parent === undefined ? '' : `, part of ${shownText(event.parent)}`;
  return `${text} (version ${shownText(event.version)}, policy ${shownText(event.policyHash)}${parent})`;
}

function resumedText({ run, answers, calls }: ResumedRun): string {
  const what = `${countText(answers, 'answer')} and ${countText(calls, 'action')}`;
  return `; continues ${shownText(run)}, whose ${what} are read from its record and not repeated`;
}

function endText({ outcome, reason }: RunEvent & { readonly type: 'run-end' }): string {
  return reason === '' ? `run ${outcome}` : `run ${outcome}: ${shownText(reason, REASON_LENGTH)}`;
}

function decisionLines(decision: Decision, level: TextLevel, { action, tool: called }: CallSoFar): readonly TextLine[] {
  const { effect, tool, risk, rule, origin, reason } = decision;
  const what = action === undefined ? shownText(tool) : describeAction(action, called);
  const why = ruleText(rule, origin);
  if (level === 'verbose') {
    const text = `decision: ${effect} ${what}, ${risk} risk (${why}): ${shownText(reason, REASON_LENGTH)}`;
    return [{ tone: effect === 'deny' ? 'bad' : 'faint', text }];
  }
  return effect === 'deny' ? [{ tone: 'bad', text: `denied: ${what}, by ${why}` }] : [];
}

function askLines(request: ApprovalRequest, level: TextLevel, { tool }: CallSoFar): readonly TextLine[] {
  const { action, risk, rule, origin, affects, isolation, scopes } = request;
  const text = `question: ${describeAction(action, tool)}, ${risk} risk (${ruleText(rule, origin)})`;
  if (level !== 'verbose') return [{ tone: 'warning', text }];
  const touched =
    affects.length === 0
      ? 'nothing'
      : affects
          .slice(0, 5)
          .map((one) => shownText(one))
          .join(' ');
  const more = affects.length > 5 ? ` and ${String(affects.length - 5)} more` : '';
  const around = isolation === undefined ? '' : `, isolation ${isolation}`;
  return [
    { tone: 'warning', text: `${text}; affects ${touched}${more}${around}; may be allowed: ${scopes.join(', ')}` },
  ];
}

function answerText(answer: (RunEvent & { readonly type: 'approval-answer' })['answer']): string {
  if (answer === 'nobody') return 'not approved: no person is available';
  if (answer === 'pending') return 'not approved yet: the question waits for an answer';
  const { verdict, scope, by, reason } = answer;
  if (verdict === 'no') return `denied by ${ANSWERED_BY[by]}`;
  return `approved ${REACH[scope]} by ${by === 'option' && reason !== undefined ? shownText(reason) : ANSWERED_BY[by]}`;
}

const ANSWERED_BY = {
  terminal: 'you',
  callback: 'the program',
  option: 'an option',
  stored: 'your stored answer',
  file: 'a person in the approval inbox',
} as const;

const REACH = { once: 'once', run: 'for this run', skill: 'for this skill' } as const;

function observationLines(
  { observation, tool }: RunEvent & { readonly type: 'observation' },
  level: TextLevel,
  { action, decision, durationMs }: CallSoFar,
): readonly TextLine[] {
  const isFailed = observation.type === 'failed';
  if (level === 'quiet' && !isFailed) return [];
  // The decision line already said so, with its rule.
  if (isFailed && observation.code === 'policy/denied' && decision?.effect === 'deny' && level !== 'verbose') return [];
  const what = action === undefined ? shownText(tool ?? observation.action) : describeAction(action, tool);
  const took = durationMs === undefined ? '' : ` (${durationText(durationMs)})`;
  const limits = level === 'verbose' && 'limits' in observation ? `, ${limitText(observation.limits)}` : '';
  const named = isFailed ? withToolName(tool, observation) : observation;
  const { text, tone } = describeOutcome(named, level === 'verbose');
  return [{ tone, text: `${what}: ${text}${took}${limits}` }];
}

function ruleText(rule: string, origin: RuleOrigin): string {
  return rule === 'by risk' && origin.layer === 'built-in'
    ? 'built-in rule'
    : `rule ${shownText(rule)} of ${originText(origin)}`;
}

function originText({ layer, where }: RuleOrigin): string {
  return where === '' ? layer : `${layer} ${shownText(where)}`;
}

function skillText({ name, source }: { readonly name: string; readonly source: string }): string {
  return `${shownText(name)} of ${shownText(source)}`;
}

function sessionText(event: SessionEvent): string {
  switch (event.type) {
    case 'session-start':
    case 'turn-start':
      return event.type;
    case 'request-start':
      return `${event.type}, ${String(event.shown.length)} shown`;
    case 'skill-load':
      return `${event.type} ${skillText(event.skill)}, for ${event.lifetime}`;
    case 'skill-repeat':
      return `${event.type} ${shownText(event.skill)}`;
    case 'documents-select':
      return `${event.type} ${skillText(event.skill)}`;
    case 'content-show': {
      const { skill, path, characters, tokens, reason } = event.shown;
      const what = [skill, path].filter((one) => one !== '').map((one) => shownText(one));
      return [event.type, ...what, `${reason}, ${String(characters)} characters, ${String(tokens)} tokens`].join(' ');
    }
    case 'action-end':
      return event.type;
    case 'action-fail':
      return `${event.type} ${event.code}`;
    case 'session-compact':
      return `${event.type}, ${String(event.kept.length)} kept`;
  }
}

function spanText({ span }: RunEvent & { readonly type: 'span' }): string {
  const attributes = Object.entries(span.attributes).map(
    ([key, value]) => `${shownText(key)}=${shownText(String(value))}`,
  );
  const state = span.isFailed ? ['failed'] : [];
  return [`step ${span.name}:`, ...state, durationText(span.durationMs), ...attributes].join(' ');
}
