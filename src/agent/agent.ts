/**
 * The agent: works on a request with a model and skills, within a budget and a policy, and records everything (AGT-1 to AGT-8,
 * AGT-11).
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';

import {
  defined,
  isSkillError,
  type Budget,
  type SkillError,
  type RunEvent,
  type OfType,
  type RunInfo,
  type VocabularyName,
} from '#core';
import type { Run, RunOptions } from '#runtime';
import { chooseProfile } from '#tools/profiles';
import { startPlan } from './plan.ts';
import { NOTHING_USED, budgetLeft, budgetText, wholeBudget } from './count-budget.ts';
import { readPlanUpdate } from './plan-update.ts';
import { openAgentTools } from './agent-tools.ts';
import { childOptions, firstAncestry } from './subagent.ts';
import { startConversation, type Conversation } from './conversation.ts';
import { replayRun, type Replay } from './resume/replay.ts';
import { openGate } from './gate.ts';
import { keepPlan, openLifts, planLimits } from './plan-limits.ts';
import { openRequest } from './open-request.ts';
import { keepOutputs, type KeptOutputs } from './outputs.ts';
import { isAlreadyResumed, openClaim } from './resume/resume-gate.ts';
import { resumedRun, settledCalls, type ReplayedRun, type AgentStart } from './resume/replayed-run.ts';
import { openMeasure } from './request.ts';
import { FIRST_STATE, reduceAgent, type AgentState } from './state.ts';
import { openStop, type Stop } from './stop.ts';
import { takeTurns } from './turns.ts';
import { degradedAnswer, type ProtocolName } from './system-prompt.ts';
import { lostChild, recordedChild } from './resume/open-recorded-run.ts';
import type { AgentOptions, AgentResult } from './agent-options.ts';
import type { AgentParts, Ancestry, ChildResult, ChildTask, Opening, TurnsEnd } from './agent-parts.ts';

/**
 * Works on a request until the model answers, a budget is exceeded, or the run fails. Every run ends with an answer, a reason and a
 * closed record. Throws for invalid options before the run starts; bugs are thrown after the record is closed.
 */
export function runAgent(options: AgentOptions): Promise<AgentResult> {
  return runInside(options, { ancestry: firstAncestry() });
}

/** Resumes a run in a new record, which starts with everything that the old record contains. */
export function resumeRun(past: ReplayedRun, options: AgentOptions): Promise<AgentResult> {
  return runInside(options, { ancestry: firstAncestry(), past });
}

interface Beginning {
  readonly ancestry: Ancestry;
  readonly onStart?: ChildTask['onStart'];
  readonly past?: ReplayedRun | undefined;
}

async function runInside(agentOptions: AgentOptions, { ancestry, onStart, past }: Beginning): Promise<AgentResult> {
  const limits = wholeBudget(agentOptions.budget);
  const { now = () => performance.now() } = agentOptions;
  const replay = past === undefined ? undefined : replayRun(past, agentOptions.model);
  const elapsedBefore = past?.elapsedMs ?? 0;
  const startedAt = now() - elapsedBefore;
  let state: AgentState = FIRST_STATE;
  const { run, options } = await startRecorded(
    withIdempotencyKey(withProtocol(agentOptions), past?.idempotencyKey),
    limits,
    replay,
    (event) => {
      state = reduceAgent(state, event, now() - startedAt);
    },
  );
  const stop = openStop(options.signal, Math.max(0, limits.wallMs - elapsedBefore));
  try {
    onStart?.(run.id);
    const parts = openParts(options, { run, limits, stop, ancestry, replay, state: () => state });
    const end = await runTurns(options, parts, stop);
    await options.beforeEnd?.(run.session, run);
    return await finish(end, run, { state: () => state, request: options.request });
  } catch (error) {
    await endQuietly(run, 'failed', 'the program broke');
    throw error;
  } finally {
    stop.close();
  }
}

/** The protocol of the caller, otherwise that of the vocabulary. */
export function withProtocol<Options extends Pick<AgentOptions, 'protocol' | 'vocabulary' | 'runtime'>>(
  options: Options,
): Options & { readonly protocol: ProtocolName } {
  const { protocol, runtime, vocabulary } = options;
  return { ...options, protocol: protocol ?? chooseProfile(vocabulary, runtime).protocol ?? 'tools' };
}

/** A run that resumes another one keeps its key, so that a program finds what it did before the interruption. */
function withIdempotencyKey(options: AgentOptions, recorded: string | undefined): AgentOptions {
  const execution = options.run?.execution;
  if (execution === undefined) return options;
  const idempotencyKey = recorded ?? execution.idempotencyKey ?? randomUUID();
  return { ...options, run: { ...options.run, execution: { ...execution, idempotencyKey } } };
}

