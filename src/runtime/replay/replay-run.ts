import { openFileArtifacts, type ExecutionOptions } from '#sandbox';
import { readRun, recordProblem, verifyRun } from '#journal';
import {
  isSkillError,
  quoted,
  SkillError,
  type Action,
  type Approve,
  type Decision,
  type Observation,
  type RunEvent,
  type JournalLine,
} from '#core';
import { resolveSkill, settleSameNames } from '#skills';
import { findProfile } from '#tools/profiles';
import { openTreeDigests } from '#platform';
import {
  recordedRun,
  circumstances,
  readOnlyArtifacts,
  replaySession,
  type RecordedCall,
  type RecordedRun,
} from './replay-session.ts';
import { isSameOutline, toOutline, type Outline } from './replay-outline.ts';
import type { Runtime } from '../runtime.ts';
import type { PerformOptions, Session } from '../session.ts';
import type { SessionOptions } from '../start-session.ts';

export interface ReplayOptions {
  readonly runtime: Runtime;
  /** Folder of the run. */
  readonly path: string;
  /** Repeat writes and deletions (default: false; then only the decisions are compared). */
  readonly writes?: boolean;
  /** Repeat network requests (default: false; then only the decisions are compared). */
  readonly network?: boolean;
  /** The user's key; a valid seal proves that the record is the user's own. */
  readonly sealKey?: Uint8Array;
  /**
   * Whether the record is the user's own (default: decided by the seal). Only then are its approvals reused and its programs run as before;
   * a foreign record grants nothing.
   */
  readonly isOwn?: boolean;
  /** Overrides the execution options of the record. */
  readonly execution?: ExecutionOptions;
  /** Answers questions that the record has no answer for (default: no person is available). */
  readonly approve?: Approve;
  /** Also record the replay (default: false). */
  readonly record?: boolean;
  readonly signal?: AbortSignal;
}

export interface ReplayStep {
  readonly call: number;
  readonly action: Action;
  /** Name of the tool in the vocabulary of the run, if it is another. */
  readonly tool?: string;
  readonly expected: Outline;
  readonly got: Outline;
  readonly same: boolean;
  /** Why only the decisions were compared. */
  readonly notRepeated?: string;
}

export interface Replay {
  /** `impossible`: nothing was done; see `problems`. */
  readonly status: 'same' | 'different' | 'impossible';
  readonly problems: readonly string[];
  /** Other differences: rules, skills, executor, version. */
  readonly remarks: readonly string[];
  readonly steps: readonly ReplayStep[];
  /** Id of the recorded replay. */
  readonly run?: string;
}

/**
 * Repeats the recorded actions in order and compares decisions and outcomes. Throws `run/invalid` if the folder is not a run. Turns,
 * requests and compactions are repeated.
 */
export async function replayRun(options: ReplayOptions): Promise<Replay> {
  const { runtime, path, sealKey, signal } = options;
  const { info, lines } = readRun(path);
  const problem = recordProblem(path, { sealKey });
  if (problem !== undefined) return impossible([problem]);
  const { seal } = verifyRun(path, { sealKey });
  const recorded = recordedRun(lines);
  const problems = await skillProblems(lines, runtime, signal);
  if (problems.length > 0) return impossible(problems);
  const isOwn = options.isOwn ?? seal === 'good';
  const stage = openReplayStage({
    isOwn,
    approve: options.approve,
    isStopped: (call) => notRepeated(call, options) !== undefined,
  });
  try {
    const store = openFileArtifacts(runtime.executionPlaces.artifacts, runtime.executionPlaces);
    const settings = replaySession(info, recorded, {
      isOwn,
      artifacts: options.writes === true ? store : readOnlyArtifacts(store),
      execution: options.execution,
    });
    const { session, run, end } = await openReplay(options, settings, stage);
    try {
      const remarks = [...circumstances(info, session), ...(await stageFilesAgain(recorded, session, isOwn, signal))];
      const steps = await repeat(isOwn ? recorded : asForeign(recorded), session, stage, options);
      const status = steps.every(({ same }) => same) ? 'same' : 'different';
      return { status, problems: [], remarks, steps, run };
    } finally {
      await end();
    }
  } catch (error) {
    if (isSkillError(error) && error.code === 'executor/unavailable') return impossible([error.message]);
    throw error;
  }
}

