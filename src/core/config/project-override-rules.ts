import { RUN_SYNCS } from './config.ts';
import type { Config } from './config.ts';
import { SETTINGS, valueAt } from './config-settings.ts';
import { isHostPattern, readHostPattern } from '../network/host-pattern.ts';
import type { HostPattern } from '../network/host-pattern.ts';
import { isObject } from '../json/json-schema.ts';
import { ALLOWED_TOOLS_USES } from './policy-config.ts';
import { EFFECTS } from '../access.ts';

/**
 * What a project's file may do to a setting. It comes with the project, from whoever wrote that, so in all that is about safety it
 * may take away and never give.
 *
 *     replaces       nothing about safety: the project knows better
 *     precedes       its entries come before the user's
 *     adds           every entry that either has
 *     least          the smaller number
 *     on             what either turns on
 *     within         what both grant
 *     isolates       the executor: what isolates may be chosen where the user chose none; nothing is never
 *     strictest      the first of a row of words
 *     apart          rules: handed on with their origin and judged there
 *     never          the user's alone
 */
export type ProjectLaw =
  | 'replaces'
  | 'precedes'
  | 'adds'
  | 'least'
  | 'on'
  | 'within'
  | 'isolates'
  | 'apart'
  | 'never'
  | { readonly strictest: readonly string[] };

/** Every setting has its law; a test holds the two lists equal. */
export const PROJECT_LAWS: Readonly<Record<string, ProjectLaw>> = {
  skill_roots: 'precedes',
  use_default_roots: 'replaces',
  skill_visibility: 'replaces',
  'scan.max_depth': 'replaces',
  'scan.max_directories': 'replaces',
  'scan.nested_in_skills': 'replaces',
  'catalog.budget_tokens': 'replaces',
  'catalog.format': 'replaces',
  'session.lifetime': 'replaces',
  'session.max_loaded': 'replaces',
  'session.placement': 'replaces',
  'cache.enabled': 'replaces',
  // Whose server is asked decides who gets the user's key and words.
  'model.provider': 'never',
  'model.params': 'replaces',
  'execution.executor': 'isolates',
  'execution.image': 'replaces',
  'execution.network': 'within',
  'execution.require_approval_for': 'adds',
  'security.max_skill_body_lines': 'least',
  'security.max_skill_body_characters': 'least',
  'security.oversized_body': { strictest: ['refuse', 'cut'] },
  'security.block_angle_brackets_in_frontmatter': 'on',
  'install.scope': 'replaces',
  'install.require_signed': 'on',
  // Whose rules judge what a project wants to install cannot be the project's own.
  'install.scan_policy': 'never',
  'install.allow_http': 'never',
  'install.allow_private_addresses': 'never',
  'install.archive.max_archive_bytes': 'least',
  'install.archive.max_entries': 'least',
  'install.archive.max_bytes': 'least',
  'install.archive.max_file_bytes': 'least',
  'install.archive.max_ratio': 'least',
  'install.archive.max_depth': 'least',
  'policy.default.low': { strictest: EFFECTS },
  'policy.default.medium': { strictest: EFFECTS },
  'policy.default.high': { strictest: EFFECTS },
  'policy.allow': 'apart',
  'policy.ask': 'apart',
  'policy.deny': 'apart',
  'policy.include': 'apart',
  'policy.allowed_tools': { strictest: ALLOWED_TOOLS_USES },
  'trust.bind': 'never',
  secrets: 'never',
  'runs.enabled': 'on',
  'runs.directory': 'replaces',
  'runs.sync': { strictest: RUN_SYNCS },
  'telemetry.endpoint': 'never',
  'telemetry.headers': 'never',
};

/** A setting that nobody thought of is not for projects. */
export function lawOf(key: string): ProjectLaw {
  return Object.hasOwn(PROJECT_LAWS, key) ? (PROJECT_LAWS[key] ?? 'never') : 'never';
}

export interface Narrowed {
  readonly value: unknown;
  readonly counts: 'below' | 'project' | 'both';
  /** The project asked for more than it gets. */
  readonly isWider: boolean;
}

/** What holds when the layers below say one thing, or nothing, and the project another. */
export function narrow(law: ProjectLaw, below: unknown, project: unknown): Narrowed {
  const own: Narrowed = { value: project, counts: 'project', isWider: false };
  const kept: Narrowed = { value: below, counts: 'below', isWider: below !== project };
  if (typeof law === 'object')
    return below === undefined || rank(law.strictest, project) <= rank(law.strictest, below) ? own : kept;
  switch (law) {
    case 'replaces':
      return own;
    case 'precedes':
    case 'apart':
      return below === undefined ? own : { ...own, value: [...listOf(project), ...listOf(below)], counts: 'both' };
    case 'adds':
      return {
        ...own,
        value: [...new Set([...listOf(below), ...listOf(project)])],
        counts: below === undefined ? 'project' : 'both',
      };
    case 'least':
      return below === undefined || Number(project) <= Number(below) ? own : kept;
    case 'on':
      return project === true || below !== true ? own : kept;
    case 'within':
      return within(listOf(below), listOf(project));
    case 'isolates':
      if (project === 'local') return below === 'local' ? own : kept;
      return below === undefined || below === 'auto' || below === 'local' || below === project ? own : kept;
    case 'never':
      return { ...kept, isWider: false };
  }
}

/** What is not in the row is the least strict of all. */
function rank(row: readonly string[], value: unknown): number {
  const at = row.findIndex((word) => word === value);
  return at === -1 ? row.length : at;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Hosts that both lists grant, in the narrower of two spellings. */
function within(below: readonly unknown[], project: readonly unknown[]): Narrowed {
  const grants = [below, project].map((list) =>
    list.map((text) => readHostPattern(String(text))).filter((read) => isHostPattern(read)),
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

/** Where in a project's file something stands that only the user may say. */
export function userOnlyPaths(config: Config): readonly (readonly string[])[] {
  const whole = SETTINGS.filter(({ key, path }) => lawOf(key) === 'never' && valueAt(config, path) !== undefined);
  const params = Object.entries(config.model?.params ?? {}).filter(([key, value]) => isSteering(key, value));
  const { executor } = config.execution ?? {};
  const { allowed_tools: use } = config.policy ?? {};
  const { directory } = config.runs ?? {};
  return [
    ...whole.map(({ path }) => path),
    ...params.map(([key]) => ['model', 'params', key]),
    ...(executor === 'local' ? [['execution', 'executor']] : []),
    ...(use === undefined || use === 'restrict' ? [] : [['policy', 'allowed_tools']]),
    ...(directory === undefined || isBelow(directory) ? [] : [['runs', 'directory']]),
  ];
}

const STEERING = /url|uri|endpoint|host|proxy|socket|header|auth|credential|secret|password|api.?key|command/i;

/** Where a model is asked and what is sent along: from a project it would send the user's key and words to a stranger. */
export function isSteering(key: string, value: unknown): boolean {
  if (STEERING.test(key)) return true;
  if (Array.isArray(value)) return value.some((item) => isSteering('', item));
  return isObject(value) && Object.entries(value).some(([name, item]) => isSteering(name, item));
}

/** A path that stays in the folder it starts from, on every system. */
function isBelow(path: string): boolean {
  return !/^[/\\~]|^[A-Za-z]:|\\|\0/.test(path) && !path.split('/').includes('..');
}
