/** Forced activation: the model must accept or reject each skill of the shortlist before anything else. */
import type { ModelToolCall } from '../core/model.ts';
import type { SkillEntry } from '../core/skill.ts';
import { quoted } from '../core/text/text.ts';
import { textsOf } from '../tools/parameters.ts';
import { readInput } from '../tools/read-input.ts';
import type { AgentDecision } from './decision.ts';
import { CHOOSE_SKILLS, chooseSchema } from './own-tools.ts';

export type Choice =
  | {
      readonly type: 'chosen';
      readonly call: ModelToolCall;
      readonly accepted: readonly SkillEntry[];
      readonly rejected: readonly SkillEntry[];
    }
  | { readonly type: 'unclear'; readonly reason: string };

export function readChoice(decision: AgentDecision, skills: readonly SkillEntry[]): Choice {
  const call = decision.type === 'calls' ? decision.calls.find(({ name }) => name === CHOOSE_SKILLS) : undefined;
  if (call === undefined) return { type: 'unclear', reason: `call ${CHOOSE_SKILLS} before anything else` };
  const names = skills.map(({ name }) => name);
  const reading = readInput(chooseSchema(names), call.input);
  if (reading.type === 'refused') return { type: 'unclear', reason: reading.failure.message };
  const accepted = textsOf(reading.input, 'accepted');
  const rejected = textsOf(reading.input, 'rejected');
  const missing = names.filter((name) => accepted.includes(name) === rejected.includes(name));
  if (missing.length > 0) {
    const list = missing.map((name) => quoted(name)).join(', ');
    return { type: 'unclear', reason: `each skill must be in exactly one of the two lists; check ${list}` };
  }
  return {
    type: 'chosen',
    call,
    accepted: skills.filter(({ name }) => accepted.includes(name)),
    rejected: skills.filter(({ name }) => rejected.includes(name)),
  };
}