/** Stages the files of the request again. Files named by a foreign record are not read. */
async function stageFilesAgain(
  { files }: RecordedRun,
  session: Session,
  isOwn: boolean,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (files.length === 0 || session.execution === undefined) return [];
  if (!isOwn) return ['the files of the request are not staged, because the record is not your own'];
  const staged = await session.execution.stageFiles(files, signal);
  return 'code' in staged ? [`the files of the request cannot be staged: ${staged.message}`] : [];
}

function impossible(problems: readonly string[]): Replay {
  return { status: 'impossible', problems, remarks: [], steps: [] };
}

/** A foreign record cannot claim that a person requested an action, so all actions count as the model's. */
function asForeign(recorded: RecordedRun): RecordedRun {
  const steps = recorded.steps.map((step) => (step.type === 'call' ? { ...step, askedBy: 'model' as const } : step));
  return { ...recorded, steps };
}

/** Reports skills of a record that are missing or changed. */
export async function skillProblems(
  lines: Iterable<JournalLine>,
  { index: found }: Runtime,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const digests = openTreeDigests();
  const { skills, vocabulary } = recordedRun(lines);
  const index = settleSameNames(found, { rule: findProfile(vocabulary).sameNames });
  const checked = skills.map(async ({ id, name, digest }): Promise<readonly string[]> => {
    const entry = index.skills.find((skill) => skill.id === id) ?? resolveSkill(index, name);
    if (entry === undefined) return [`the skill ${quoted(id)} was not found; the record used ${digest}`];
    const now = await digests.of(entry.dir, { signal });
    if (now.type !== 'digest') return [`the skill ${quoted(id)} cannot be read: ${now.message}`];
    return now.digest === digest
      ? []
      : [`the skill ${quoted(id)} has changed: its files are ${now.digest}, the record used ${digest}`];
  });
  return (await Promise.all(checked)).flat();
}

/** Why an action is not repeated; undefined if it is. */
function notRepeated(
  { action, observation }: RecordedCall,
  { writes = false, network = false }: ReplayOptions,
): string | undefined {
  if (observation === undefined) return 'the record ends before it was done';
  if (action.type === 'network_request') return network ? undefined : 'network requests are not repeated';
  if (action.type === 'call_mcp_tool') return 'calls of MCP servers are not repeated';
  if (action.type === 'write_file' || action.type === 'edit_file' || action.type === 'delete_file')
    return writes ? undefined : 'writes and deletions are not repeated';
  return undefined;
}

interface OpenReplay {
  readonly session: Session;
  readonly run: string | undefined;
  readonly end: () => Promise<void>;
}

async function openReplay(
  { runtime, record = false, path }: ReplayOptions,
  options: SessionOptions,
  stage: ReplayStage,
): Promise<OpenReplay> {
  const watched = { ...options, record: stage.record, approve: stage.approve };
  if (record) {
    const run = await runtime.startRun({ ...watched, request: `replay ${path}` });
    return { session: run.session, run: run.id, end: () => run.end('done') };
  }
  const session = await runtime.startSession(watched);
  return { session, run: undefined, end: () => session.close() };
}

