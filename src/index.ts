/**
 * The library. What stands here is public: add by hand, never by wildcard, and keep it under 25 values.
 *
 * @module
 */
export { planCatalog } from './core/catalog.ts';
export type { Catalog, CatalogItem, CatalogOptions } from './core/catalog.ts';
export type { CatalogFormat } from './core/catalog-layout.ts';
export type { Config } from './core/config.ts';
export type { DiagnosticCode, Severity } from './core/diagnostic-codes.ts';
export type { Diagnostic, Edit, Mode } from './core/diagnostic.ts';
export { SkillError, isSkillError } from './core/errors.ts';
export type { SkillErrorCode, SkillErrorData } from './core/errors.ts';
export { nearestNames, resolveSkill } from './core/resolve-skill.ts';
export type { ScanReport, SkillIndex } from './core/index-skills.ts';
export type { ShadowedSkill, SkillControls, SkillEntry, SkillHead, SkillRoot, Visibility } from './core/skill.ts';
export { estimateTokens } from './core/tokens.ts';
export { checkSkill } from './loader/check-skill.ts';
export type { CheckOptions, CheckedSkill } from './loader/check-skill.ts';
export { buildIndex, openRegistry } from './registry/registry.ts';
export type { Registry, RegistryChange, RegistryOptions } from './registry/registry.ts';
export { defaultRoots } from './registry/roots.ts';
export { createRuntime } from './runtime/runtime.ts';
export type { Runtime, RuntimeOptions } from './runtime/runtime.ts';
export type { SearchOptions, SearchResult } from './runtime/skill-search.ts';
export { buildSearchIndex, readSearchIndex } from './search/search-index.ts';
export type { SearchDocument, SearchHit, SearchIndex } from './search/search-index.ts';
export { VERSION } from './version.ts';
