import { openFileArtifacts } from '../../artifact/file-store.ts';
import { readRun } from '../../journal/journal-reader.ts';
import { verifyRun } from '../../journal/verify.ts';
import type { Decision } from '../../core/access.ts';
import type { Action } from '../../core/action.ts';
import type { Approve } from '../../core/approval.ts';
import { isSkillError } from '../../core/errors.ts';
import type { UsedSkill } from '../../core/run-events.ts';
import type { Observation } from '../../core/observation.ts';
import { resolveSkill } from '../../registry/resolve-skill.ts';
import { quoted } from '../../core/text/text.ts';
import { openTreeDigests } from '../../platform/fs/tree-digest.ts';
import type { ExecutionOptions } from '../execution/execution.ts';
import { bringGivenFiles } from '../given-files.ts';
import { recordedRun } from './recorded-calls.ts';
import type { RecordedCall, RecordedRun } from './recorded-calls.ts';
import { isSameOutline, outlineOf } from './replay-outline.ts';
import type { Outline } from './replay-outline.ts';
import { circumstances, readOnlyArtifacts, replaySession } from './replay-session.ts';
import { openReplayStage } from './replay-stage.ts';
import type { ReplayStage } from './replay-stage.ts';
import type { Runtime } from '../runtime.ts';
import type { PerformOptions, Session } from '../session.ts';
import type { SessionOptions } from '../start-session.ts';

export interface ReplayOptions {
  readonly runtime: Runtime;
  /** The folder of the run. */
  readonly path: string;
  /** Files are written and deleted again; false: what would be decided about it is compared, and nothing is done. */
  readonly writes?: boolean;
  /** Servers are asked again; false, as for files. */
  readonly network?: boolean;
  /** This user's key: where the seal is good, the record is our own. */
  readonly sealKey?: Uint8Array;
  /**
   * Whether the record is our own. Only then do its approvals count again and are programs let run as they were; a stranger's record
   * gives no rights. Where nothing is said, the seal tells.
   */
  readonly isOwn?: boolean;
  /** What programs run with, where it is not to be what the record names. */
  readonly execution?: ExecutionOptions;
  /** Asked where the record has no answer to just this question; nobody. */
  readonly approve?: Approve;
  /** Keep a record of the replay as well; false. */
  readonly record?: boolean;
  readonly signal?: AbortSignal;
}

export interface ReplayStep {
  readonly call: number;
  readonly action: Action;
  readonly expected: Outline;
  readonly got: Outline;
  readonly same: boolean;
  /** Why only the decisions were compared. */
  readonly notRepeated?: string;
}

export interface Replay {
  /** `impossible`: nothing was done, and `problems` says why. */
  readonly status: 'same' | 'different' | 'impossible';
  readonly problems: readonly string[];
  /** What else is not as it was: rules, skills, the executor, this program. */
  readonly remarks: readonly string[];
  readonly steps: readonly ReplayStep[];
  /** The record of the replay, where one was wanted. */
  readonly run?: string;
}

/**
 * Does what was recorded again, in order, and compares what was decided and what came of it. Throws `run/invalid` for a folder that is
 * no run. What a session was told besides actions counts as far as turns and requests go; a conversation that was shortened does not.
 */
export async function replayRun(options: ReplayOptions): Promise<Replay> {
  const { runtime, path, sealKey, signal } = options;
  const { info, lines } = readRun(path);
  const { status, seal } = verifyRun(path, sealKey === undefined ? {} : { sealKey });
  if (status === 'tampered' || status === 'unreadable')
    return impossible([`the record is ${status}: see skillwright runs verify`]);
  const recorded = recordedRun(lines);
  const problems = await skillProblems(recorded.skills, runtime, signal);
  if (problems.length > 0) return impossible(problems);
  const isOwn = options.isOwn ?? seal === 'good';
  const stage = openReplayStage({
    isOwn,
    approve: options.approve,
    isStopped: (call) => notRepeated(call, options) !== undefined,
  });
  try {
    const store = openFileArtifacts(runtime.executionPlaces.artifacts);
    const settings = replaySession(info, recorded, {
      isOwn,
      artifacts: options.writes === true ? store : readOnlyArtifacts(store),
      execution: options.execution,
    });
    const { session, run, end } = await openReplay(options, settings, stage);
    try {
      const remarks = [...circumstances(info, session), ...(await bringAgain(recorded, session, isOwn, signal))];
      const steps = await repeat(isOwn ? recorded : asStrangers(recorded), session, stage, options);
      const status = steps.every(({ same }) => same) ? 'same' : 'different';
      return { status, problems: [], remarks, steps, ...(run === undefined ? {} : { run }) };
    } finally {
      await end();
    }
  } catch (error) {
    if (isSkillError(error) && error.code === 'executor/unavailable') return impossible([error.message]);
    throw error;
  }
}

