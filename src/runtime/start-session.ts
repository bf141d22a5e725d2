import type { Catalog, CatalogOptions } from '../core/catalog.ts';
import type { Config } from '../core/config.ts';
import type { SkillIndex } from '../core/index-skills.ts';
import { locateInSkills } from '../core/locate.ts';
import type { SessionSettings } from '../core/session.ts';
import { isForModel } from '../core/skill.ts';
import type { Offer, Vocabulary } from '../core/tool.ts';
import { findVocabulary } from '../dialect/vocabularies.ts';
import type { VocabularyName } from '../dialect/vocabularies.ts';
import { bodyLimits } from './perform.ts';
import type { ActionContext } from './perform.ts';
import { openSession } from './session.ts';
import type { Session } from './session.ts';

export interface SessionOptions extends Partial<SessionSettings> {
  /** Whose tools: `skillwright`, `openseed`, `trpc`, `manusx`, `skills-agent`, or one of your own. */
  readonly vocabulary?: VocabularyName | Vocabulary;
  /** How level 1 is written and what it may cost; `search`: only what is pinned, the rest is found by searching. */
  readonly catalog?: 'search' | Partial<CatalogOptions>;
}

export interface SessionSource {
  readonly config: Config;
  readonly index: SkillIndex;
  readonly search: ActionContext['search'];
  readonly catalog: (index: SkillIndex, options: Partial<CatalogOptions>) => Catalog;
}

export function startSession(source: SessionSource, options: SessionOptions): Session {
  const { config, index, search } = source;
  const vocabulary = findVocabulary(options.vocabulary ?? 'skillwright');
  const settings: SessionSettings = {
    lifetime: options.lifetime ?? config.session?.lifetime ?? 'turn',
    maxLoaded: options.maxLoaded ?? config.session?.max_loaded ?? 8,
    placement: options.placement ?? config.session?.placement ?? 'tool-results',
  };
  const offer = offerOf(index, settings);
  const offered = vocabulary.tools.filter((tool) => tool.isOffered(offer)).map(({ name }) => name);
  const { searchTool, catalogFormat } = vocabulary;
  const catalogOptions: Partial<CatalogOptions> = {
    searchTool,
    ...(catalogFormat === undefined ? {} : { format: catalogFormat }),
    ...(options.catalog === 'search' ? { budget: 0 } : options.catalog),
  };
  return openSession({
    index,
    settings,
    vocabulary,
    guidance: vocabulary.guidance(offered, offer),
    actions: { limits: bodyLimits(config), search },
    planCatalog: (budget) => source.catalog(index, { ...catalogOptions, ...(budget === undefined ? {} : { budget }) }),
  });
}

/** What the tools of a session are made from. It depends on the snapshot and the settings alone, so that prompts stay cacheable. */
export function offerOf(index: SkillIndex, { placement }: SessionSettings): Offer {
  const skills = index.skills.filter(({ state }) => isForModel(state)).map(({ name }) => name);
  return { skills, placement, locate: (path) => locateInSkills(index, path) };
}
