/** What the program of a hook loads only if it must: reading the skills, and serving. */
import { AGENTS } from '../agents/agents.ts';
import { openAnswers, type Question } from './answer-prompt.ts';
import type { Answer } from './compose-answer.ts';
import { indexInThread } from './body-index.ts';
import { serveHooks } from './resident.ts';

interface WholeHook {
  readonly answer: (question: Question) => Promise<Answer>;
  isAgent(id: string): boolean;
  readonly serve: typeof serveHooks;
  /** Indexes bodies, in a thread that was started for it. */
  readonly indexInThread: () => Promise<void>;
}

export const wholeHook: WholeHook = {
  answer: openAnswers().answer,
  isAgent: (id) => AGENTS.some((agent) => agent.id === id),
  serve: serveHooks,
  indexInThread,
};
