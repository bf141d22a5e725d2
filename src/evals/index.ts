/**
 * Evaluations: reads cases, runs them in isolated homes, grades the recorded runs, and stores and renders reports. One function per
 * subcommand of `skillwright eval`. Never prints. Read `project/run-evaluation.ts` first.
 */

// Run cases.
export { openEvaluation } from './project/run-evaluation.ts';
export { readInputs } from './project/inputs.ts';
export { tuneDescription } from './tune/tune-description.ts';
export { draftFromRequests, generateDrafts } from './generate/generate-drafts.ts';

// Finished evaluations.
export { compareRuns, gradeRuns, showTrend, writeFirstCases } from './project/stored.ts';
export { priceTokens } from './report/prices.ts';
export { storedEvaluations } from './project/stored-evaluations.ts';

// Attempts that run on other machines.
export { packAttempt, runPackedAttempt } from './run/portable-attempt.ts';
export type { Elsewhere } from './run/run-suite.ts';
