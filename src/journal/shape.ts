/**
 * Checks the form of data from a run folder. The folder is untrusted, and hashes only show that it was not changed: each field that
 * this program reads must exist and have the right type.
 */
import type { ChatEvent } from '../core/chat.ts';
import { OUTCOMES } from '../core/run-events.ts';
import type { RunEvent, RunInfo } from '../core/run-events.ts';
import type { SessionEvent } from '../core/session.ts';

/** `?`: optional. */
type Kind =
  | 'text'
  | 'number'
  | 'object'
  | 'list'
  | 'object or null'
  | 'text or object'
  | 'text?'
  | 'number?'
  | 'object?';

/** Fields by path, with dots between the names. */
type Shape = Readonly<Record<string, Kind>>;

const EVENTS: Readonly<Record<RunEvent['type'], Shape>> = {
  'run-start': {
    schema: 'number',
    run: 'text',
    request: 'text',
    version: 'text',
    indexHash: 'text',
    policyHash: 'text',
    parent: 'text?',
    chain: 'text?',
    indexDigest: 'text?',
    scanDigest: 'text?',
    executor: 'object?',
    budgets: 'object?',
    agent: 'object?',
    subject: 'text?',
    trace: 'text?',
    process: 'object?',
  },
  scan: {
    roots: 'list',
    durationMs: 'number',
    found: 'number',
    valid: 'number',
    ignored: 'list',
    conflicts: 'list',
    indexHash: 'text',
  },
  action: { call: 'number', 'action.type': 'text', askedBy: 'text' },
  decision: {
    call: 'number',
    'decision.effect': 'text',
    'decision.tool': 'text',
    'decision.rule': 'text',
    'decision.reason': 'text',
    'decision.origin.layer': 'text',
  },
  'approval-ask': { call: 'number', 'request.id': 'text', 'request.tool': 'text' },
  'approval-answer': { call: 'number', request: 'text', answer: 'text or object' },
  'skill-use': {
    call: 'number',
    'skill.id': 'text',
    'skill.name': 'text',
    'skill.source': 'text',
    'skill.digest': 'text',
  },
  observation: { call: 'number', 'observation.type': 'text', 'observation.action': 'text' },
  session: { 'event.type': 'text' },
  span: { call: 'number?', 'span.name': 'text', 'span.durationMs': 'number' },
  'content-keep': { path: 'text', bytes: 'number' },
  turn: { turn: 'number' },
  'model-call': { turn: 'number', model: 'text', request: 'text', tokens: 'number' },
  'model-answer': {
    turn: 'number',
    text: 'text',
    toolCalls: 'list',
    finish: 'text',
    usage: 'object',
    'usage.inputTokens': 'number?',
    'usage.outputTokens': 'number?',
    'usage.cachedInputTokens': 'number?',
    retries: 'number',
  },
  plan: {
    turn: 'number',
    'plan.goal': 'text',
    'plan.steps': 'list',
    'plan.assumptions': 'list',
    'plan.constraints': 'object',
  },
  activation: { skill: 'text', reason: 'text' },
  'answer-delta': { text: 'text' },
  'answer-withdraw': { by: 'text', reason: 'text' },
  'call-invalid': { turn: 'number', tool: 'text', reason: 'text' },
  'context-compact': { before: 'number', after: 'number', dropped: 'list' },
  'budget-end': { name: 'text', used: 'number', limit: 'number' },
  'subagent-start': { call: 'number', run: 'text', skill: 'text' },
  'subagent-end': { call: 'number', run: 'text', outcome: 'text', used: 'object?' },
  chat: { 'event.type': 'text' },
  'subject-call': { tool: 'text', output: 'text', loads: 'list' },
  'subject-end': { files: 'list' },
  note: { message: 'text' },
  'run-end': { outcome: 'text', reason: 'text' },
};

const SESSION: Readonly<Record<SessionEvent['type'], Shape>> = {
  'session-start': { 'settings.maxLoaded': 'number', 'settings.lifetime': 'text' },
  'turn-start': {},
  'request-start': {},
  'skill-load': { 'skill.id': 'text', digest: 'text' },
  'skill-repeat': { skill: 'text' },
  'documents-select': { 'skill.id': 'text' },
  'content-show': { 'shown.reason': 'text', 'shown.skill': 'text' },
  'action-end': { action: 'text' },
  'action-fail': { action: 'text', code: 'text' },
  'session-compact': { kept: 'list' },
};

