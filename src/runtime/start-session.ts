import type { Catalog, CatalogOptions } from '../core/catalog.ts';
import type { Config } from '../core/config.ts';
import type { SkillIndex } from '../core/index-skills.ts';
import { locateInSkills } from '../core/locate.ts';
import { resolveSkill } from '../core/resolve-skill.ts';
import type { SessionSettings } from '../core/session.ts';
import { isForModel } from '../core/skill.ts';
import type { Offer, Vocabulary } from '../core/tool.ts';
import { findVocabulary } from '../dialect/vocabularies.ts';
import type { VocabularyName } from '../dialect/vocabularies.ts';
import type { Execution, ExecutionOptions, ExecutionPlaces } from './execution/execution.ts';
import { bodyLimits } from './perform.ts';
import type { ActionContext } from './perform.ts';
import { openSession } from './session.ts';
import type { Session } from './session.ts';

export interface SessionOptions extends Partial<SessionSettings> {
  /** Whose tools: `skillwright`, `openseed`, `trpc`, `manusx`, `skills-agent`, or one of your own. */
  readonly vocabulary?: VocabularyName | Vocabulary;
  /** How level 1 is written and what it may cost; `search`: only what is pinned, the rest is found by searching. */
  readonly catalog?: 'search' | Partial<CatalogOptions>;
  /** Lets programs run. Without it nothing does, and no tool that runs anything is offered. */
  readonly execution?: ExecutionOptions;
}

export interface SessionSource {
  readonly config: Config;
  readonly index: SkillIndex;
  readonly search: ActionContext['search'];
  readonly places: Omit<ExecutionPlaces, 'findSkill'>;
  readonly catalog: (index: SkillIndex, options: Partial<CatalogOptions>) => Catalog;
}

export async function startSession(source: SessionSource, options: SessionOptions): Promise<Session> {
  const { config, index, search } = source;
  const vocabulary = findVocabulary(options.vocabulary ?? 'skillwright');
  const settings: SessionSettings = {
    lifetime: options.lifetime ?? config.session?.lifetime ?? 'turn',
    maxLoaded: options.maxLoaded ?? config.session?.max_loaded ?? 8,
    placement: options.placement ?? config.session?.placement ?? 'tool-results',
  };
  const execution = options.execution === undefined ? undefined : await execute(source, options.execution);
  const offer = offerOf(index, settings, execution);
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
    offer,
    actions: { limits: bodyLimits(config), search, execution },
    planCatalog: (budget) => source.catalog(index, { ...catalogOptions, ...(budget === undefined ? {} : { budget }) }),
  });
}

/** What the tools of a session are made from. It depends on the snapshot and the settings alone, so that prompts stay cacheable. */
function offerOf(index: SkillIndex, { placement }: SessionSettings, execution: Execution | undefined): Offer {
  const skills = index.skills.filter(({ state }) => isForModel(state)).map(({ name }) => name);
  return {
    skills,
    placement,
    ...(execution === undefined ? {} : { execution: { hasInteraction: execution.executor !== 'macos' } }),
    locate: (path) => locateInSkills(index, path),
  };
}

/** What runs programs is loaded only where programs may run. */
async function execute({ config, index, places }: SessionSource, options: ExecutionOptions): Promise<Execution> {
  const { openExecution } = await import('./execution/execution.ts');
  const { executor = 'auto', image } = config.execution ?? {};
  const configured = { executor, ...(image === undefined ? {} : { container: { image } }) };
  return openExecution({ ...configured, ...options }, { ...places, findSkill: (name) => resolveSkill(index, name) });
}
