/**
 * The public names of skills.
 */

export { planCatalog, type Catalog } from './catalog/catalog.ts';
export { findFrontmatter } from './format/bounds.ts';
export { applyEdits } from './format/fix.ts';
export { SKILL_PARTS, newSkillFiles } from './format/new-skill.ts';
export { readHead } from './format/read-head.ts';
export { BETWEEN_NAMES } from './format/requires.ts';
export { setDescription } from './format/set-description.ts';
export { readSimpleHead } from './format/simple-head.ts';
export { parseSkillMd } from './format/skill-md.ts';
export { readSkillFile } from './loader/body.ts';
export { checkSkill, unusableFiles } from './loader/check-skill.ts';
export { listFiles, listSkillEntries, listSkillFiles } from './loader/files.ts';
export { loadBodyIn, type BodyLimits } from './loader/load-body.ts';
export { readResourceFile } from './loader/read-resource.ts';
export { findScript } from './loader/script-path.ts';
export { inSkill } from './loader/skill-directory.ts';
export type { SkillIndex } from './registry/index-skills.ts';
export { buildIndex, cacheFileName, openRegistry } from './registry/registry.ts';
export { nearestNames, resolveSkill } from './registry/resolve-skill.ts';
export {
  defaultRoots,
  isAddress,
  isUrlOrArchive,
  projectDirectories,
  serverSkillsFolder,
  splitRoots,
  userFolders,
  type RootOption,
} from './registry/roots.ts';
export { splitClauses } from './search/clauses.ts';
export { buildSearchIndex, readSearchIndex, type SearchIndex } from './search/search-index.ts';
export { findFilesNamed } from './registry/find-files.ts';
export { argumentNames } from './format/argument-fields.ts';
