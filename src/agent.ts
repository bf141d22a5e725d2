/**
 * The agent: a request, a model and skills, inside a budget and a policy, with a record of everything. See docs/agent.md.
 *
 * @module
 */
export type { Activation } from './agent/activation.ts';
export { openAgentModel } from './agent/agent-model.ts';
export type { AgentModel, AgentModelOptions } from './agent/agent-model.ts';
export type { AgentOptions, AgentResult } from './agent/agent-options.ts';
export { runAgent } from './agent/agent.ts';
export { openChat } from './agent/chat.ts';
export type { Chat, ChatOptions, Undone } from './agent/chat.ts';
export { resumeAgent } from './agent/resume.ts';
export type { ResumeOptions, Resumed } from './agent/resume.ts';
export type { ProtocolName } from './agent/words.ts';
export { DEFAULT_BUDGET } from './core/agent/budget.ts';
export type { Budget, BudgetName } from './core/agent/budget.ts';
export { reduceChat } from './core/agent/chat.ts';
export type { ChatEvent, Said } from './core/agent/chat.ts';
export type { Model } from './core/agent/model.ts';
export type { Plan, PlanStep } from './core/agent/plan.ts';
export { createRunServer } from './worker/run-server.ts';
export type { RunServer, RunServerLimits, RunServerOptions } from './worker/run-server.ts';
