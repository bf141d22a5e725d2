/**
 * The agent: a model works on a request with skills, within a budget and a policy. It performs nothing itself; every action goes through
 * the session of `#runtime`. Read agent.ts first, then turns.ts.
 */

// Runs and chats.
export { ACTIVATIONS } from './activation.ts';
export type { AgentOptions, AgentResult } from './agent-options.ts';
export { runAgent } from './agent.ts';
export { resumeAgent } from './resume/resume.ts';
export { openChat } from './chat.ts';
export { findChat, recentChats } from './earlier-chat.ts';

// The cost of a request.
export { requestCost } from './request-cost.ts';

// Reading what models wrote and what a run used.
export { jsonErrorOffset, readAnswer, repairRequest } from './json-object.ts';
export { findWrittenAction } from './action-protocol.ts';
export { countUsage } from './count-budget.ts';
export { OWN_TOOLS } from './own-tools.ts';
