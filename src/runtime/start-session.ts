import {
  defined,
  executorTraits,
  isForModel,
  isProblem,
  packageArgument,
  readPackage,
  type Action,
  type Approve,
  type Config,
  type LoadedConfig,
  type Observation,
  type Offer,
  type RunEvent,
  type Surroundings,
  type ToolServers,
  type Vocabulary,
  type SessionState,
  namedIsolation,
  type VocabularyName,
  type Profile,
} from '#core';
import type { Catalog, SkillIndex, planCatalog } from '#skills';
import { decide, openPolicies, openRunAnswers, type Policy } from '#policy';
import { openVocabulary } from '#tools';
import { chooseProfile, findProfile } from '#tools/profiles';
import { openTreeDigests, realPath, thisProcess, type LockOwner } from '#platform';
import { runsDirectory } from '#journal';
import { isProjectFile, locateInCommand, locateInSkills } from './locate.ts';
import { openMeasuredTexts, type MeasureText } from './measured-texts.ts';
import type { Execution, ExecutionOptions } from '#sandbox';
import type { ActionSettings, HostAccess, ProgramPlaces, Recall, SessionServers } from './action-context.ts';
import { performAction } from './perform.ts';
import { openSecrets, type Secrets } from './secrets/secrets.ts';
import { openSession, type PerformOptions, type Session } from './session.ts';
import { readingLimits, withBodyLimits } from './skill-actions.ts';
import type { SkillSearch } from './search/skill-search.ts';
import { openClosedFolders } from './find-target.ts';
import { openSkillTrust } from './open-skill-trust.ts';
import { missingDependencies } from './missing-dependencies.ts';
import { usableSkills } from './unusable-skills.ts';
import type { Tracer } from './tracer.ts';
import { trustedIndex, type SkillTrust } from './skill-trust.ts';

type CatalogOptions = Parameters<typeof planCatalog>[1];

export interface HostOptions {
  /** The project whose files may be used (default: the working directory of the runtime). */
  readonly project?: string;
  /** Whether servers may be asked, as far as rules allow (default: true). */
  readonly network?: boolean;
}

export interface SessionOptions extends Partial<SessionState['settings']> {
  /**
   * Tool vocabulary: `skillwright`, `openseed`, `trpc`, `manusx`, `skills-agent`, or a custom one (default: that of the configuration). Of
   * its settings only those in `session` apply here; the others belong to the runtime, which has an option of the same name.
   */
  readonly vocabulary?: VocabularyName | Vocabulary;
  /** Format and budget of level 1; `search` lists only pinned skills, the rest is found by searching. */
  readonly catalog?: 'search' | Partial<CatalogOptions>;
  /** Offers the tools about skills also if there is no skill, for runs that are compared with runs that have one. */
  readonly keepsTools?: boolean;
  /** Enables programs. Without it no tool that runs programs is offered. */
  readonly execution?: ExecutionOptions;
  /** Enables project files and network requests, subject to rules. */
  readonly host?: HostOptions;
  /** MCP servers whose tools are offered, from `openToolServers` of `skillwright/mcp`. The caller closes them. */
  readonly servers?: ToolServers;
  /** Restricts the configured policy, and grants what the program opens itself. */
  readonly policy?: Parameters<ReturnType<typeof openPolicies>>[0];
  /** Called if a rule requires approval. Without it such actions fail. */
  readonly approve?: Approve;
  /** Receives every event before it takes effect. If it throws, the step is not done. */
  readonly record?: (event: RunEvent) => void;
  /** Traces calls to the configured endpoint, and to a tracer (default: that of the program's OpenTelemetry, if it is set up). */
  readonly tracing?: { readonly tracer?: Tracer; readonly conversation?: string };
  /** Called before effects that others can see, for recorders that buffer. If it throws, the step is not done. */
  readonly flush?: () => void;
  /** The parent session; this one never has more rights. */
  readonly parent?: Session;
  /**
   * The caller keeps the whole conversation, or reports with `compact` what it drops. Then loaded instructions are never sent twice;
   * otherwise every second repeated load returns them again.
   */
  readonly keepsConversation?: boolean;
  /** Provides recorded outcomes: they are recorded again instead of performing the action. */
  readonly recall?: Recall;
  /** Awaited before each action with effects. */
  readonly settle?: () => Promise<void>;
}

