/**
 * The five tool vocabularies as tables over actions: a model's call becomes actions, observations become its result. It performs nothing. Read tools.ts first,
 * then native.ts, the vocabulary of skillwright.
 */

// Vocabularies, and the tools that one offers.
export { openVocabulary } from './vocabularies.ts';
export { buildTools, whyNotOffered, type SkillTool, type ToolAnswer } from './tools.ts';

// Inputs of calls.
export { readInput } from './read-input.ts';
