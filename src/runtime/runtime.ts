import path from 'node:path';

import {
  diagnose,
  OWN_SOURCES,
  SkillError,
  typedWord,
  type Action,
  type Config,
  type Diagnostic,
  type LoadedConfig,
  type Profile,
  type Mode,
  type Observation,
  type SkillEntry,
  type SkillRoot,
  type Surroundings,
  type VocabularyName,
} from '#core';
import {
  cacheFileName,
  nearestNames,
  openRegistry,
  planCatalog,
  resolveSkill,
  type Catalog,
  type SkillIndex,
} from '#skills';
import { findPlugins, projectTop, recordFolders } from './roots.ts';
import { cacheDirectory } from '#platform';
import type { ListedDigests } from '#platform/listed-digests';
import { findRoots, recoverInterrupted, type RootOptions, type RootServices } from './find-roots.ts';
import { missingDependencies } from './missing-dependencies.ts';
import { openUsableIndex } from './unusable-skills.ts';
import { explainEmpty } from './empty-reason.ts';
import { loadConfig, readSurroundings } from './config/config.ts';
import type { ProgramPlaces } from './action-context.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { PerformOptions, Session } from './session.ts';
import type { SearchOptions, SearchResult, SkillSearch } from './search/skill-search.ts';
import { untrustedSkills, type Distrust, type DistrustOptions, type SkillTrust } from './skill-trust.ts';
import type { Run, RunOptions } from './start-run.ts';
import type { SessionOptions, SessionSource, SessionSources } from './start-session.ts';

type RegistryOptions = Parameters<typeof openRegistry>[0];

export interface RuntimeOptions extends Partial<Surroundings>, RootOptions {
  /** Replaces the project's `.agent/config.json`; `false` reads no configuration file. */
  readonly configFile?: string | false;
  /** Overrides all files and variables. */
  readonly config?: Config;
  /** The agent system whose tools, names, defaults and folders apply; overrides `vocabulary` of the configuration. */
  readonly vocabulary?: VocabularyName;
  /** The vocabulary of a record that is continued. A record grants nothing: like those of a project, its defaults cannot loosen a setting. */
  readonly recordedVocabulary?: VocabularyName;
  /** Folders that the calling program vouches for; their skills need no trust. */
  readonly vouched?: readonly string[];
  /** The project that approvals are bound to, for runs that move between machines (default: the real path of its folder). */
  readonly approvalProject?: string;
  /** Cache the index between runs (default: true). */
  readonly cache?: boolean;
  readonly mode?: Mode;
  readonly nestedInSkills?: boolean;
  /** Explain the decision about each folder in `index.explain`. */
  readonly explain?: boolean;
  readonly onProgress?: (progress: Parameters<NonNullable<RegistryOptions['onProgress']>>[0]) => void;
  /** Receives once each what went wrong without stopping a run: the home folder could not remember that it was recorded. */
  readonly onWarning?: (message: string) => void;
}

interface RuntimeCatalogOptions extends Partial<Parameters<typeof planCatalog>[1]> {
  /** Folders of skills to leave out, such as the result of `distrust`. */
  readonly without?: ReadonlyMap<string, unknown>;
}

