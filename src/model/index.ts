/**
 * The public names of model.
 */

export { findModel } from './auto.ts';
export { readCassette } from './cassette/cassette-file.ts';
export { recordCassette, replayCassette } from './cassette/cassette.ts';
export { splitIntoDeltas } from './emit.ts';
export { fillQuickstart, findQuickstart } from './rules/quickstart.ts';
export { offeredTools } from './rules/rule-tools.ts';
export { openRules } from './rules/rules.ts';
export { toScriptedTurns } from './scripted/scripted-file.ts';
export { openScripted } from './scripted/scripted.ts';
