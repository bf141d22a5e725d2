import {
  SETTINGS,
  valueAt,
  readHostPattern,
  isObject,
  type Config,
  type HostPattern,
  type Profile,
  isProblem,
  namedIsolation,
  isProjectSource,
  isWeaker,
} from '#core';

/**
 * What a project file may do to a setting. The file comes with the project and may be untrusted, so each rule has a direction:
 *
 *     narrows     adds           union of both lists
 *                 least          the smaller number
 *                 on             true if either is true
 *                 off            false if either is false
 *                 within         the intersection of both lists
 *                 isolates       any isolating executor, if the user chose none; never `local` and `landlock`
 *                 strictest      the stricter of two values
 *                 apart          policy rules: kept per layer and evaluated by the policy
 *                 offline        only models without a provider: `mock` and `rules`
 *     offers      precedes       the project's entries come before the user's; they need trust
 *                 own            entries that apply only to skills of the project, and where the user has none
 *                 hides          visibility: of other skills only less than the user left them
 *     presents    replaces       how something is shown, never what is allowed: the project overrides the user
 *     forbidden   never          only the user may set it
 */
export type OverrideRule =
  | 'replaces'
  | 'precedes'
  | 'own'
  | 'hides'
  | 'adds'
  | 'least'
  | 'on'
  | 'off'
  | 'within'
  | 'isolates'
  | 'apart'
  | 'offline'
  | 'never'
  | { readonly strictest: readonly string[]; readonly unset?: string };

/** A setting of the schema without a rule does not compile. A test checks that `strictest` has all values of its setting. */
const RULES = {
  // Its defaults are narrowed like settings of the file.
  vocabulary: 'replaces',
  skill_roots: 'precedes',
  builtin: 'off',
  use_default_roots: 'off',
  skill_visibility: 'hides',
  'scan.max_depth': 'least',
  'scan.max_directories': 'least',
  'scan.nested_in_skills': 'off',
  'format.mode': { strictest: ['strict', 'lenient'] },
  'catalog.budget_tokens': 'least',
  'catalog.format': 'replaces',
  'session.lifetime': 'replaces',
  'session.max_loaded': 'least',
  'session.placement': 'replaces',
  'cache.enabled': 'off',
  // The provider receives the user's key and prompts.
  'model.provider': 'offline',
  'model.params': 'replaces',
  'execution.executor': 'isolates',
  'execution.allow_weaker': 'never',
  // The programs of an image get the files and secrets of the user's skills.
  'execution.image': 'never',
  // Another runtime may isolate less.
  'execution.runtime': 'never',
  'execution.network': 'within',
  'execution.require_approval_for': 'adds',
  // The default depends on the command; the strictest of them counts.
  'sandbox.project': { strictest: ['none', 'read', 'write'], unset: 'none' },
  'packages.environments': 'own',
  'packages.skills': 'own',
  'packages.offline': 'on',
  'packages.hosts': 'never',
  'security.max_skill_body_lines': 'least',
  'security.max_skill_body_characters': 'least',
  'security.max_resource_characters': 'least',
  'security.max_documents_characters': 'least',
  'security.oversized_body': { strictest: ['refuse', 'cut'] },
  'security.block_angle_brackets_in_frontmatter': 'on',
  // Skills in the home folder need no trust.
  'install.scope': { strictest: ['project', 'user'] },
  'install.require_signed': 'on',
  // A project must not choose the rules that check it.
  'install.scan_policy': 'never',
  'install.scan_allow': 'never',
  'install.allow_http': 'never',
  'install.allow_private_addresses': 'never',
  'install.archive.max_archive_bytes': 'least',
  'install.archive.max_entries': 'least',
  'install.archive.max_bytes': 'least',
  'install.archive.max_file_bytes': 'least',
  'install.archive.max_ratio': 'least',
  'install.archive.max_depth': 'least',
  'policy.default.low': { strictest: ['deny', 'ask', 'allow'] },
  'policy.default.medium': { strictest: ['deny', 'ask', 'allow'] },
  'policy.default.high': { strictest: ['deny', 'ask', 'allow'] },
  'policy.allow': 'apart',
  'policy.ask': 'apart',
  'policy.deny': 'apart',
  'policy.include': 'apart',
  'policy.allowed_tools': { strictest: ['restrict', 'grant', 'both', 'ignore'] },
  'policy.sandboxed': { strictest: ['ask', 'allow'] },
  'trust.bind': 'never',
  secrets: 'never',
  // A server is a program that is started, or an address that gets what the model writes.
  mcp_servers: 'never',
  'runs.enabled': 'on',
  'runs.directory': 'replaces',
  'runs.sync': { strictest: ['each', 'none'] },
  // A project decides what its own evaluations must reach.
  'evals.thresholds.pass_rate': 'replaces',
  'evals.thresholds.errors': 'replaces',
  'evals.thresholds.precision': 'replaces',
  'evals.thresholds.recall': 'replaces',
  'evals.thresholds.difference': 'replaces',
  'evals.thresholds.tokens': 'replaces',
  'evals.thresholds.usd': 'replaces',
  'evals.thresholds.seconds': 'replaces',
  'evals.prices': 'replaces',
  'telemetry.endpoint': 'never',
  'telemetry.headers': 'never',
} satisfies Readonly<Record<(typeof SETTINGS)[number]['key'], OverrideRule>>;

