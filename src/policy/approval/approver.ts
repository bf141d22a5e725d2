import { invalidInput, isSkillError, type ApprovalAnswer, type ApprovalRequest, type SkillError } from '#core';
import { pendingFolder, takeAnswer, waitForAnswer, withdrawPending } from './pending-approvals.ts';
import { askCallback, openRunAnswers, readAnswer, untilAborted } from './read-answer.ts';
import { openStoredApprovals, storedFrom, type StoredApproval } from './stored-approvals.ts';
import { openUsedApprovals, ticketId } from './used-approvals.ts';

/** Who is asked if no earlier answer covers a question. */
export interface Asker {
  readonly by: 'terminal' | 'callback';
  /** Returns `true`, `false`, an answer with an offered scope, or `nobody`. An error and everything else counts as `no`. */
  readonly ask: (request: ApprovalRequest, options: { readonly signal: AbortSignal }) => Promise<unknown>;
}

export interface ApprovalsOptions {
  /** Where answers for a skill are stored; without it they last for the run. */
  readonly home: string | undefined;
  /** `--approve`: complete ids of questions. Each approves one execution; without a home folder that remembers it, none. */
  readonly approved?: readonly string[];
  /** `--yes`: approves everything except high-risk actions and programs without isolation. */
  readonly yes?: boolean;
  /**
   * Folder for questions that another process answers (default: `.agent/pending` of the home folder). Without `waitMs` none are left there; with 0 this process does not wait.
   * `isShared`: while the asker asks, the folder has the question too, and the first answer counts.
   */
  readonly pending?: { readonly folder?: string; readonly waitMs?: number; readonly isShared?: boolean };
  readonly asker?: Asker;
  /** After this time, a question counts as answered with `no` (default: never). `openApprovals` throws `input/invalid` unless it is positive. */
  readonly deadlineMs?: number;
  /** Receives each warning once: invalid stored answers, and answers that could not be stored. */
  readonly onWarning?: (message: string) => void;
}

export interface Approvals {
  /** Rejects with the reason of the signal if it is aborted. */
  readonly approve: (
    request: ApprovalRequest,
    options: { readonly signal?: AbortSignal },
  ) => ReturnType<typeof askCallback>;
}

/**
 * Answers for one run. The first source that has an answer wins: answers of this run, answers stored for the skill, `--approve`, `--yes`,
 * answers in the folder, and then the asker. Questions are asked one at a time.
 */