/** What keeps the files from coming that were given with the request. Nobody brings a file here because a stranger's record names it. */
async function bringAgain(
  { files }: RecordedRun,
  session: Session,
  isOwn: boolean,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (files.length === 0 || session.execution === undefined) return [];
  if (!isOwn) return ['the files that were given with the request are not brought: the record is not our own'];
  const brought = await bringGivenFiles(session, files, signal);
  return brought !== undefined && 'code' in brought
    ? [`the files that were given with the request cannot be brought: ${brought.message}`]
    : [];
}

function impossible(problems: readonly string[]): Replay {
  return { status: 'impossible', problems, remarks: [], steps: [] };
}

/** That a person asked for something is not believed where a stranger says so: then this person is asked. */
function asStrangers(recorded: RecordedRun): RecordedRun {
  const steps = recorded.steps.map((step) => (step.type === 'call' ? { ...step, askedBy: 'model' as const } : step));
  return { ...recorded, steps };
}

/** What keeps the skills of a record from being used again: gone, or other bytes. */
export async function skillProblems(
  skills: readonly UsedSkill[],
  { index }: Runtime,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const digests = openTreeDigests();
  const judged = skills.map(async ({ id, name, digest }): Promise<readonly string[]> => {
    const entry = index.skills.find((skill) => skill.id === id) ?? resolveSkill(index, name);
    if (entry === undefined) return [`the skill ${quoted(id)} is not here; the record used ${digest}`];
    const found = await digests.of(entry.dir, signal === undefined ? {} : { signal });
    if (found.type !== 'digest') return [`the skill ${quoted(id)} cannot be read: ${found.message}`];
    return found.digest === digest
      ? []
      : [`the skill ${quoted(id)} has changed: its files are ${found.digest}, the record used ${digest}`];
  });
  return (await Promise.all(judged)).flat();
}

/** Why an action is only decided about; nothing where it is done again. */
function notRepeated(
  { action, observation }: RecordedCall,
  { writes = false, network = false }: ReplayOptions,
): string | undefined {
  if (observation === undefined) return 'the record ends before it was done';
  if (action.type === 'network_request') return network ? undefined : 'servers are not asked again';
  if (action.type === 'write_file' || action.type === 'delete_file')
    return writes ? undefined : 'files are not written or deleted again';
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
  // Commands that are talked to have other names now.
  const sessions = new Map<string, string>();
  for (const step of recorded.steps) {
    options.signal?.throwIfAborted();
    if (step.type !== 'call') {
      if (step.type === 'turn-start') session.startTurn();
      else session.startRequest();
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
  { call, action, decision, observation }: RecordedCall,
  made: Decision | undefined,
  came: Observation | undefined,
  notRepeated: string | undefined,
): ReplayStep {
  const expected = outlineOf(decision?.effect, notRepeated === undefined ? observation : undefined);
  const got = outlineOf(made?.effect, came);
  const same = isSameOutline(expected, got);
  return { call, action, expected, got, same, ...(notRepeated === undefined ? {} : { notRepeated }) };
}

const MOST_LOOKS = 50;
const LOOK_MS = 1_000;

async function perform(
  { action, askedBy, observation: before }: RecordedCall,
  session: Session,
  sessions: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<Observation> {
  const options = { askedBy, ...(signal === undefined ? {} : { signal }) };
  const renamed = 'session' in action ? { ...action, session: sessions.get(action.session) ?? action.session } : action;
  const came = await session.perform(renamed, options);
  // A command that was over at this look is given the time to be over again.
  return before?.type === 'command-seen' && before.status === 'exited' ? untilOver(came, session, options) : came;
}

async function untilOver(first: Observation, session: Session, options: PerformOptions): Promise<Observation> {
  let came = first;
  for (let look = 0; look < MOST_LOOKS && came.type === 'command-seen' && came.status === 'running'; look += 1)
    came = await session.perform({ type: 'poll_command', session: came.session, yieldMs: LOOK_MS }, options);
  return came;
}

function rememberSession(before: Observation | undefined, now: Observation, sessions: Map<string, string>): void {
  if (before?.type === 'command-seen' && now.type === 'command-seen') sessions.set(before.session, now.session);
}