/** Skills, configuration and sessions for one working directory. */
export interface Runtime {
  readonly config: Config;
  /** What the vocabulary of the configuration sets beside its tools. */
  readonly profile: Profile;
  readonly configFiles: LoadedConfig['files'];
  readonly roots: readonly SkillRoot[];
  /** The current snapshot. It changes only with `refresh` and inside `registry.watch`. */
  readonly index: SkillIndex;
  readonly registry: Awaited<ReturnType<typeof openRegistry>>;
  readonly cacheDir: string | undefined;
  /** The Agent Plugins of the project and of the home folder, as they are now. Their servers need trust of their own. */
  plugins(): ReturnType<typeof findPlugins>;
  /** Folders for workspaces and artifacts. */
  readonly executionPlaces: ProgramPlaces;
  /** Problems with the configuration, the roots and the skills. */
  readonly diagnostics: readonly Diagnostic[];
  /** Resolves a skill; throws `skill/unknown` with the nearest names. */
  find(reference: string, source?: string): SkillEntry;
  /** Searches name and description and returns the best `n` skills (default: 5). Uses no network and no model. */
  searchSkills(query: string, n?: number, options?: SearchOptions): Promise<readonly SearchResult[]>;
  /** Level 1 as a model sees it; budget and format default to the configuration. */
  catalog(options?: RuntimeCatalogOptions): Catalog;
  refresh(): Promise<SkillIndex>;
  /**
   * The skills that no model may use until a person trusts them, by folder (POL-5). After a check of their files, sessions also leave out
   * the descriptions of those that it found.
   */
  distrust(skills: readonly SkillEntry[], options?: DistrustOptions): Promise<ReadonlyMap<string, Distrust>>;
  /** Why a model is offered no skill, such as that all are untrusted, and what to do; undefined if it is offered one. */
  explainEmpty(): Promise<string | undefined>;
  /** What a skill says in `dependencies` that it needs, and that is not on this machine. Without `tools`, any tool may exist. */
  missing(skill: SkillEntry, tools?: readonly string[]): readonly string[];
  /** Trusts these skills in sessions that this runtime starts from now on. Nothing is stored. */
  vouch(skills: readonly SkillEntry[]): void;
  /** Performs one action outside of a session. */
  perform(action: Action, options?: PerformOptions): Promise<Observation>;
  /** Starts a session over the current snapshot. */
  startSession(options?: SessionOptions): Promise<Session>;
  /** Starts a session whose events are recorded. */
  startRun(options: RunOptions): Promise<Run>;
}

/**
 * Loads roots, configuration and skills; the composition root. `packs/open-runtime.ts` passes the services.
 */
