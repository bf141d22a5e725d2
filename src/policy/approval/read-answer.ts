import { APPROVAL_SCOPES, type ApprovalAnswer, type ApprovalRequest } from '#core';
import { timerMs } from '#platform';

interface AskOptions {
  readonly signal: AbortSignal | undefined;
  readonly deadlineMs?: number | undefined;
}

/**
 * Asks a callback. Only a well-formed yes is a yes: `true`, or an object with `verdict: 'yes'` and no scope or an offered one. A callback
 * that throws, and every other answer, is a no with a reason. `nobody` and `pending` are returned as they are. Rejects only with the reason
 * of the signal, as soon as it is aborted.
 */
export async function askCallback(
  ask: (options: { readonly signal: AbortSignal }) => unknown,
  request: ApprovalRequest,
  { signal = new AbortController().signal, deadlineMs }: AskOptions,
): Promise<ApprovalAnswer | 'nobody' | 'pending'> {
  const over = new AbortController();
  const isLimited = deadlineMs !== undefined && deadlineMs === timerMs(deadlineMs);
  const timer = isLimited ? setTimeout(() => over.abort(), deadlineMs) : undefined;
  try {
    const reply = await untilAborted([signal, over.signal], async (either) => ask({ signal: either }));
    return reply === 'nobody' || reply === 'pending' ? reply : readAnswer(reply, request);
  } catch (error) {
    signal.throwIfAborted();
    return refuse(
      over.signal.aborted ? `no answer within ${String(deadlineMs)} ms` : `${CALLBACK} failed${thrownKind(error)}`,
    );
  } finally {
    clearTimeout(timer);
  }
}

const CALLBACK = 'the approval callback';

const APPROVERS: readonly ApprovalAnswer['by'][] = ['terminal', 'callback', 'option', 'stored', 'file'];

/** Every field is read once: a getter may give another value the next time, or throw. */
export function readAnswer(reply: unknown, request: ApprovalRequest): ApprovalAnswer {
  if (reply === true) return { verdict: 'yes', scope: 'once', by: 'callback' };
  if (reply === false) return { verdict: 'no', scope: 'once', by: 'callback' };
  try {
    if (typeof reply !== 'object' || reply === null || Array.isArray(reply))
      return refuse(`${CALLBACK} returned ${typeName(reply)} instead of an answer`);
    const { verdict, scope: asked = 'once', by: source, reason }: Record<string, unknown> = { ...reply };
    const scope = APPROVAL_SCOPES.find((known) => known === asked);
    const by = APPROVERS.find((known) => known === source) ?? 'callback';
    if (verdict === 'no')
      return { verdict, scope: scope ?? 'once', by, ...(typeof reason === 'string' ? { reason } : {}) };
    if (verdict !== 'yes') return refuse(`${CALLBACK} returned an object whose verdict is neither yes nor no`);
    if (scope === undefined || !request.scopes.includes(scope))
      return refuse(`${CALLBACK} approved with a scope that was not offered`);
    return { verdict, scope, by, ...(by === 'option' && typeof reason === 'string' ? { reason } : {}) };
  } catch {
    return refuse(`${CALLBACK} returned an object that cannot be read`);
  }
}

function refuse(reason: string): ApprovalAnswer {
  return { verdict: 'no', scope: 'once', by: 'callback', reason };
}

function typeName(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** The kind of what was thrown, not its message, which may have a secret in it. It may be an object that throws when it is read. */
function thrownKind(thrown: unknown): string {
  try {
    const kind = thrown instanceof Error ? thrown.name : '';
    return /^[A-Za-z]{1,64}$/.test(kind) ? ` (${kind})` : '';
  } catch {
    return '';
  }
}

/** Runs `act`, and rejects as soon as one of the signals is aborted, even if `act` ignores it. */
export async function untilAborted<T>(
  signals: readonly AbortSignal[],
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = AbortSignal.any([...signals]);
  either.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      reject(either.reason);
    };
    either.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([act(either), aborted]);
  } finally {
    if (stop !== undefined) either.removeEventListener('abort', stop);
  }
}

/** Answers that hold for the rest of a run. */
export interface RunAnswers {
  /** The answer that covers a question; a yes only if the question offers the scope `run`. */
  find(request: ApprovalRequest): ApprovalAnswer | undefined;
  keep(request: ApprovalRequest, answer: ApprovalAnswer): void;
}

export function openRunAnswers(): RunAnswers {
  const answers = new Map<string, ApprovalAnswer>();
  return {
    find(request) {
      const answer = answers.get(runKey(request));
      const covers = answer?.verdict === 'no' || request.scopes.includes('run');
      return answer === undefined || !covers ? undefined : { ...answer, scope: 'run' };
    },
    keep(request, answer) {
      answers.set(runKey(request), answer);
    },
  };
}

/** An approval does not carry over to another isolation, another skill digest or another coverage. */
function runKey({ coverage, tool, risk, isolation, skill }: ApprovalRequest): string {
  return JSON.stringify([coverage, tool, risk, isolation ?? '', skill?.id ?? '', skill?.digest ?? '']);
}
