import type { ModelAnswer, ModelMessage, ModelRequest, ModelTool } from '../../src/core/model.ts';
import { openRules } from '../../src/model/rules/rules.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';

const MOST_TURNS = 8;

/** A loop as small as one can be: asks the rule model, does what it says, until it answers. */
export async function runRules(
  skills: SkillTools,
  request: string,
  before: readonly ModelMessage[] = [],
): Promise<{ readonly answer: string; readonly calls: readonly string[]; readonly messages: readonly ModelMessage[] }> {
  const messages: ModelMessage[] = [...before, { role: 'user', content: request }];
  const calls: string[] = [];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const answer = await ask({ system: skills.instructions, messages, tools: modelTools(skills) });
    messages.push({ role: 'assistant', content: answer.text, toolCalls: answer.toolCalls });
    if (answer.toolCalls.length === 0) return { answer: answer.text, calls, messages };
    for (const { id, name, input } of answer.toolCalls) {
      calls.push(`${name} ${input}`);
      const { text, isError } = await skills.call(name, input);
      messages.push({ role: 'tool', callId: id, toolName: name, content: text, isError });
      if (name === 'final_answer') return { answer: String(JSON.parse(input).answer), calls, messages };
    }
  }
  throw new Error(`no answer after ${String(MOST_TURNS)} turns: ${calls.join('\n')}`);
}

/** The same with actions as text: the request has no tools, and what came of an action is the next user message. */
export async function runActions(
  skills: SkillTools,
  request: string,
): Promise<{ readonly answer: string; readonly actions: readonly unknown[] }> {
  const messages: ModelMessage[] = [{ role: 'user', content: request }];
  const actions: unknown[] = [];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const { text } = await ask({ system: skills.instructions, messages, tools: [] });
    const decision = JSON.parse(text) as { action: { type: string; payload: { answer?: string } } };
    actions.push(decision);
    if (decision.action.type === 'final_answer') return { answer: decision.action.payload.answer ?? '', actions };
    const result = await skills.call(decision.action.type, decision.action.payload);
    messages.push({ role: 'assistant', content: text, toolCalls: [] }, { role: 'user', content: result.text });
  }
  throw new Error('no answer');
}

export function ask(request: ModelRequest): Promise<ModelAnswer> {
  return openRules().call(request, { signal: new AbortController().signal });
}

export function modelTools({ tools }: SkillTools): readonly ModelTool[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}