export async function createRuntime(options: RuntimeOptions = {}, services?: RootServices): Promise<Runtime> {
  const surroundings = readSurroundings(options);
  const warned = new Set<string>();
  const onWarning = (message: string): void => {
    if (!warned.has(message)) options.onWarning?.(message);
    warned.add(message);
  };
  const { vocabulary, recordedVocabulary } = options;
  const override = vocabulary === undefined ? options.config : { ...options.config, vocabulary };
  const loaded = await loadConfig(
    surroundings,
    options.configFile,
    override === undefined && recordedVocabulary === undefined
      ? undefined
      : { config: override ?? {}, where: 'options', recordedVocabulary },
  );
  const cacheDir =
    options.cache === false || loaded.config.cache?.enabled === false ? undefined : cacheDirectory(surroundings);
  const {
    all: allRoots,
    used: roots,
    named,
    diagnostics: rootDiagnostics,
  } = await findRoots(options, { surroundings, config: loaded.config, profile: loaded.profile, services, cacheDir });
  const interrupted = await recoverInterrupted(allRoots, services?.recover, options.signal);
  const scanOptions = registryOptions(options, loaded, roots, cacheDir);
  const registry = await openRegistry(scanOptions);
  const isOwn = (skills: readonly SkillEntry[]): boolean =>
    loaded.namedRoots.project.length === 0 && skills.every(({ source }) => OWN_SOURCES.has(source));
  const openTrust = async (): Promise<SkillTrust> => {
    const { openSkillTrust } = await import('./open-skill-trust.ts');
    return openSkillTrust({ home: surroundings.home, loaded, vouched, digests: listedDigests });
  };
  const usable = openUsableIndex({
    // `check` asks for all skills, whatever a system can use.
    profile: options.mode === undefined ? loaded.profile : undefined,
    async openTrust() {
      if (isOwn(registry.index.all)) return () => true;
      const trust = await openTrust();
      return (skill) => trust.distrustByHead(skill) === undefined;
    },
  });
  const search = lazySearch(cacheDir);
  const hasConventions = options.onlyRoots !== true && loaded.config.use_default_roots !== false;
  const executionPlaces = {
    base: await temporaryFolder(surroundings.env, surroundings.home),
    artifacts: path.join(surroundings.cwd, '.agent/artifacts'),
    cacheDir,
    probed: new Map(),
    project: surroundings.cwd,
    records: recordFolders(surroundings.cwd, loaded.config.runs?.directory),
    engine: surroundings.env['DOCKER_HOST'],
    user: { env: surroundings.env, home: surroundings.home },
    mountRules: {
      home: surroundings.home,
      stateFolders: surroundings.home === undefined ? [] : [path.join(surroundings.home, '.agent')],
      skillRoots: allRoots.map((root) => root.path),
    },
  };

  const planIndexCatalog = (
    index: SkillIndex,
    { without = new Map(), ...catalogOptions }: RuntimeCatalogOptions = {},
  ): Catalog =>
    planCatalog(
      catalogItems(index).filter(({ dir }) => !without.has(dir)),
      { ...catalogDefaults(loaded.config), emptyReason: explainEmpty(index, without), ...catalogOptions },
    );
  // A root that the user names needs no trust, also if the project's file names it too.
  const vouched = [...(options.vouched ?? []), ...named].map((folder) => path.resolve(surroundings.cwd, folder));
  const untrusted = new Set<string>();
  let digests: Promise<ListedDigests> | undefined;
  const listedDigests = (): Promise<ListedDigests> =>
    (digests ??= import('#platform/listed-digests').then(({ openListedDigests }) =>
      openListedDigests(scanOptions.cacheFile?.replace(/skills-(\w+)\.cache$/, 'trees-$1.bin')),
    ));
  // Sessions read `vouched` and `untrusted` when they start.
  const parts = {
    surroundings,
    loaded,
    vouched,
    approvalProject: options.approvalProject,
    untrusted,
    places: executionPlaces,
    search,
    catalog: planIndexCatalog,
    otherRoots: allRoots.filter((root) => !roots.includes(root)).map((root) => root.path),
    explainEmpty: () => runtime.explainEmpty(),
  };
  await usable.learn(registry.index);
  // Sessions are loaded on first use, so that `list` starts fast.
  let opened: Promise<OpenedSessions> | undefined;
  const sessions = (): Promise<OpenedSessions> =>
    (opened ??= import('./start-session.ts').then(({ openSessionSources, startSession, performSingle }) => ({
      sourceOf: openSessionSources(parts),
      startSession,
      performSingle,
    })));
  let single: { readonly snapshot: SkillIndex; readonly source: SessionSource } | undefined;
  const runtime: Runtime = {
    config: loaded.config,
    profile: loaded.profile,
    configFiles: loaded.files,
    roots,
    registry,
    cacheDir,
    plugins: () => (hasConventions ? findPlugins(surroundings) : []),
    executionPlaces,
    get index() {
      return usable.of(registry.index);
    },
    get diagnostics() {
      return [
        ...loaded.diagnostics,
        ...rootDiagnostics,
        ...interrupted,
        ...unknownSkills(runtime.index),
        ...runtime.index.diagnostics,
      ];
    },
    find(reference, source) {
      return resolveSkill(runtime.index, reference, source) ?? throwUnknown(runtime.index, reference, source);
    },
    searchSkills: (query, n = 5, searchOptions = {}) => search(runtime.index, query, n, searchOptions),
    catalog: (catalogOptions) => planIndexCatalog(runtime.index, catalogOptions),
    refresh: async () => usable.learn(await registry.refresh()),
    async distrust(skills, distrustOptions = {}) {
      if (isOwn(skills)) return new Map();
      const top = projectTop(surroundings);
      const projects = [...(top === undefined ? [] : [top]), ...loaded.namedRoots.project];
      const found = await untrustedSkills(skills, await openTrust(), { ...distrustOptions, projects });
      (await digests)?.save();
      for (const { dir } of distrustOptions.files === true ? skills : [])
        if (found.has(dir)) untrusted.add(dir);
        else untrusted.delete(dir);
      return found;
    },
    async explainEmpty() {
      return explainEmpty(runtime.index, await runtime.distrust(runtime.index.skills));
    },
    missing: (skill, tools) => missingDependencies(skill, { config: loaded.config, env: surroundings.env, tools }),
    vouch(skills) {
      vouched.push(...skills.map(({ dir }) => dir));
      for (const { dir } of skills) untrusted.delete(dir);
      single = undefined;
    },
    async perform(action, performOptions = {}) {
      const { sourceOf, performSingle } = await sessions();
      // Checking trust for every skill is the expensive part; it is done once for each snapshot.
      if (single?.snapshot !== runtime.index) single = { snapshot: runtime.index, source: sourceOf(runtime.index) };
      return performSingle(single.source, action, performOptions);
    },
    async startRun(runOptions) {
      const [{ startRun }, { sourceOf }] = await Promise.all([import('./start-run.ts'), sessions()]);
      return startRun(sourceOf(registry.index), { ...surroundings, onWarning }, runOptions);
    },
    async startSession(sessionOptions = {}) {
      const { sourceOf, startSession } = await sessions();
      const source = sourceOf(registry.index);
      if (sessionOptions.tracing === undefined) return startSession(source, sessionOptions);
      return (await import('./start-run.ts')).startTracedSession(source, sessionOptions);
    },
  };
  return runtime;
}