/** The constant input of session sources. */
export interface SessionSourceParts {
  readonly surroundings: Surroundings;
  readonly loaded: LoadedConfig;
  /** Folders of skills whose files are known to be untrusted. */
  readonly untrusted: ReadonlySet<string>;
  /** Folders whose skills need no trust. */
  readonly vouched: readonly string[];
  /** The project in approvals, instead of the real path of its folder. */
  readonly approvalProject: string | undefined;
  readonly places: ProgramPlaces;
  readonly search: SkillSearch;
  readonly catalog: (index: SkillIndex, options: Partial<CatalogOptions>) => Catalog;
  /** Why a model is offered no skill. */
  readonly explainEmpty: () => Promise<string | undefined>;
  /** Skill roots of sources that are not used; models cannot read them as files either. */
  readonly otherRoots: readonly string[];
}

/** Everything that sessions of one runtime are created from. */
export interface SessionSource extends SessionSourceParts {
  readonly config: Config;
  readonly index: SkillIndex;
  readonly project: string;
  readonly policy: ReturnType<typeof openPolicies>;
  readonly secrets: Secrets;
  readonly trust: SkillTrust;
  /** Tree digests, cached for all sessions and revalidated on each use. */
  readonly digests: ReturnType<typeof openTreeDigests>;
  readonly measureText: MeasureText;
  /** This process, as records identify it. */
  readonly owner: () => LockOwner;
}

/** Creates the source for a snapshot; everything independent of it is created once. */
export type SessionSources = (index: SkillIndex) => SessionSource;

export function openSessionSources(parts: SessionSourceParts): SessionSources {
  const { surroundings, loaded } = parts;
  const policy = openPolicies(loaded, surroundings.home);
  const digests = openTreeDigests();
  const measureText = openMeasuredTexts();
  let owner: LockOwner | undefined;
  return (snapshot) => {
    const trust = openSkillTrust({
      home: surroundings.home,
      loaded,
      vouched: parts.vouched,
      digests: async () => digests,
    });
    const index = trustedIndex(snapshot, trust, parts.untrusted);
    return {
      ...parts,
      config: loaded.config,
      index,
      project: surroundings.cwd,
      policy,
      trust,
      digests,
      measureText,
      owner: () => (owner ??= thisProcess()),
      secrets: openSecrets(loaded.config.secrets ?? {}, surroundings),
    };
  };
}

export async function startSession(source: SessionSource, options: SessionOptions): Promise<Session> {
  const { config } = source;
  const actions = actionSettings(source, options);
  const { vocabulary, servers } = await withServers(source, options, actions.policy);
  const profile = chooseProfile(options.vocabulary, { config, profile: source.loaded.profile });
  const usable = usableSkills(source.index, profile);
  const index = usable === source.index ? usable : trustedIndex(usable, source.trust, source.untrusted);
  const isConfigured = profile === source.loaded.profile;
  // The settings of the configured vocabulary are part of the configuration, where those of a project are narrowed.
  const configured = isConfigured ? (config.session ?? {}) : { ...profile.settings?.session, ...config.session };
  const settings: SessionState['settings'] = {
    lifetime: options.lifetime ?? configured.lifetime ?? 'turn',
    maxLoaded: options.maxLoaded ?? configured.max_loaded ?? 8,
    placement: options.placement ?? configured.placement ?? 'tool-results',
    ...(options.keepsConversation === true ? { keepsConversation: true } : {}),
  };
  // The executors are loaded only if programs may run.
  const execution =
    options.execution === undefined
      ? undefined
      : await (
          await import('./execution/open-programs.ts')
        ).openPrograms({ ...source, index }, options.execution, { parent: options.parent, servers });
  const host = options.host === undefined ? undefined : hostAccess(source, options.host, profile);
  const known = { ...buildOffer(index, settings, execution, host), keepsTools: options.keepsTools };
  const offer: Offer = known.skills.length > 0 ? known : { ...known, emptyReason: await source.explainEmpty() };
  const offered = vocabulary.tools.filter((tool) => tool.isOffered(offer)).map(({ name }) => name);
  const catalogOptions: Partial<CatalogOptions> = {
    searchTool: vocabulary.searchTool,
    emptyReason: offer.emptyReason,
    format: chooseFormat(config, vocabulary),
    ...(options.catalog === 'search' ? { budget: 0 } : options.catalog),
  };
  const session = openSession({
    settings,
    vocabulary,
    guidance: vocabulary.guidance(offered, offer),
    offer,
    record: options.record,
    flush: options.flush,
    actions: {
      ...actions,
      ...(isConfigured ? { limits: withBodyLimits(actions.limits) } : {}),
      missing: (skill) => missingDependencies(skill, { config, env: source.surroundings.env, tools: offered }),
      index,
      execution,
      host,
      servers,
      recall: options.recall,
      settle: options.settle,
    },
    planCatalog: (budget) => source.catalog(index, { ...catalogOptions, ...defined({ budget }) }),
  });
  RUN_ANSWERS.set(session, actions.runAnswers);
  return session;
}

