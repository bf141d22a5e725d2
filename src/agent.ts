/**
 * The agent: works on a request with a model and skills, within a budget and a policy, and records everything. See docs/agent.md.
 *
 * @module
 */
export type { Activation } from './agent/activation.ts';
export { openAgentModel } from './model/auto.ts';
export type { AgentModel, AgentModelOptions } from './model/auto.ts';
export type { AgentOptions, AgentResult, StepControl } from './agent/agent-options.ts';
export { runAgent } from './agent/agent.ts';
export { openChat } from './agent/chat.ts';
export type { Chat, ChatOptions, PerformedAction, SendOptions, Undone } from './agent/chat.ts';
export { resumeAgent } from './agent/resume/resume.ts';
export type { ResumeOptions, Resumed } from './agent/resume/resume.ts';
export type { ProtocolName } from './agent/system-prompt.ts';
export { DEFAULT_BUDGET } from './core/budget.ts';
export type { Budget, BudgetName } from './core/budget.ts';
export { reduceChat } from './agent/reduce-chat.ts';
export type { ChatEvent, Said } from './core/chat.ts';
export type { Model } from './core/model.ts';
export type { Plan, PlanStep } from './core/plan.ts';
export { createRunServer } from './server/create-run-server.ts';
export type { RunServer, RunServerLimits, RunServerOptions } from './server/run-server.ts';