async function repeat(
  recorded: RecordedRun,
  session: Session,
  stage: ReplayStage,
  options: ReplayOptions,
): Promise<readonly ReplayStep[]> {
  const steps: ReplayStep[] = [];
  // Recorded command sessions, mapped to their new ids.
  const sessions = new Map<string, string>();
  for (const step of recorded.steps) {
    options.signal?.throwIfAborted();
    if (step.type !== 'call') {
      const { event } = step;
      if (event.type === 'turn-start') session.startTurn();
      else if (event.type === 'request-start') session.startRequest();
      else session.compact(event);
      continue;
    }
    const reason = notRepeated(step, options);
    stage.begin(step);
    const observation = await perform(step, session, sessions, options.signal);
    const { decision } = stage;
    stage.begin(undefined);
    rememberSession(step.observation, observation, sessions);
    steps.push(compared(step, decision, reason === undefined ? observation : undefined, reason));
  }
  return steps;
}

function compared(
  { call, action, tool, decision, observation }: RecordedCall,
  replayedDecision: Decision | undefined,
  outcome: Observation | undefined,
  notRepeated: string | undefined,
): ReplayStep {
  const expected = toOutline(decision?.effect, notRepeated === undefined ? observation : undefined);
  const got = toOutline(replayedDecision?.effect, outcome);
  const same = isSameOutline(expected, got);
  return { call, action, tool, expected, got, same, notRepeated };
}

const MAX_POLLS = 50;
const POLL_MS = 1_000;

async function perform(
  { action, askedBy, observation: before }: RecordedCall,
  session: Session,
  sessions: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<Observation> {
  const options = { askedBy, signal };
  const renamed = 'session' in action ? { ...action, session: sessions.get(action.session) ?? action.session } : action;
  const outcome = await session.perform(renamed, options);
  // A command that had ended at this point gets time to end again.
  return before?.type === 'command-seen' && before.status === 'exited'
    ? pollUntilEnded(outcome, session, options)
    : outcome;
}

async function pollUntilEnded(first: Observation, session: Session, options: PerformOptions): Promise<Observation> {
  let outcome = first;
  for (let poll = 0; poll < MAX_POLLS && outcome.type === 'command-seen' && outcome.status === 'running'; poll += 1)
    outcome = await session.perform({ type: 'poll_command', session: outcome.session, yieldMs: POLL_MS }, options);
  return outcome;
}

function rememberSession(before: Observation | undefined, now: Observation, sessions: Map<string, string>): void {
  if (before?.type === 'command-seen' && now.type === 'command-seen') sessions.set(before.session, now.session);
}

/** Observes a replay: keeps decisions, answers from the record, and stops actions that must not be repeated. */
export interface ReplayStage {
  readonly record: (event: RunEvent) => void;
  readonly approve: Approve;
  /** Starts the next call; undefined between calls. */
  begin(call: RecordedCall | undefined): void;
  /** The decision about the current call. */
  readonly decision: Decision | undefined;
}

export interface StageOptions {
  /** Whether recorded answers are reused for identical questions. */
  readonly isOwn: boolean;
  /** Answers questions that the record has no answer for. */
  readonly approve: Approve | undefined;
  readonly isStopped: (call: RecordedCall) => boolean;
}

export function openReplayStage({ isOwn, approve, isStopped }: StageOptions): ReplayStage {
  let current: RecordedCall | undefined;
  let decision: Decision | undefined;
  return {
    begin(call) {
      current = call;
      decision = undefined;
    },
    get decision() {
      return decision;
    },
    record(event) {
      const isOver = current !== undefined && isStopped(current);
      // An action that cannot be recorded is not done, so throwing here stops it after the decision.
      if (isOver && decision !== undefined) throw stopped();
      if (event.type !== 'decision') return;
      // Only the first: polling a command is decided about too.
      decision ??= event.decision;
      if (isOver) throw stopped();
    },
    approve(request, more) {
      const answer = isOwn ? current?.answers.get(request.id) : undefined;
      if (answer === undefined) return approve === undefined ? 'nobody' : approve(request, more);
      return typeof answer === 'string' ? answer : { ...answer, scope: 'once' };
    },
  };
}

function stopped(): SkillError {
  const [message, hint] = ['the action is not repeated', 'enable it in the replay options'];
  return new SkillError({ code: 'record/failed', message, hint, data: { path: '', cause: 'not repeated' } });
}
