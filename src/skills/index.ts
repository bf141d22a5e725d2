/**
 * Everything that reads skills: SKILL.md, the index, the catalog, search, bodies and files. It never runs a script, decides about trust or changes a
 * skill that is installed. Read registry/registry.ts first, then format/skill-md.ts.
 */

// The index of the skills in some roots.
export { cacheFileName, openRegistry } from './registry/registry.ts';
export type { SkillIndex } from './registry/index-skills.ts';
export { nearestNames, resolveSkill } from './registry/resolve-skill.ts';
export { settleSameNames } from './registry/same-names.ts';
export { findFilesNamed } from './registry/find-files.ts';

// The catalog that a model sees, and search.
export { planCatalog, type Catalog } from './catalog/catalog.ts';
export { buildSearchIndex, readSearchIndex, type SearchIndex } from './search/search-index.ts';
export { splitClauses } from './search/clauses.ts';

// SKILL.md: read, created, repaired.
export { parseSkillMd } from './format/skill-md.ts';
export { readHead } from './format/read-head.ts';
export { readSimpleHead } from './format/simple-head.ts';
export { findFrontmatter } from './format/bounds.ts';
export { argumentNames } from './format/argument-names.ts';
export { BETWEEN_NAMES } from './format/requires.ts';
export { SKILL_PARTS, newSkillFiles } from './format/new-skill.ts';
export { setDescription } from './format/set-description.ts';
export { applyEdits } from './format/fix.ts';

// Bodies and files of a skill.
export { inSkill } from './loader/skill-directory.ts';
export { readSkillFile } from './loader/body.ts';
export { loadSkill } from './loader/load-body.ts';
export { listFiles, listSkillFiles } from './loader/files.ts';
export { readResourceFile } from './loader/read-resource.ts';
export { findScript } from './loader/script-path.ts';
export { checkSkill, unusableFiles } from './loader/check-skill.ts';

// Agent Plugins: folders with skills and MCP servers.
export { readPluginManifest } from './plugin/plugin-manifest.ts';
export { openPlugin } from './plugin/open-plugin.ts';
