/** Why skills fire or not in the agents that people use: what each agent shows its model, and what hides a skill. Read agents/agent.ts first. */

export { AGENT_IDS, explainSkills, type Why } from './why.ts';
// Which skills a request may need.
export { chooseHints, type Hint } from './hints/choose-hints.ts';
// What the transcripts of the agents say.
export { readUsage, type Usage } from './usage/usage.ts';
export { findCaseRequests } from './usage/case-requests.ts';
// Which skills stay in an agent's list.
export { planFit, undoFit } from './shelf/fit.ts';
