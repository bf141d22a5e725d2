/** The form of data from a run folder. The folder is untrusted, and hashes only show that it was not changed. */
import { readField, OUTCOMES, shape, type RunEvent, type RunInfo, type OfType } from '#core';
import type { LockOwner } from '#platform';

type Check = (value: unknown) => boolean;

const EVENTS: Readonly<Record<RunEvent['type'], Check>> = {
  'run-start': shape({
    number: 'schema',
    text: 'run request version indexHash policyHash',
    optionalText: 'project vocabulary parent chain indexDigest scanDigest subject trace key',
    optionalObject: 'executor budgets agent process labels',
  }),
  scan: shape({ list: 'roots ignored conflicts', number: 'durationMs found valid', text: 'indexHash' }),
  action: shape({ number: 'call', text: 'action.type askedBy', optionalText: 'tool' }),
  decision: shape({
    number: 'call',
    text: 'decision.effect decision.tool decision.rule decision.reason decision.origin.layer',
  }),
  'approval-ask': shape({ number: 'call', text: 'request.id request.tool' }),
  'approval-answer': shape({ number: 'call', text: 'request', textOrObject: 'answer' }),
  'skill-use': shape({ number: 'call', text: 'skill.id skill.name skill.source skill.digest' }),
  observation: shape({ number: 'call', text: 'observation.type observation.action', optionalText: 'tool' }),
  session: shape({ text: 'event.type' }),
  span: shape({ optionalNumber: 'call', text: 'span.name', number: 'span.durationMs' }),
  'content-keep': shape({ text: 'path', number: 'bytes', optionalText: 'name' }),
  turn: shape({ number: 'turn' }),
  'model-call': shape({ number: 'turn tokens', text: 'model request' }),
  'model-answer': shape({
    number: 'turn retries',
    text: 'text finish',
    list: 'toolCalls',
    object: 'usage',
    optionalNumber: 'usage.inputTokens usage.outputTokens usage.cachedInputTokens usage.cacheWriteInputTokens',
  }),
  plan: shape({ number: 'turn', text: 'plan.goal', list: 'plan.steps plan.assumptions', object: 'plan.constraints' }),
  activation: shape({ text: 'skill reason' }),
  'answer-delta': shape({ text: 'text' }),
  'decision-delta': shape({ text: 'field text' }),
  'tool.response': shape({ number: 'turn', text: 'id tool text', object: 'stateDelta' }),
  'answer-withdraw': shape({ text: 'by reason' }),
  'call-invalid': shape({ number: 'turn', text: 'tool reason' }),
  'context-compact': shape({ number: 'before after', list: 'dropped' }),
  'budget-end': shape({ text: 'name', number: 'used limit' }),
  'subagent-start': shape({ number: 'call', text: 'run skill' }),
  'subagent-end': shape({ number: 'call', text: 'run outcome', optionalObject: 'used' }),
  chat: shape({ text: 'event.type' }),
  'subject-call': shape({ text: 'tool output', list: 'loads' }),
  'subject-end': shape({ list: 'files' }),
  note: shape({ text: 'message' }),
  'run-end': shape({ text: 'outcome reason' }),
};

const SESSION: Readonly<Record<OfType<RunEvent, 'session'>['event']['type'], Check>> = {
  'session-start': shape({ number: 'settings.maxLoaded', text: 'settings.lifetime' }),
  'turn-start': shape({}),
  'request-start': shape({}),
  'skill-load': shape({ text: 'skill.id digest' }),
  'skill-repeat': shape({ text: 'skill' }),
  'documents-select': shape({ text: 'skill.id' }),
  'content-show': shape({ text: 'shown.reason shown.skill' }),
  'action-end': shape({ text: 'action' }),
  'action-fail': shape({ text: 'action code' }),
  'session-compact': shape({ list: 'kept' }),
};

const CHAT: Readonly<Record<OfType<RunEvent, 'chat'>['event']['type'], Check>> = {
  message: shape({ text: 'text' }),
  answer: shape({ text: 'text' }),
  undo: shape({}),
  carry: shape({ text: 'run', list: 'said' }),
};

const RUN = shape({
  text: 'run version request normalizedRequest startedAt outcome reason indexHash indexDigest scanDigest policyHash events.head',
  optionalText: 'project vocabulary parent chain endedAt key',
  optionalObject: 'labels',
  list: 'phases resources tools programs skills approvals',
  number: 'invalidCalls events.count',
  objectOrNull: 'executor process',
  object: 'budgets',
});

const SAID = shape({ text: 'message answer' });
const STEP = shape({ text: 'id title status' });
const TOOL_CALL = shape({ text: 'id name input' });
const SKILL = shape({ text: 'id name source digest' });
const RESOURCE = shape({ text: 'skill path digest', number: 'bytes' });
const TOOL = shape({ text: 'tool', number: 'calls failed' });
const PROGRAM = shape({ number: 'call', text: 'tool program reason stdout stderr' });
const APPROVAL = shape({ number: 'call', text: 'request tool', textOrObject: 'answer' });
const PROCESS = shape({ number: 'pid', text: 'start boot space' });
/** The largest process id of any system; asking for a larger one throws. */
const MAX_PID = 2 ** 31 - 1;

export function isRunEvent(value: unknown): value is RunEvent {
  const isValid = findShape(EVENTS, readField(value, 'type'));
  if (isValid === undefined || !isValid(value)) return false;
  const process = readField(value, 'process');
  if (process !== undefined && !isProcess(process)) return false;
  if (!isListOf(readField(value, 'toolCalls') ?? [], TOOL_CALL)) return false;
  if (!isListOf(readField(readField(value, 'plan'), 'steps') ?? [], STEP)) return false;
  const inner = readField(value, 'event');
  if (inner === undefined) return true;
  const own = findShape(readField(value, 'type') === 'chat' ? CHAT : SESSION, readField(inner, 'type'));
  return own !== undefined && own(inner) && isListOf(readField(inner, 'said') ?? [], SAID);
}

export function isRunInfo(value: unknown): value is RunInfo {
  if (!RUN(value)) return false;
  const process = readField(value, 'process');
  return (
    OUTCOMES.some((outcome) => outcome === readField(value, 'outcome')) &&
    isListOf(readField(value, 'skills'), SKILL) &&
    isListOf(readField(value, 'approvals'), APPROVAL) &&
    isListOf(readField(value, 'resources'), RESOURCE) &&
    isListOf(readField(value, 'tools'), TOOL) &&
    isListOf(readField(value, 'programs'), PROGRAM) &&
    (process === null || isProcess(process))
  );
}

export function isProcess(value: unknown): value is LockOwner {
  const pid = readField(value, 'pid');
  return PROCESS(value) && Number.isInteger(pid) && Number(pid) > 0 && Number(pid) <= MAX_PID;
}

function findShape(shapes: Readonly<Record<string, Check>>, type: unknown): Check | undefined {
  return typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
}
function isListOf(value: unknown, isOne: Check): boolean {
  return Array.isArray(value) && value.every(isOne);
}