interface OpenedSessions {
  readonly sourceOf: SessionSources;
  readonly startSession: (source: SessionSource, options: SessionOptions) => Promise<Session>;
  readonly performSingle: (source: SessionSource, action: Action, options: PerformOptions) => Promise<Observation>;
}

/** The search engine is loaded by the first search. */
function lazySearch(cacheDir: string | undefined): SkillSearch {
  let opened: Promise<SkillSearch> | undefined;
  return async (index, query, limit, options) => {
    opened ??= import('./search/skill-search.ts').then(({ openSkillSearch }) => openSkillSearch(cacheDir));
    const search = await opened;
    return search(index, query, limit, options);
  };
}

function registryOptions(
  options: RuntimeOptions,
  { config, profile, forOwnSkills }: LoadedConfig,
  roots: readonly SkillRoot[],
  cacheDir: string | undefined,
): RegistryOptions {
  const { tolerates = [] } = profile;
  const blocksBrackets = config.security?.block_angle_brackets_in_frontmatter;
  const registry: RegistryOptions = {
    roots,
    mode: options.mode ?? config.format?.mode ?? 'lenient',
    // `check` asks for strict diagnostics of all skills; the setting is about which skills are used.
    omitInvalid: options.mode === undefined && config.format?.mode === 'strict',
    // `false` lifts the rule of the strict format, too.
    tolerated: blocksBrackets === false ? [...tolerates, 'text/angle-brackets'] : tolerates,
    blockAngleBrackets: blocksBrackets ?? config.format?.mode === 'strict',
    visibility: config.skill_visibility ?? {},
    projectVisibility: forOwnSkills.skill_visibility,
    nestedInSkills: options.nestedInSkills ?? config.scan?.nested_in_skills ?? false,
    explain: options.explain ?? false,
    maxDepth: config.scan?.max_depth,
    maxDirectories: config.scan?.max_directories,
    signal: options.signal,
    onProgress: options.onProgress,
  };
  return cacheDir === undefined ? registry : { ...registry, cacheFile: path.join(cacheDir, cacheFileName(registry)) };
}

function catalogDefaults(config: Config): Parameters<typeof planCatalog>[1] {
  return {
    budget: config.catalog?.budget_tokens ?? 4_000,
    format: config.catalog?.format ?? 'xml',
    searchTool: 'search_skills',
  };
}

/** Adds the priority of the root; skills of higher priority stay in the catalog longest. */
function catalogItems(
  index: SkillIndex,
): readonly (Parameters<typeof planCatalog>[0][number] & { readonly dir: string })[] {
  const priorities = new Map<string, number>();
  for (const { source, priority } of index.report.roots)
    priorities.set(source, Math.max(priority, priorities.get(source) ?? 0));
  return index.skills.map(({ name, description, source, state, dir }) => ({
    dir,
    name,
    description,
    source,
    state,
    priority: priorities.get(source) ?? 0,
  }));
}

function unknownSkills({ report }: SkillIndex): readonly Diagnostic[] {
  return report.unusedVisibility.map((key) =>
    diagnose(
      { code: 'config/unknown-skill', path: 'skill_visibility', message: `${JSON.stringify(key)} matches no skill` },
      'lenient',
    ),
  );
}

function throwUnknown(index: SkillIndex, name: string, source: string | undefined): never {
  const leftOut = index.report.leftOut.find((one) => path.basename(path.dirname(one.path)) === name);
  if (leftOut !== undefined)
    throw new SkillError({
      code: 'skill/invalid',
      message: `the skill in the folder ${JSON.stringify(name)} is left out: ${leftOut.message}`,
      hint: `run skillwright check ${typedWord(path.dirname(leftOut.path))}`,
      data: { path: leftOut.path },
    });
  const near = nearestNames(index, name);
  throw new SkillError({
    code: 'skill/unknown',
    message: `there is no skill called ${JSON.stringify(name)}${source === undefined ? '' : ` in source ${JSON.stringify(source)}`}`,
    hint: near.length === 0 ? 'run `skillwright list`' : `did you mean ${near.join(', ')}?`,
    data: { name, nearest: near },
  });
}
