/**
 * Why skills fire or not in the agents that people use, and a hook that adds the right ones to a prompt: what each agent shows its model, what hides a
 * skill (why.ts), what fits a prompt (hook/), and changes of the agents' files (activate/). Read agents/agent.ts first.
 */

export { AGENT_IDS, explainSkills } from './why.ts';
// What the transcripts of the agents say.
export { readUsage } from './usage/usage.ts';
export { findCaseRequests } from './usage/case-requests.ts';
// Which skills stay in an agent's list.
export { planFit, undoFit } from './shelf/fit.ts';
export { planActivation } from './activate/activate.ts';
export { hookStates } from './activate/hook-state.ts';
export { runHook } from './hook/run-hook.ts';
export { wholeHook } from './hook/whole-hook.ts';