export const OVERRIDE_RULES: Readonly<Record<string, OverrideRule>> = RULES;

/** Whether what a project says is kept apart from the user's, because it depends on the skill what it means. */
export function isAboutSkills(key: string): boolean {
  const rule = findOverrideRule(key);
  return rule === 'own' || rule === 'hides';
}

/** Unlisted settings are not allowed in project files. */
export function findOverrideRule(key: string): OverrideRule {
  return Object.hasOwn(OVERRIDE_RULES, key) ? (OVERRIDE_RULES[key] ?? 'never') : 'never';
}

export interface Narrowed {
  readonly value: unknown;
  readonly counts: 'below' | 'project' | 'both';
  /** The project requested more than it gets. */
  readonly isWider: boolean;
}

/** Combines the value of the layers below with the value of the project. */
export function narrow(override: OverrideRule, below: unknown, project: unknown): Narrowed {
  const own: Narrowed = { value: project, counts: 'project', isWider: false };
  const kept: Narrowed = { value: below, counts: 'below', isWider: below !== project };
  if (typeof override === 'object') {
    const { strictest, unset } = override;
    const allowed = below ?? unset;
    return allowed === undefined || rank(strictest, project) <= rank(strictest, allowed) ? own : kept;
  }
  switch (override) {
    case 'replaces':
    case 'own':
    case 'hides':
      return own;
    case 'precedes':
    case 'apart':
      return below === undefined ? own : { ...own, value: [...toList(project), ...toList(below)], counts: 'both' };
    case 'adds':
      return {
        ...own,
        value: [...new Set([...toList(below), ...toList(project)])],
        counts: below === undefined ? 'project' : 'both',
      };
    case 'least':
      return below === undefined || Number(project) <= Number(below) ? own : kept;
    case 'on':
      return project === true ? own : { ...kept, isWider: below === true };
    case 'off':
      return project === false ? own : { ...kept, isWider: below === false };
    case 'within':
      return within(toList(below), toList(project));
    case 'isolates': {
      const [isolation, user] = [namedIsolation(project), namedIsolation(below)];
      if (isolation === 'none') return user === 'none' ? own : kept;
      if (user === 'none' || isWeaker(user)) return own;
      return !isWeaker(isolation) && [undefined, 'auto', project].includes(below) ? own : kept;
    }
    case 'offline':
      return isOffline(project) ? own : { ...kept, isWider: false };
    case 'never':
      return { ...kept, isWider: false };
  }
}

/** Models that send nothing anywhere. */
function isOffline(provider: unknown): boolean {
  return provider === 'mock' || provider === 'rules';
}

