/**
 * `run.json`, `state.json` and `final.md`, derived from the events alone. The writer updates them; `verify` derives them again and
 * compares.
 */
import {
  cleanText,
  reduceSession,
  RUN_SCHEMA,
  visibleJson,
  type JournalLine,
  type RunEvent,
  type RunInfo,
  type SessionState,
} from '#core';
import { NO_DETAILS, addDetails, type RunDetails } from './run-details.ts';

/** The summary of the events so far. */
export interface RunSummary {
  /** Its details are those of the first line. */
  readonly info: Omit<RunInfo, 'events'>;
  /** Apart from the rest, because most events change them. */
  readonly details: RunDetails;
  readonly events: RunInfo['events'];
  /** Absent until a session starts. */
  readonly state?: SessionState;
}

/** Further approvals are only in the events. */
const MAX_APPROVALS = 1_000;

/** Events that change more than the count. */
const SUMMARIZED: ReadonlySet<RunEvent['type']> = new Set([
  'run-start',
  'scan',
  'turn',
  'action',
  'observation',
  'call-invalid',
  'skill-use',
  'approval-ask',
  'approval-answer',
  'session',
  'run-end',
]);

/** Whether the summary uses more than the type of an event. */
export function affectsSummary({ type }: RunEvent): boolean {
  return SUMMARIZED.has(type);
}

/** Adds a line to the summary. Returns undefined before the first line, which must be run-start. */
export function summarize(before: RunSummary | undefined, line: JournalLine): RunSummary | undefined {
  const { event, time, seq: count, hash: head } = line;
  const events = { count, head };
  if (before === undefined) {
    if (event.type !== 'run-start') return undefined;
    const details = addDetails(NO_DETAILS, event);
    return { info: startInfo(event, time, details), details, events };
  }
  const { info, state } = before;
  const details = addDetails(before.details, event);
  const after: RunSummary = state === undefined ? { info, details, events } : { info, details, events, state };
  switch (event.type) {
    case 'skill-use': {
      const { id, name, source, digest } = event.skill;
      if (info.skills.some((skill) => skill.id === id && skill.digest === digest)) return after;
      return { ...after, info: { ...info, skills: [...info.skills, { id, name, source, digest }] } };
    }
    case 'approval-ask':
    case 'approval-answer':
      return { ...after, info: { ...info, approvals: withApproval(info.approvals, event) } };
    case 'session': {
      const next = reduceSession(state, event.event);
      return next === undefined ? after : { ...after, state: next };
    }
    case 'run-end':
      return { ...after, info: { ...info, endedAt: time, outcome: event.outcome, reason: event.reason } };
    default:
      return after;
  }
}

export function toRunInfo({ info, details, events }: RunSummary): RunInfo {
  return { ...info, ...details, events };
}

function startInfo(
  event: Extract<RunEvent, { readonly type: 'run-start' }>,
  startedAt: string,
  details: RunDetails,
): Omit<RunInfo, 'events'> {
  const {
    run,
    version,
    request,
    project,
    parent,
    chain,
    indexHash,
    indexDigest = '',
    scanDigest = '',
    executor,
    policyHash,
    budgets,
    process,
  } = event;
  return {
    schema: RUN_SCHEMA,
    run,
    version,
    request,
    normalizedRequest: normalized(request),
    project,
    parent,
    chain,
    startedAt,
    outcome: 'running',
    reason: '',
    indexHash,
    indexDigest,
    scanDigest,
    ...details,
    skills: [],
    executor: executor ?? null,
    policyHash,
    approvals: [],
    budgets: budgets ?? {},
    process: process ?? null,
  };
}

function normalized(request: string): string {
  return cleanText(request.normalize('NFC')).replaceAll(/\s+/g, ' ').trim();
}

function withApproval(
  approvals: readonly RunInfo['approvals'][number][],
  event: Extract<RunEvent, { readonly type: 'approval-ask' | 'approval-answer' }>,
): readonly RunInfo['approvals'][number][] {
  const { call } = event;
  if (event.type === 'approval-ask') {
    if (approvals.length >= MAX_APPROVALS) return approvals;
    return [...approvals, { call, request: event.request.id, tool: event.request.tool, answer: 'pending' }];
  }
  return approvals.map((one) =>
    one.call === call && one.request === event.request ? { ...one, answer: event.answer } : one,
  );
}

/** `run.json` without its seal. */
export function infoText(info: RunInfo): string {
  return fileText(info);
}

export function stateText(state: SessionState): string {
  return fileText(state);
}

function fileText(value: object): string {
  return `${visibleJson(JSON.stringify(value, undefined, 2))}\n`;
}

const END = '\n}\n';
const SEAL = /,\n {2}"seal": "([0-9a-f:]{1,128})"\n\}\n$/;

/** The seal comes last and covers all bytes before it. */
export function withSeal(text: string, seal: string | undefined): string {
  return seal === undefined ? text : `${text.slice(0, -END.length)},\n  "seal": ${JSON.stringify(seal)}${END}`;
}

export function splitSeal(text: string): { readonly text: string; readonly seal: string | undefined } {
  const found = SEAL.exec(text);
  return found === null ? { text, seal: undefined } : { text: text.slice(0, found.index) + END, seal: found[1] };
}

/** The answer as a file that is safe to print; the journal has its exact characters. */
export function finalText(answer: string): string {
  return cleanText(answer);
}
