/**
 * A model without a language model: it searches, loads the best skill, runs its quickstart and shows the result. A demonstration and a
 * driver for tests, without network and memory; its behavior depends on the request alone.
 */
import type { Model, ModelAnswer, ModelRequest, ModelTool } from '../../core/model.ts';
import { emitWhole, completeAnswer } from '../emit.ts';
import { readConversation } from './rule-conversation.ts';
import { decideByRules } from './rule-decision.ts';
import { planUpdate } from './rule-plan.ts';
import { answerInput, callOf } from './rule-tools.ts';
import type { RuleDecision } from './rule-tools.ts';

export { RULE_MODEL_REMARK } from './rule-words.ts';

/** Opens the rule model, which follows the quickstart of a skill and is not a language model. */
export function openRules(): Model {
  return {
    id: 'rules',
    answerSchemas: 'shown',
    call(request, { signal, onDelta }) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const answer = written(request, decideByRules(request));
      emitWhole(answer, onDelta);
      return Promise.resolve(answer);
    },
  };
}

/** Encodes the decision in the protocol of the request: a tool call, or the JSON of an action. */
function written(request: ModelRequest, decision: RuleDecision): ModelAnswer {
  const turn = request.messages.filter(({ role }) => role === 'assistant').length + 1;
  if (request.tools.length > 0) {
    const ending = decision.type === 'answer' ? endingCall(request.tools, decision.text) : decision;
    if (ending?.type !== 'call') return completeAnswer(decision.type === 'answer' ? decision.text : '');
    return completeAnswer('', [{ id: `rule-${String(turn)}`, name: ending.name, input: JSON.stringify(ending.input) }]);
  }
  const action =
    decision.type === 'answer'
      ? { type: 'final_answer', payload: { answer: decision.text } }
      : { type: decision.name, payload: decision.input };
  return completeAnswer(
    JSON.stringify({ action, plan_update: planUpdate(decision, readConversation(request.messages)) }),
  );
}

/** Uses the final-answer tool if there is one. */
function endingCall(tools: readonly ModelTool[], text: string): RuleDecision | undefined {
  return callOf('answer', tools, (tool) => answerInput(tool, text));
}