export function openApprovals(options: ApprovalsOptions): Approvals {
  const { home, approved = [], yes = false, pending, asker, deadlineMs = Infinity } = options;
  if (!(deadlineMs > 0)) throw invalidTime('deadlineMs', deadlineMs, 'a positive number of milliseconds');
  if (pending?.waitMs !== undefined && !(pending.waitMs >= 0))
    throw invalidTime('pending.waitMs', pending.waitMs, 'milliseconds, or 0');
  const stored = home === undefined ? undefined : openStoredApprovals(home);
  const runAnswers = openRunAnswers();
  const warn = warnOnce(options.onWarning);
  const enqueue = openQueue();
  const place =
    pending === undefined || home === undefined ? undefined : { folder: pending.folder ?? pendingFolder(home), home };
  const useTicket = openTickets(approved, home, warn);

  const known = async (request: ApprovalRequest): Promise<ApprovalAnswer | undefined> => {
    const answered = runAnswers.find(request);
    if (answered !== undefined) return answered;
    for (const problem of stored?.list().problems ?? []) warn(problem);
    const kept = stored?.find(request);
    if (kept !== undefined) return { verdict: kept.verdict, scope: 'skill', by: 'stored' };
    if (yes && isCoveredByYes(request)) return { verdict: 'yes', scope: 'once', by: 'option', reason: '--yes' };
    if (await useTicket(request.id)) return { verdict: 'yes', scope: 'once', by: 'option', reason: '--approve' };
    const left = place === undefined ? undefined : await orWarning(() => takeAnswer(place, request.id), warn);
    return left === undefined ? undefined : limitScope(left, request);
  };

  const remember = async (request: ApprovalRequest, answer: ApprovalAnswer): Promise<ApprovalAnswer> => {
    if (answer.scope === 'once' || answer.by === 'stored') return answer;
    const entry = answer.scope === 'skill' ? storedFrom(request, answer.verdict, new Date()) : undefined;
    // Stored answers are not kept in memory, so that they can be revoked during the run.
    if (entry === undefined || !(await keep(entry))) runAnswers.keep(request, answer);
    return answer;
  };

  const keep = async (entry: StoredApproval): Promise<boolean> => {
    if (stored === undefined) {
      warn('there is no home folder, so the answer lasts only for this run');
      return false;
    }
    try {
      await stored.save(entry);
      return true;
    } catch (error) {
      if (!isSkillError(error)) throw error;
      warn(`the answer lasts only for this run: ${error.message}`);
      return false;
    }
  };

  /** Leaves the question for a person and waits as long as configured. */
  const leaveQuestion = async (request: ApprovalRequest, signal: AbortSignal): ReturnType<typeof askCallback> => {
    if (pending?.waitMs === undefined) return 'nobody';
    const { waitMs: timeoutMs } = pending;
    if (place === undefined) {
      warn('there is no home folder, so the question cannot be left for later');
      return 'nobody';
    }
    const later = (await orWarning(() => waitForAnswer(place, request, { timeoutMs, signal }), warn)) ?? 'nobody';
    return typeof later === 'string' ? later : remember(request, limitScope(later, request));
  };

  /** Asks at the asker and, if the folder is shared, in the folder; the first answer ends the other question. */
  const askShared = async (
    by: Asker,
    request: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer | 'nobody'> => {
    if (place === undefined || pending?.isShared !== true) return askOne(by, request, { signal, ...options });
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const asked = askOne(by, request, { ...options, signal: either });
    const left = orWarning(() => waitForAnswer(place, request, { timeoutMs: LONG_MS, signal: either }), warn).then(
      (answer) => (answer === undefined || answer === 'pending' ? asked : limitScope(answer, request)),
    );
    try {
      return await Promise.race([asked, left]);
    } finally {
      over.abort();
      // Both end by the abort; what they say then is of no interest.
      await Promise.allSettled([asked, left]);
      await orWarning(() => withdrawPending(place, request.id), warn);
    }
  };

  return {
    async approve(request, { signal = new AbortController().signal }) {
      signal.throwIfAborted();
      const before = await known(request);
      if (before !== undefined) return remember(request, before);
      if (asker === undefined) return leaveQuestion(request, signal);
      const reply = await enqueue(signal, async () => {
        // The answer to the previous question may cover this one.
        const answer = (await known(request)) ?? (await askShared(asker, request, signal));
        return answer === 'nobody' ? answer : remember(request, answer);
      });
      return reply === 'nobody' ? leaveQuestion(request, signal) : reply;
    },
  };
}

function invalidTime(name: string, value: number, expected: string): SkillError<'input/invalid'> {
  return invalidInput(`${name} is ${String(value)}`, expected, `pass ${expected}`);
}

/** Questions at a terminal have no deadline. */
const LONG_MS = 365 * 24 * 60 * 60 * 1_000;

/** Uses up a word of `--approve`. An approval whose use cannot be remembered is not used. */
function openTickets(
  approved: readonly string[],
  home: string | undefined,
  warn: (message: string) => void,
): (id: string) => Promise<boolean> {
  const left = new Map(
    approved.flatMap((ticket) => (ticketId(ticket) === undefined ? [] : [[ticketId(ticket), ticket]])),
  );
  const used = home === undefined ? undefined : openUsedApprovals(home);
  return async (id) => {
    const ticket = left.get(id)?.replace(/^sha256:/, '');
    if (ticket === undefined) return false;
    left.delete(id);
    if (used === undefined) {
      warn(`--approve ${ticket} was not used: no home folder remembers that it was; set HOME`);
      return false;
    }
    try {
      const isNext = await used.use(id, ticket);
      if (!isNext)
        warn(`--approve ${ticket} was already used; to approve the same action again: --approve ${used.ticket(id)}`);
      return isNext;
    } catch (error) {
      if (!isSkillError(error)) throw error;
      warn(`--approve ${ticket} was not used: ${error.message}; ${error.hint}`);
      return false;
    }
  };
}

/** The scopes may have differed when the answer was given; a `yes` is valid at least once. */
function limitScope(answer: ApprovalAnswer, { scopes }: ApprovalRequest): ApprovalAnswer {
  return answer.verdict === 'no' || scopes.includes(answer.scope) ? answer : { ...answer, scope: 'once' };
}

/** A program without isolation is high risk, unless a rule allows `unsafe_local`. */
function isCoveredByYes({ risk }: ApprovalRequest): boolean {
  return risk === 'low' || risk === 'medium';
}

/** Asks the asker. Only `openApprovals` leaves questions for later, so an asker that does so says no. */
async function askOne(
  { by, ask }: Asker,
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal; readonly deadlineMs?: number },
): Promise<ApprovalAnswer | 'nobody'> {
  const reply = await askCallback((more) => ask(request, more), request, options);
  if (reply === 'nobody') return reply;
  return { ...(reply === 'pending' ? readAnswer(reply, request) : reply), by };
}

/** Runs tasks one at a time, in order. Aborted tasks leave the queue. */
function openQueue(): <T>(signal: AbortSignal, act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (signal, act) => {
    const before = last;
    const mine = (async () => {
      await untilAborted([signal], () => before);
      return act();
    })();
    // The next task also waits for tasks before an aborted one.
    last = Promise.allSettled([before, mine]);
    return mine;
  };
}

async function orWarning<T>(act: () => T | Promise<T>, warn: (message: string) => void): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!isSkillError(error)) throw error;
    warn(`${error.message}; ${error.hint}`);
    return undefined;
  }
}

function warnOnce(report: ((message: string) => void) | undefined): (message: string) => void {
  const reported = new Set<string>();
  return (message) => {
    if (reported.has(message)) return;
    reported.add(message);
    report?.(message);
  };
}