/** Starts the run, without programs if no executor is usable and the caller accepts that. Returns the options that it has. */
export async function startRecorded(
  options: AgentOptions,
  limits: Budget,
  replay: Replay | undefined,
  follow: NonNullable<RunOptions['follow']>,
): Promise<{ readonly run: Run; readonly options: AgentOptions }> {
  try {
    return { run: await startRun(options, limits, replay, follow), options };
  } catch (error) {
    const { onProgramsUnavailable, run: { execution, ...rest } = {} } = options;
    const isMissing = execution !== undefined && isSkillError(error) && error.code === 'executor/unavailable';
    if (!isMissing || onProgramsUnavailable === undefined) throw error;
    onProgramsUnavailable(error);
    const without = { ...options, run: rest };
    return { run: await startRun(without, limits, replay, follow), options: without };
  }
}

function startRun(
  options: AgentOptions,
  limits: Budget,
  replay: Replay | undefined,
  follow: NonNullable<RunOptions['follow']>,
): Promise<Run> {
  const { runtime, request, protocol, run = {} } = options;
  const byProtocol: VocabularyName = protocol === 'actions' ? 'skills-agent' : 'skillwright';
  const { vocabulary = runtime.config.vocabulary ?? byProtocol } = options;
  const { agentPlacement } = chooseProfile(vocabulary, runtime);
  return runtime.startRun({
    placement: runtime.config.session?.placement ?? agentPlacement,
    ...run,
    ...defined({ recall: replay?.recall }),
    ...openReplayClaim(replay),
    request,
    vocabulary,
    agent: agentStart(options, vocabulary, replay?.past),
    keepsConversation: true,
    budgets: { ...limits },
    follow,
  });
}

/** Another course of a run (`keepAnswers`) leaves the run to those who continue it. */
function openReplayClaim(replay: Replay | undefined): Pick<RunOptions, 'claim'> {
  if (replay === undefined || replay.past.isFork) return {};
  const { run, source } = replay.past;
  const folder = path.join(source.directory, run);
  return { claim: openClaim({ folder, settled: settledCalls(replay.past), again: source.again }) };
}

function agentStart(
  { protocol = 'tools', activation = 'model', required = [], files = [], images, run }: AgentOptions,
  vocabulary: NonNullable<AgentOptions['vocabulary']>,
  past: ReplayedRun | undefined,
): AgentStart {
  const name = typeof vocabulary === 'string' ? vocabulary : vocabulary.name;
  const idempotencyKey = run?.execution?.idempotencyKey;
  const start = {
    protocol,
    vocabulary: name,
    activation,
    required,
    files: files.map((file) => path.resolve(file)),
    ...defined({ images }),
    idempotencyKey,
  };
  return past === undefined ? start : { ...start, resumes: resumedRun(past) };
}

interface Opened {
  readonly run: Run;
  readonly limits: Budget;
  readonly stop: Stop;
  readonly ancestry: Ancestry;
  readonly replay: Replay | undefined;
  readonly state: () => AgentState;
  readonly before?: Budget;
  readonly outputs?: KeptOutputs;
}

export function openParts(options: AgentOptions, opened: Opened): AgentParts {
  const { run, stop, ancestry, replay, state, outputs = keepOutputs(), before = NOTHING_USED } = opened;
  const { request, protocol = 'tools' } = options;
  const proposed = new Map<string, OfType<RunEvent, 'activation'>['reason']>();
  const limits = (): Budget => planLimits(opened.limits, state().plan, before);
  const allowed = budgetLeft(before, opened.limits);
  const isLifted = openLifts(replay?.past.lifts);
  const { loadsPerTurn } = chooseProfile(options.vocabulary, options.runtime);
  const gate = openGate({ run, refuse: options.refuse, loadsPerTurn, limits, state, proposed: () => proposed });
  const isLong = hasSeveralSteps(request);
  // Every run has a plan from its first decision on; the tool that changes it is sent where there is something to plan.
  const isPlanning = (): boolean => isLong || (state().plan?.steps.length ?? 0) > 0;
  const updatePlan = (value: unknown): readonly string[] =>
    keepPlan(readPlanUpdate({ mode: 'replace', plan: value }), { run, state: state(), allowed, isLifted, request });
  return {
    run,
    model: replay?.model ?? options.model,
    protocol,
    replay,
    get limits() {
      return limits();
    },
    allowed,
    isLifted,
    state,
    stop: stop.signal,
    untilStopped: (value) => stop.until(value),
    steps: options.steps,
    gate,
    outputs,
    measure: openMeasure(run.measureText, options.projectInstructions),
    proposed,
    tools: openAgentTools({ session: run.session, gate, protocol, outputs, isPlanning, updatePlan }),
    mayDelegate: run.session.index.all.some(({ controls }) => controls.runMode === 'subagent'),
    stopsUnapproved: options.unapproved === 'stop',
    isWatched: (options.run?.sinks ?? []).length > 0,
    request,
    ancestry,
    startChild: (task) => startChild(task, options, opened),
  };
}

/** A subagent that an earlier process started is not started again: its result is read from its record, or it is resumed. */
async function startChild(task: ChildTask, options: AgentOptions, opened: Opened): Promise<ChildResult> {
  const { run, stop, state, replay } = opened;
  const { ancestry, onStart } = task;
  const known = replay?.child(state().call);
  const source = replay?.past.source;
  const before = known === undefined || source === undefined ? undefined : await recordedChild(known, source, options);
  if (before?.type === 'ended') {
    onStart(before.result.run);
    return before.result;
  }
  try {
    return await runInside(childOptions(options, run, { ...task, call: state().call }, stop.signal), {
      ancestry,
      onStart,
      past: before?.past,
    });
  } catch (error) {
    if (known === undefined || !isAlreadyResumed(error)) throw error;
    onStart(known.run);
    return lostChild(known, error.message);
  }
}