/** A child session belongs to the run of its parent. */
const RUN_ANSWERS = new WeakMap<Session, ReturnType<typeof openRunAnswers>>();

interface ServedVocabulary {
  readonly vocabulary: Vocabulary;
  readonly servers: SessionServers | undefined;
}

/** The vocabulary with the tools of MCP servers; those that a rule denies are not offered. Servers that cannot be used are noted in the record. */
async function withServers(
  { secrets, config }: SessionSource,
  { servers, record, vocabulary = config.vocabulary ?? 'skillwright' }: SessionOptions,
  policy: Policy,
): Promise<ServedVocabulary> {
  if (servers === undefined) return { vocabulary: openVocabulary(vocabulary), servers: undefined };
  const services = { secrets: secrets.values };
  const { tools, problems } = await servers.open(services);
  for (const message of problems) record?.({ type: 'note', message });
  const isDenied = (name: string): boolean =>
    decide(policy, [{ tool: name, subject: { kind: 'none' } }]).effect === 'deny';
  return {
    vocabulary: openVocabulary(vocabulary, tools, isDenied),
    servers: {
      call: (action, signal) => servers.call(action, { ...services, signal }),
      openSkill: (skill, wanted, signal) => servers.openSkill(skill, { ...services, wanted, signal }),
      findSkill: (reference) => servers.findSkill(reference, services),
    },
  };
}

function hostAccess(
  { config, index, project: folder, otherRoots }: SessionSource,
  { project = folder, network = true }: NonNullable<SessionOptions['host']>,
  { writesAreHighRisk }: Profile,
): HostAccess {
  const records = [runsDirectory(folder, config.runs?.directory), `${project}/.agent/runs`, `${project}/.agent/evals`];
  const closed = openClosedFolders({ index, project, records, otherRoots });
  return { project, hasNetwork: network === true, closed, writesAreHighRisk };
}

/** Performs one action outside of a session: nothing remembers or records it. */
export function performSingle(
  source: SessionSource,
  action: Action,
  { askedBy = 'model', signal }: PerformOptions,
): Promise<Observation> {
  const journal = { isKept: false, nextCall: () => 1, record: () => undefined, flush: () => undefined };
  return performAction(action, { ...actionSettings(source, {}), askedBy, signal, state: undefined, journal });
}

function actionSettings(source: SessionSource, options: SessionOptions): ActionSettings {
  const { config, index, search, trust, digests, secrets, surroundings } = source;
  return {
    index,
    search,
    trust,
    digests,
    redactor: secrets.redactor,
    limits: readingLimits(config),
    policy: buildPolicy(source, options),
    allowedTools: allowedToolsUse(config.policy?.allowed_tools ?? 'restrict', options.parent),
    sandboxed: config.policy?.sandboxed ?? 'ask',
    project: source.approvalProject ?? realPath(options.host?.project ?? source.project),
    missing: (skill) => missingDependencies(skill, { config, env: surroundings.env }),
    approve: options.approve,
    runAnswers: (options.parent && RUN_ANSWERS.get(options.parent)) ?? openRunAnswers(),
    execution: undefined,
    host: undefined,
    servers: undefined,
  };
}

