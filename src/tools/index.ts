/**
 * The public names of tools.
 */

export { buildInputSchema, readTexts } from './parameters.ts';
export { readInput } from './read-input.ts';
export { withServerTools } from './server-tools.ts';
export { deniedTool, buildTools, whyNotOffered, type SkillTool, type ToolAnswer, type ToolsOptions } from './tools.ts';
export { VOCABULARY_NAMES, findVocabulary, type VocabularyName } from './vocabularies.ts';
