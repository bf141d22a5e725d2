import type { ApprovalAnswer, ApprovalRequest } from '#core';

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
