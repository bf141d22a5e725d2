/** How an agent and a model talk, in one place: what is said about plans and structured actions is read by `core`. */
export { FINAL_ANSWER, actionSchema, readDecision } from '../core/action-protocol.ts';
export { openActionStream } from '../core/action-stream.ts';
export { readAnswer, repairRequest } from '../core/answer-json.ts';
export { readPlanUpdate } from '../core/plan-update.ts';
export { applyPlanUpdate, planText, startPlan } from '../core/plan.ts';
