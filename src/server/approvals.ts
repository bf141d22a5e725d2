/**
 * Questions of runs and the answers of people, as the API shows them: files in the home folder here, a table in a fleet. The first answer
 * counts, and it is used once.
 */
import { isSkillError, type ApprovalRequest } from '#core';
import { capabilityLine, openApprovalFiles } from '#policy';
import type { ApprovalAnswer, Approvals } from './api/govern.ts';
import { httpError } from './http-error.ts';
import type { Immutable } from './router.ts';

type PendingView = Immutable<Approvals>['pending'][number];

interface WaitingQuestion {
  readonly request: ApprovalRequest;
  readonly at: string;
  readonly isAnswered?: boolean;
  readonly run?: string;
}

export interface ApprovalBook {
  list(): Promise<Omit<Immutable<Approvals>, 'pending'> & { readonly waiting: readonly WaitingQuestion[] }>;
  /** Rejects with a 409 if no question waits under this id, it is answered already, or the scope is not offered. */
  answer(id: string, answer: ApprovalAnswer): Promise<void>;
  /** Revokes an answer for a skill; returns how many there were. */
  revoke(id: string): Promise<number>;
}

/** Questions of all runs of this user. `askedBy` names the run of a question, if this process started it. */
export function openFolderApprovals(
  home: string | undefined,
  askedBy: (request: string) => string | undefined,
): ApprovalBook {
  const files = (): ReturnType<typeof openApprovalFiles> => {
    if (home === undefined) throw httpError(503, 'HOME is not set; approvals are stored in the home folder');
    return openApprovalFiles(home);
  };
  return {
    async list() {
      const waiting = files().questions();
      const stored = files().answers();
      return {
        waiting: waiting.questions.map(({ request, at, isAnswered }) => ({
          request,
          at,
          isAnswered,
          run: askedBy(request.id),
        })),
        stored: stored.answers.map(({ id, skill, tool, verdict, at }) => {
          return { id, skill: skill.id, digest: skill.digest, tool, verdict, at };
        }),
        problems: [...waiting.problems, ...stored.problems],
      };
    },
    async answer(id, answer) {
      try {
        files().answer(id, answer);
      } catch (error) {
        // An answer that comes too late, or does not fit.
        const isMine = isSkillError(error) && error.code === 'input/invalid' && error.raised === undefined;
        throw isMine ? httpError(409, error.message, error.hint) : error;
      }
    },
    revoke: async (id) => (await files().revoke({ id })).length,
  };
}

export function questionView({ request, at, isAnswered: answered = false, run }: WaitingQuestion): PendingView {
  const { action: _action, coverage: _coverage, capabilities = [], ...shown } = request;
  const lines = capabilities.length === 0 ? [] : [capabilityLine(capabilities)];
  return { ...shown, at, isAnswered: answered, run, capabilities: lines };
}