const CHAT: Readonly<Record<ChatEvent['type'], Shape>> = {
  message: { text: 'text' },
  answer: { text: 'text' },
  undo: {},
  carry: { run: 'text', said: 'list' },
};

const RUN: Shape = {
  run: 'text',
  version: 'text',
  request: 'text',
  normalizedRequest: 'text',
  parent: 'text?',
  chain: 'text?',
  startedAt: 'text',
  endedAt: 'text?',
  outcome: 'text',
  reason: 'text',
  indexHash: 'text',
  indexDigest: 'text',
  scanDigest: 'text',
  phases: 'list',
  resources: 'list',
  tools: 'list',
  programs: 'list',
  invalidCalls: 'number',
  skills: 'list',
  approvals: 'list',
  executor: 'object or null',
  policyHash: 'text',
  budgets: 'object',
  process: 'object or null',
  'events.count': 'number',
  'events.head': 'text',
};

const SAID: Shape = { message: 'text', answer: 'text' };
const STEP: Shape = { id: 'text', title: 'text', status: 'text' };
const TOOL_CALL: Shape = { id: 'text', name: 'text', input: 'text' };
const SKILL: Shape = { id: 'text', name: 'text', source: 'text', digest: 'text' };
const RESOURCE: Shape = { skill: 'text', path: 'text', bytes: 'number', digest: 'text' };
const TOOL: Shape = { tool: 'text', calls: 'number', failed: 'number' };
const PROGRAM: Shape = {
  call: 'number',
  tool: 'text',
  program: 'text',
  reason: 'text',
  stdout: 'text',
  stderr: 'text',
};
const APPROVAL: Shape = { call: 'number', request: 'text', tool: 'text', answer: 'text or object' };
const PROCESS: Shape = { pid: 'number', start: 'text', boot: 'text', space: 'text' };
/** The largest process id of any system; asking for a larger one throws. */
const MAX_PID = 2 ** 31 - 1;

export function isRunEvent(value: unknown): value is RunEvent {
  const shape = shapeOf(EVENTS, fieldOf(value, 'type'));
  if (shape === undefined || !hasShape(value, shape)) return false;
  const process = fieldOf(value, 'process');
  if (process !== undefined && !isProcess(process)) return false;
  if (!isListOf(fieldOf(value, 'toolCalls') ?? [], TOOL_CALL)) return false;
  if (!isListOf(fieldOf(fieldOf(value, 'plan'), 'steps') ?? [], STEP)) return false;
  const inner = fieldOf(value, 'event');
  if (inner === undefined) return true;
  const own = shapeOf(fieldOf(value, 'type') === 'chat' ? CHAT : SESSION, fieldOf(inner, 'type'));
  return own !== undefined && hasShape(inner, own) && isListOf(fieldOf(inner, 'said') ?? [], SAID);
}

export function isRunInfo(value: unknown): value is RunInfo {
  if (!hasShape(value, RUN)) return false;
  const process = fieldOf(value, 'process');
  return (
    OUTCOMES.some((outcome) => outcome === fieldOf(value, 'outcome')) &&
    isListOf(fieldOf(value, 'skills'), SKILL) &&
    isListOf(fieldOf(value, 'approvals'), APPROVAL) &&
    isListOf(fieldOf(value, 'resources'), RESOURCE) &&
    isListOf(fieldOf(value, 'tools'), TOOL) &&
    isListOf(fieldOf(value, 'programs'), PROGRAM) &&
    (process === null || isProcess(process))
  );
}

function isProcess(value: unknown): boolean {
  const pid = fieldOf(value, 'pid');
  return hasShape(value, PROCESS) && Number.isInteger(pid) && Number(pid) > 0 && Number(pid) <= MAX_PID;
}

/** An own property of an object. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

function shapeOf(shapes: Readonly<Record<string, Shape>>, type: unknown): Shape | undefined {
  return typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
}

function isListOf(value: unknown, shape: Shape): boolean {
  return Array.isArray(value) && value.every((item) => hasShape(item, shape));
}

function hasShape(value: unknown, shape: Shape): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(shape).every(([place, kind]) => isOfKind(place.split('.').reduce(fieldOf, value), kind));
}

function isOfKind(value: unknown, kind: Kind): boolean {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'list':
      return Array.isArray(value);
    case 'object':
      return isObject;
    case 'object or null':
      return isObject || value === null;
    case 'text or object':
      return isObject || typeof value === 'string';
    case 'text?':
      return value === undefined || typeof value === 'string';
    case 'number?':
      return value === undefined || typeof value === 'number';
    case 'object?':
      return value === undefined || isObject;
  }
}