/** Skills of a child session cannot pre-approve anything. */
function allowedToolsUse(
  configured: NonNullable<NonNullable<Config['policy']>['allowed_tools']>,
  parent: Session | undefined,
): NonNullable<NonNullable<Config['policy']>['allowed_tools']> {
  if (parent === undefined) return configured;
  return configured === 'restrict' || configured === 'both' ? 'restrict' : 'ignore';
}

function buildPolicy(
  { policy, config }: SessionSource,
  { policy: session = {}, execution, parent, vocabulary }: SessionOptions,
): Policy {
  const tools = typeof vocabulary === 'object' ? vocabulary.tools : [];
  return parent === undefined
    ? policy(session, { opened: execution === undefined ? [] : openedBy(execution, config), tools })
    : policy(session, { parent: parent.policy, tools });
}

/** Enabling execution allows running programs, and the host inputs, hosts, secrets, packages and executor that were named with it. */
function openedBy(execution: ExecutionOptions, config: Config): readonly string[] {
  const executor = execution.executor ?? config.execution?.executor;
  // A person who names a package wants it installed, also where each program is asked about.
  const packages = (execution.packages?.with ?? []).map((text) => {
    const read = readPackage(text);
    return `install_packages(${isProblem(read) ? text : packageArgument({ ...read, text: read.name })})`;
  });
  if (execution.opens !== undefined && execution.opens !== true) return packages;
  const files = (execution.hostInputs ?? []).map((file) => file.replace(/(?<!^)\/+$/, ''));
  return [
    'run_script',
    'run_command',
    'use_network',
    'use_secret',
    // Programs write there anyway.
    'write_file(workspace://**)',
    ...files.flatMap((file) => [`host_input(${file})`, `host_input(${file === '/' ? '' : file}/**)`]),
    ...(namedIsolation(executor) === 'none' || isOwnExecutor(executor) ? ['unsafe_local'] : []),
    ...packages,
  ];
}

/** A caller that passes its own executor is responsible for its isolation, like one that names `local`. */
function isOwnExecutor(executor: ExecutionOptions['executor']): boolean {
  return typeof executor === 'object' && namedIsolation(executor.name) === undefined;
}

/** The offer depends only on the snapshot and the settings, so that prompts stay cacheable. */
function buildOffer(
  index: SkillIndex,
  { placement }: SessionState['settings'],
  execution: Execution | undefined,
  host: HostAccess | undefined,
): Offer {
  const offered = index.skills.filter(({ state }) => isForModel(state));
  return {
    skills: offered.map(({ name }) => name),
    folders: offered.map(({ dir }) => dir.slice(dir.lastIndexOf('/') + 1)),
    placement,
    // The session replaces this by its own state.
    loaded: () => [],
    execution: execution === undefined ? undefined : executionOffer(execution),
    host:
      host === undefined
        ? undefined
        : { hasNetwork: host.hasNetwork, hasFile: (file) => isProjectFile(index, host.project, file) },
    locate: (path) => locateInSkills(index, path),
    locateInCommand: (command) => locateInCommand(index, command),
  };
}

function executionOffer({ executor, mounts, packages }: Execution): NonNullable<Offer['execution']> {
  const project = mounts.find(({ isProject }) => isProject)?.access;
  return {
    hasInteraction: executorTraits(executor).hasInteraction,
    hasPackages: packages.isAvailable,
    project,
  };
}

/** A format that the configuration sets, not the vocabulary of the configuration, beats the one of the session's vocabulary. */
function chooseFormat(
  { catalog, vocabulary }: Config,
  { catalogFormat }: Vocabulary,
): Parameters<typeof planCatalog>[1]['format'] {
  const inherited = findProfile(vocabulary).settings?.catalog?.format;
  const own = catalog?.format === inherited ? undefined : catalog?.format;
  return own ?? catalogFormat ?? 'xml';
}
