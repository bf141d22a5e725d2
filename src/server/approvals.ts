/**
 * Questions of runs and the answers of people, as the API shows them: files in the home folder here, a table in a fleet. The first answer
 * counts, and it is used once.
 */
import { defined, isSkillError, type ApprovalRequest, type ApprovalAnswer } from '#core';
import { capabilityLine, openApprovalFiles } from '#policy';
import type { Approvals, PendingApproval } from './api/govern.ts';
import { httpError } from './http-error.ts';
import type { Immutable } from './router.ts';

interface PersonsAnswer {
  readonly verdict: 'yes' | 'no';
  readonly scope: ApprovalAnswer['scope'];
  /** Why not; the model reads it. */
  readonly reason?: string | undefined;
}

export interface ApprovalBook {
  /** Waiting questions, oldest first. */
  list(): Promise<Immutable<Approvals>>;
  /** Rejects with a 409 if no question waits under this id, it is answered already, or the scope is not offered. */
  answer(id: string, answer: PersonsAnswer): Promise<void>;
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
        pending: waiting.questions.map(({ request, at, isAnswered }) => {
          const run = askedBy(request.id);
          return { ...questionView(request, at), isAnswered, ...defined({ run }) };
        }),
        stored: stored.answers.map(({ id, skill, tool, verdict, at }) => {
          return { id, skill: skill.id, digest: skill.digest, tool, verdict, at };
        }),
        problems: [...waiting.problems, ...stored.problems],
      };
    },
    async answer(id, { verdict, scope, reason }) {
      try {
        files().answer(id, { verdict, scope, reason });
      } catch (error) {
        throw conflict(error);
      }
    },
    revoke: async (id) => (await files().revoke({ id })).length,
  };
}

/** An answer that comes too late, or does not fit, is a conflict. */
export function conflict(error: unknown): unknown {
  const isMine = isSkillError(error) && error.code === 'input/invalid' && error.raised === undefined;
  return isMine ? httpError(409, error.message, error.hint) : error;
}

export function questionView(request: ApprovalRequest, at: string): Immutable<PendingApproval> {
  const { id, tool, risk, rule, origin, skill, detail, affects, isolation, capabilities = [], scopes } = request;
  return {
    id,
    at,
    isAnswered: false,
    tool,
    risk,
    rule,
    origin,
    skill,
    detail,
    affects,
    isolation,
    capabilities: capabilities.length === 0 ? [] : [capabilityLine(capabilities)],
    scopes,
  };
}
