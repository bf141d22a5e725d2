import type { PlanUpdate, StepState } from '../../core/plan.ts';
import type { Conversation } from './rule-conversation.ts';
import { withoutFiles } from './rule-conversation.ts';
import { withoutSkillTexts } from './seen-skills.ts';
import { roleOf } from './rule-tools.ts';
import type { Role, RuleDecision } from './rule-tools.ts';

/** The same three steps for every request; only their status changes. */
const STEPS = [
  { id: 'find', title: 'find a suitable skill and load it' },
  { id: 'run', title: 'follow its quickstart' },
  { id: 'answer', title: 'answer from its output' },
] as const;

const MAX_GOAL = 200;

/** The whole plan in the first step, afterwards only changes. */
export function planUpdate(decision: RuleDecision, { request, calls }: Conversation): PlanUpdate {
  const isDone = (wanted: Role): boolean => calls.some(({ name, isError }) => roleOf(name) === wanted && !isError);
  const done = { find: isDone('load') || isDone('run'), run: isDone('run'), answer: decision.type === 'answer' };
  const next = done.answer ? undefined : STEPS.find(({ id }) => !done[id])?.id;
  const stateOf = (id: keyof typeof done): StepState =>
    done[id] ? 'completed' : id === next ? 'in_progress' : 'pending';
  const steps = STEPS.map((step) => ({ ...step, status: stateOf(step.id) }));
  if (calls.length > 0) return { mode: 'patch', steps: steps.map(({ id, status }) => ({ id, status })) };
  const goal = withoutFiles(withoutSkillTexts(request)).slice(0, MAX_GOAL);
  return { mode: 'replace', plan: { goal, steps, assumptions: [], constraints: {} } };
}
