/**
 * The pure part: the skill format, diagnostics, the catalog and the configuration's schema. No file, no process: runs in a browser.
 *
 * @module
 */
export { planCatalog } from './skills/catalog/catalog.ts';
export type { Catalog, CatalogItem, CatalogOptions } from './skills/catalog/catalog.ts';
export { CONFIG_JSON_SCHEMA } from './core/config/config.ts';
export type { Config } from './core/config/config.ts';
export { DIAGNOSTIC_RULES } from './core/diagnostic-codes.ts';
export type { DiagnosticCode, Severity } from './core/diagnostic-codes.ts';
export type { Diagnostic, Edit, Mode } from './core/diagnostic.ts';
export { memorySkills } from './library/skill-source.ts';
export type {
  MemorySkill,
  MemorySource,
  SkillSource,
  SourceFile,
  SourceOptions,
  SourceSkill,
} from './library/skill-source.ts';
export { applyEdits } from './skills/format/fix.ts';
export { newSkillFiles } from './skills/format/new-skill.ts';
export { localLinks } from './skills/format/markdown-links.ts';
export { parseSkillMd } from './skills/format/skill-md.ts';
export type { SkillMd } from './skills/format/skill-md.ts';
export type { SkillControls, SkillEntry, SkillHead, Visibility } from './core/skill.ts';
export { cleanText, escapeXml, printable } from './core/text/text.ts';
export { estimateTokens } from './core/tokens.ts';
