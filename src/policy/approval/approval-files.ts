/** Everything that the home folder keeps of approvals: waiting questions, answers for skills, and used words of `--approve`. */
import type { ApprovalRequest } from '#core';
import {
  answerPending,
  isAnswered,
  listPending,
  pendingFolder,
  withdrawPending,
  type PendingAnswer,
  type PendingQuestion,
} from './pending-approvals.ts';
import { openStoredApprovals, storedId, type RevokeTarget, type StoredApproval } from './stored-approvals.ts';
import { openUsedApprovals } from './used-approvals.ts';

interface WaitingQuestion extends PendingQuestion {
  /** The run has not picked the answer up yet. */
  readonly isAnswered: boolean;
}

/** An answer for a skill, with the id that people use for it: 12 hex digits. */
type KeptAnswer = StoredApproval & { readonly id: string };

interface ApprovalFiles {
  /** The waiting questions, oldest first, and which files are ignored. */
  questions(): { readonly questions: readonly WaitingQuestion[]; readonly problems: readonly string[] };
  /** The valid answers for skills, oldest first, and why others are invalid. */
  answers(): { readonly answers: readonly KeptAnswer[]; readonly problems: readonly string[] };
  /** Answers a question; throws as `answerPending`. */
  answer(id: string, answer: PendingAnswer): ApprovalRequest;
  withdraw(ids: readonly string[]): void;
  revoke(target: RevokeTarget): Promise<readonly KeptAnswer[]>;
  /** The word of `--approve` that approves the next execution. */
  ticket(id: string): string;
}

export function openApprovalFiles(home: string, folder = pendingFolder(home)): ApprovalFiles {
  const place = { home, folder };
  const stored = openStoredApprovals(home);
  const withId = (approval: StoredApproval): KeptAnswer => ({ id: storedId(approval), ...approval });
  return {
    questions() {
      const { questions, problems } = listPending(place);
      return {
        questions: questions.map((one) => ({ ...one, isAnswered: isAnswered(place, one.request.id) })),
        problems,
      };
    },
    answers() {
      const { approvals, problems } = stored.list();
      return { answers: approvals.map(withId), problems };
    },
    answer: (id, answer) => answerPending(place, id, answer).request,
    withdraw(ids) {
      for (const id of ids) withdrawPending(place, id);
    },
    revoke: async (target) => (await stored.revoke(target)).map(withId),
    ticket: (id) => openUsedApprovals(home).ticket(id),
  };
}
