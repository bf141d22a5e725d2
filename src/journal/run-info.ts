/**
 * The parts of `run.json` that say what a run did: phases, tools, loaded files and programs. Derived from the events alone, which may
 * come from an untrusted folder.
 */
import {
  readField,
  toPhase,
  sliceStart,
  cleanText,
  reduceSession,
  RUN_SCHEMA,
  visibleJson,
  type RunEvent,
  type RunInfo,
  type JournalLine,
  type OfType,
  type SessionState,
} from '#core';

type RunDetails = Pick<RunInfo, 'phases' | 'tools' | 'resources' | 'programs' | 'invalidCalls'>;

const NO_DETAILS: RunDetails = { phases: [], tools: [], resources: [], programs: [], invalidCalls: 0 };

/** Further entries are only in the events. */
const MAX_ENTRIES = 1_000;
/** Characters of a command and of an output. */
const LONGEST_TEXT = 300;

function addDetails(before: RunDetails, event: RunEvent): RunDetails {
  const info = withPhase(before, event);
  switch (event.type) {
    case 'action': {
      const program = readProgram(event);
      if (program === undefined || info.programs.length >= MAX_ENTRIES) return info;
      const started = { call: event.call, ...program, exitCode: null, reason: 'running', stdout: '', stderr: '' };
      return { ...info, programs: [...info.programs, started] };
    }
    case 'observation':
      return {
        ...info,
        tools: withTool(info.tools, event),
        resources: withResources(info.resources, event.observation),
        programs: withEnd(info.programs, event.call, event.observation),
      };
    case 'call-invalid':
      return { ...info, invalidCalls: info.invalidCalls + 1 };
    default:
      return info;
  }
}

function withPhase(info: RunDetails, event: RunEvent): RunDetails {
  const phase = toPhase(event);
  if (phase === undefined || phase === info.phases.at(-1) || info.phases.length >= MAX_ENTRIES) return info;
  return { ...info, phases: [...info.phases, phase] };
}

type Program = RunDetails['programs'][number];

function readProgram({
  action,
  tool,
}: OfType<RunEvent, 'action'>): Pick<Program, 'tool' | 'skill' | 'program'> | undefined {
  const type = textIn(action, 'type');
  if (type !== 'run_script' && type !== 'run_command' && type !== 'start_command') return undefined;
  const skill = textIn(action, 'skill');
  const words = [textIn(action, type === 'run_script' ? 'script' : 'command'), ...listIn(action, 'args').map(String)];
  return { tool: tool ?? type, ...(skill === '' ? {} : { skill }), program: sliceStart(words.join(' '), LONGEST_TEXT) };
}

function withTool(
  tools: RunDetails['tools'],
  { observation, tool: called }: OfType<RunEvent, 'observation'>,
): RunDetails['tools'] {
  const tool = called ?? textIn(observation, 'action');
  const failed = textIn(observation, 'type') === 'failed' ? 1 : 0;
  const known = tools.find((one) => one.tool === tool);
  if (known === undefined) return tools.length < MAX_ENTRIES ? [...tools, { tool, calls: 1, failed }] : tools;
  return tools.map((one) => (one === known ? { tool, calls: one.calls + 1, failed: one.failed + failed } : one));
}

function withResources(resources: RunDetails['resources'], observation: object): RunDetails['resources'] {
  const skill = textIn(readField(observation, 'skill'), 'id');
  const reports =
    textIn(observation, 'type') === 'resource-read'
      ? [readField(observation, 'report')]
      : listIn(observation, 'documents').map((document) => readField(document, 'report'));
  const read = reports
    .map((report) => ({
      skill,
      path: textIn(report, 'path'),
      bytes: Number(readField(report, 'bytes') ?? 0),
      digest: textIn(report, 'digest'),
      truncated: readField(report, 'truncated') === true,
    }))
    .filter(({ path }) => !resources.some((one) => one.skill === skill && one.path === path));
  return read.length === 0 || resources.length >= MAX_ENTRIES ? resources : [...resources, ...read];
}

function withEnd(programs: RunDetails['programs'], call: number, observation: object): RunDetails['programs'] {
  const result = readField(observation, 'result');
  const isFailed = textIn(observation, 'type') === 'failed';
  if (!isFailed && result === undefined) return programs;
  const code = readField(result, 'exit_code');
  const end = {
    exitCode: typeof code === 'number' ? code : null,
    reason: isFailed ? textIn(observation, 'code') : textIn(result, 'reason'),
    stdout: sliceStart(textIn(result, 'stdout'), LONGEST_TEXT),
    stderr: sliceStart(textIn(result, 'stderr'), LONGEST_TEXT),
  };
  return programs.map((one) => (one.call === call ? { ...one, ...end } : one));
}

function textIn(value: unknown, name: string): string {
  const field = readField(value, name);
  return typeof field === 'string' ? field : '';
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const field = readField(value, name);
  return Array.isArray(field) ? field : [];
}

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
  const after: RunSummary = { info, details, events, state };
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
  const { run, version, request, project, vocabulary, parent, chain, labels, key, indexHash, policyHash } = event;
  return {
    schema: RUN_SCHEMA,
    run,
    version,
    request,
    normalizedRequest: normalized(request),
    project,
    vocabulary,
    parent,
    chain,
    labels,
    key,
    startedAt,
    outcome: 'running',
    reason: '',
    indexHash,
    indexDigest: event.indexDigest ?? '',
    scanDigest: event.scanDigest ?? '',
    ...details,
    skills: [],
    executor: event.executor ?? null,
    policyHash,
    approvals: [],
    budgets: event.budgets ?? {},
    process: event.process ?? null,
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

/** The text of `state.json`, and of `run.json` without its seal. */
export function fileText(value: RunInfo | SessionState): string {
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
