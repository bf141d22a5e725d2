/**
 * The public names of skills.
 */

export { planCatalog, type Catalog, type CatalogItem, type CatalogOptions } from './catalog/catalog.ts';
export { findFrontmatter } from './format/bounds.ts';
export { findFences } from './format/fences.ts';
export { applyEdits } from './format/fix.ts';
export { MAX_LIBRARY_TEXT, findTooDeep } from './format/guard.ts';
export { SKILL_PARTS, newSkillFiles, type SkillPart } from './format/new-skill.ts';
export type { MapEntry, MapNode, ScalarNode, YamlNode } from './format/node.ts';
export { splitPieces } from './format/pieces.ts';
export { readPlain } from './format/plain.ts';
export { readHead } from './format/read-head.ts';
export { BETWEEN_NAMES } from './format/requires.ts';
export { setDescription } from './format/set-description.ts';
export { readSimpleHead } from './format/simple-head.ts';
export { parseSkillMd } from './format/skill-md.ts';
export { readSkillFile } from './loader/body.ts';
export { checkSkill, unusableFiles, type CheckOptions, type CheckedSkill } from './loader/check-skill.ts';
export { listFiles, listSkillEntries, listSkillFiles, type SkillFiles } from './loader/files.ts';
export { loadBodyIn, type BodyLimits } from './loader/load-body.ts';
export { readResourceFile } from './loader/read-resource.ts';
export { findScript } from './loader/script-path.ts';
export { inSkill } from './loader/skill-directory.ts';
export type { SkillIndex } from './registry/index-skills.ts';
export {
  buildIndex,
  cacheFileName,
  openRegistry,
  type Registry,
  type RegistryOptions,
  type ScanProgress,
} from './registry/registry.ts';
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