/** Unknown values count as the least strict. */
function rank(row: readonly string[], value: unknown): number {
  const at = row.findIndex((word) => word === value);
  return at === -1 ? row.length : at;
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Intersects two host lists, keeping the narrower pattern. */
function within(below: readonly unknown[], project: readonly unknown[]): Narrowed {
  const grants = [below, project].map((list) =>
    list.map((text) => readHostPattern(String(text))).flatMap((read) => (isProblem(read) ? [] : [read])),
  );
  const [users = [], projects = []] = grants;
  const kept = projects.filter((grant) => users.some((wider) => covers(wider, grant)));
  const more = users.filter((grant) => projects.some((wider) => covers(wider, grant)));
  return {
    value: [...new Set([...kept, ...more].map(({ text }) => text))],
    counts: 'project',
    isWider: kept.length < projects.length,
  };
}

function covers(wider: HostPattern, grant: HostPattern): boolean {
  const isHost =
    wider.kind === 'below'
      ? grant.kind !== 'address' &&
        (grant.host.endsWith(`.${wider.host}`) || (grant.kind === 'below' && grant.host === wider.host))
      : wider.kind === grant.kind && wider.host === grant.host;
  const { ports } = wider;
  const isPort = ports === 'all' || (grant.ports !== 'all' && grant.ports.every((port) => ports.includes(port)));
  return isHost && isPort && (wider.isPrivate || !grant.isPrivate);
}

/** Paths in a project file that only the user may set. */
export function userOnlyPaths(config: Config): readonly (readonly string[])[] {
  const whole = SETTINGS.filter(
    ({ key, path }) => findOverrideRule(key) === 'never' && valueAt(config, path) !== undefined,
  );
  // With `turns`, the project would decide what the model does.
  const params = Object.entries(config.model?.params ?? {}).filter(
    ([key, value]) => key === 'turns' || isSteering(key, value),
  );
  const { executor } = config.execution ?? {};
  const { allowed_tools: use, sandboxed } = config.policy ?? {};
  const { directory } = config.runs ?? {};
  const { provider } = config.model ?? {};
  return [
    ...(provider === undefined || isOffline(provider) ? [] : [['model', 'provider']]),
    ...whole.map(({ path }) => path),
    ...params.map(([key]) => ['model', 'params', key]),
    ...(namedIsolation(executor) === 'none' ? [['execution', 'executor']] : []),
    ...(use === undefined || use === 'restrict' ? [] : [['policy', 'allowed_tools']]),
    ...(sandboxed === 'allow' ? [['policy', 'sandboxed']] : []),
    ...(directory === undefined || isBelow(directory) ? [] : [['runs', 'directory']]),
    ...(config.skill_roots ?? []).flatMap((root, at) =>
      typeof root === 'string' || root.source === undefined || isProjectSource(root.source)
        ? []
        : [['skill_roots', String(at), 'source']],
    ),
    ...Object.keys(config.packages?.skills ?? {})
      .filter((key) => key.includes('/') && !isProjectSource(key.slice(0, key.indexOf('/'))))
      .map((key) => ['packages', 'skills', key]),
  ];
}

/** Whether only the user may set something in this configuration. */
export function isReservedForUser(config: Config): boolean {
  return userOnlyPaths(config).length > 0;
}

const STEERING = /url|uri|endpoint|host|proxy|socket|header|auth|credential|secret|password|api.?key|command/i;

/** Parameters that choose the endpoint or credentials of a model. A project could use them to send the user's key and prompts elsewhere. */
export function isSteering(key: string, value: unknown): boolean {
  if (STEERING.test(key)) return true;
  if (Array.isArray(value)) return value.some((item) => isSteering('', item));
  return isObject(value) && Object.entries(value).some(([name, item]) => isSteering(name, item));
}

/** Whether a path stays below its starting folder on every operating system. */
function isBelow(path: string): boolean {
  return !/^[/\\~]|^[A-Za-z]:|\\|\0/.test(path) && !path.split('/').includes('..');
}

/**
 * The profile of a vocabulary that a project chose, where `own` is what would apply without the project: it never offers, scans or
 * tolerates more. `isStrict` says for which of the two the format is strict, because a lenient one tolerates everything.
 * `usesUserFolders`: the skill folders in the home folder count anyway, so the one that the vocabulary names is no gain.
 */
export function narrowProfile(
  own: Profile,
  chosen: Profile,
  isStrict: { readonly own: boolean; readonly chosen: boolean },
  usesUserFolders: boolean,
): Profile {
  const tolerates = isStrict.own && !isStrict.chosen ? own.tolerates : chosen.tolerates;
  return {
    ...chosen,
    offersPrograms: own.offersPrograms && chosen.offersPrograms,
    loadsPerTurn: own.loadsPerTurn === undefined ? undefined : chosen.loadsPerTurn,
    writesAreHighRisk: own.writesAreHighRisk ?? chosen.writesAreHighRisk,
    unusable: [...new Set([...(own.unusable ?? []), ...(chosen.unusable ?? [])])],
    unlisted: chosen.unlisted?.filter((code) => own.unusable?.includes(code) !== true || own.unlisted?.includes(code)),
    tolerates: isStrict.own ? tolerates?.filter((code) => own.tolerates?.includes(code)) : tolerates,
    installFolder: chosen.installFolder && {
      ...chosen.installFolder,
      user: usesUserFolders ? chosen.installFolder.user : own.installFolder?.user,
    },
  };
}
