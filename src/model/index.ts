/**
 * Language models behind the `Model` of core, and the only part that imports the AI SDK. It never performs an action. Read auto.ts first.
 */

// The model of a run: named, by its key, or on this machine.
export { openAgentModel, type AgentModel } from './auto.ts';

// Models without a key: rules, scripts and recordings.
export { openRules } from './rules/rules.ts';
export { quickstartWith } from './rules/quickstart.ts';
export { openScript } from './scripted/scripted-file.ts';
export { recordCassette, replayCassette } from './cassette/cassette.ts';
