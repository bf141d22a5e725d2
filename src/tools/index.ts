/**
 * The five tool vocabularies as tables over actions: a model's call becomes actions, observations become its result. It performs nothing. Read tools.ts first,
 * then native.ts, the vocabulary of skillwright.
 */

// Vocabularies, and the tools that one offers.
export { VOCABULARY_NAMES, findVocabulary, type VocabularyName } from './vocabularies.ts';
export { deniedTool, buildTools, whyNotOffered, type SkillTool, type ToolAnswer, type ToolsOptions } from './tools.ts';
export { withServerTools } from './server-tools.ts';

// Inputs of calls.
export { readInput } from './read-input.ts';
export { buildInputSchema, readTexts } from './parameters.ts';
