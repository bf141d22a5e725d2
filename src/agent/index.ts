/**
 * The public names of agent.
 */

export { ACTIVATIONS } from './activation.ts';
export { openAgentModel, type AgentModel } from './agent-model.ts';
export type { AgentOptions, AgentResult, StepControl } from './agent-options.ts';
export { runAgent } from './agent.ts';
export { readAnswer, repairRequest } from './answer-json.ts';
export { openChat, type Chat, type ChatOptions } from './chat.ts';
export { BUDGET_NAMES, NOTHING_USED, countEvent } from './count-budget.ts';
export { jsonErrorOffset } from './json-object.ts';
export { RECALL, UPDATE_PLAN } from './own-tools.ts';
export { projectInstructions } from './project-instructions.ts';
export { requestCost, type RequestCost, type RunFeatures } from './request-cost.ts';
export { lastAnswer } from './resume/open-recorded-run.ts';
export { alreadyResumed, checkResume } from './resume/resume-gate.ts';
export { resumeAgent } from './resume/resume.ts';