export type End = Omit<TurnsEnd, 'outcome'> & { readonly outcome: AgentResult['outcome'] };

/** How a request becomes a conversation, and who observes it. */
interface ConversationHooks {
  begin(opening: Opening): Conversation;
  follow(conversation: Conversation): void;
}

const ONE_REQUEST: ConversationHooks = {
  begin: startConversation,
  follow: () => undefined,
};

/** Runs the turns until they end or are stopped from outside. If the journal cannot be written, the run ends as failed. */
export function runTurns(options: AgentOptions, parts: AgentParts, stop: Stop, talk = ONE_REQUEST): Promise<End> {
  return untilStoppedOrDone(options, parts, stop, talk).catch(endOfRecord);
}

async function untilStoppedOrDone(
  options: AgentOptions,
  parts: AgentParts,
  stop: Stop,
  talk: ConversationHooks,
): Promise<End> {
  try {
    await parts.replay?.restore(parts.run);
    const opening = await openRequest(options, parts);
    if ('outcome' in opening) return opening;
    const { choice } = opening;
    return await takeTurns({ conversation: talk.begin(opening), choice }, parts, (next) => talk.follow(next));
  } catch (error) {
    if (isSkillError(error) && error.code === 'run/invalid') return { outcome: 'failed', reason: error.message };
    const blamed = parts.replay?.blame(error);
    if (blamed !== undefined) return { outcome: 'failed', reason: blamed };
    if (!stop.signal.aborted || isRecordFailure(error)) throw error;
    if (!stop.isTimeUp) return { outcome: 'cancelled', reason: interruptedText(stop.signal.reason) };
    const { limits, run } = parts;
    run.record({ type: 'budget-end', name: 'wallMs', used: limits.wallMs, limit: limits.wallMs });
    return { outcome: 'degraded', reason: budgetText('wallMs', limits.wallMs, limits.wallMs) };
  }
}

/** An abort without a reason has no text of its own. */
function interruptedText(reason: unknown): string {
  const isNamed = reason instanceof Error && reason.name !== 'AbortError';
  return isNamed ? `the run was interrupted: ${reason.message}` : 'the run was interrupted';
}

function endOfRecord(error: unknown): End {
  if (!isRecordFailure(error)) throw error;
  return { outcome: 'failed', reason: error.message };
}

export function isRecordFailure(error: unknown): error is SkillError {
  return isSkillError(error) && error.code === 'record/failed';
}

/** Gives the answer, closes the record, and returns the result. */
async function finish(
  end: End,
  run: Run,
  { state, request }: { readonly state: () => AgentState; readonly request: string },
): Promise<AgentResult> {
  const { outcome, reason } = end;
  const answer = await giveAnswer(end, run, state());
  const isRecorded = await endQuietly(run, outcome, reason);
  const { plan, used } = state();
  return {
    outcome: isRecorded ? outcome : 'failed',
    answer,
    reason: isRecorded || reason !== '' ? reason : 'the end of the run could not be recorded',
    plan: plan ?? startPlan(request),
    used,
    run: run.id,
    path: run.path,
  };
}

/** Returns the answer of the model, or records and returns one that is composed from the events. */
export async function giveAnswer({ reason, answer }: End, run: Run, state: AgentState): Promise<string> {
  if (answer !== undefined) return answer;
  const text = degradedAnswer(reason, state);
  // The signal is not passed: a run that was stopped gives an answer as well.
  await run.session.perform({ type: 'final_answer', answer: text }, { askedBy: 'program' });
  return text;
}

/** Ends a run. Returns false if the record could not be written. */
export async function endQuietly(
  run: Run,
  outcome: Exclude<RunInfo['outcome'], 'running'>,
  reason: string,
): Promise<boolean> {
  try {
    await run.end(outcome, reason);
    return true;
  } catch (error) {
    if (isRecordFailure(error)) return false;
    throw error;
  }
}

const LIST_ITEM = /^[ \t]{0,8}(?:[-*+•]|\d{1,3}[.)、])[ \t]?\S/gm;
const SEQUENCE =
  /\b(?:then|afterwards|after that|finally|first(?:ly)?|second(?:ly)?|next|steps?|plan|todos?)\b|然后|接着|最后|首先|其次|步骤|计划|待办/i;
const WORDS = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|[^\s\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+/gu;
/** A longer request rarely asks for one thing. */
const MANY_WORDS = 60;

/** Whether a request names several things to do, so that the model is offered a tool for its plan from the first request on. */
function hasSeveralSteps(request: string): boolean {
  if (SEQUENCE.test(request) || (request.match(LIST_ITEM)?.length ?? 0) >= 2) return true;
  return (request.match(WORDS)?.length ?? 0) >= MANY_WORDS;
}
