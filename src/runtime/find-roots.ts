/** The roots of a runtime: by convention, from the configuration, the environment and options, with archives fetched first. */
import path from 'node:path';

import {
  diagnose,
  invalidInput,
  isServerName,
  quoted,
  type Config,
  type Diagnostic,
  type Profile,
  type SkillRoot,
  type Surroundings,
} from '#core';
import { isInside, isPresent, packageFile, realPath, resolveWithHome } from '#platform';
import { defaultRoots, isUrlOrArchive, serverSkillsFolder, splitRoots, type RootOption } from './roots.ts';

export interface RootOptions {
  /** Additional roots, with the highest priority. */
  readonly roots?: readonly RootOption[];
  /** Use only `roots`: no default roots, no environment, no built-in skills. */
  readonly onlyRoots?: boolean;
  /** Use only skills of this source, such as `user`. Throws `input/invalid` if no root has it. */
  readonly source?: string;
  /** Use the built-in skills (default: true). */
  readonly builtin?: boolean;
  readonly signal?: AbortSignal;
}

/** What the runtime needs from the packs feature, which imports the runtime. */
export interface RootServices {
  /** Finishes interrupted installs in these root folders and reports the ones it could not finish. */
  readonly recover: (roots: readonly string[], signal?: AbortSignal) => Promise<readonly Diagnostic[]>;
  /** Downloads or unpacks the skills at an address or in an archive and returns their folder, or why it cannot. */
  readonly fetch: (
    root: string,
    options: Surroundings & { readonly cacheDir: string | undefined; readonly signal?: AbortSignal | undefined },
  ) => Promise<{ readonly folder: string } | { readonly problem: string }>;
}

interface RootContext {
  readonly surroundings: Surroundings;
  readonly config: Config;
  readonly profile: Profile;
  readonly services: RootServices | undefined;
  readonly cacheDir: string | undefined;
}

/** `used` are the roots of the wanted source. Throws `input/invalid` if no root has it. */
export async function findRoots(
  options: RootOptions,
  context: RootContext,
): Promise<{
  readonly all: readonly SkillRoot[];
  readonly used: readonly SkillRoot[];
  /** Absolute folders that options and `SKILLS_ROOT` name, without those that contain a root of another origin, such as `.`. */
  readonly named: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}> {
  const fetched = await fetchedRoots(options, context);
  const { roots, diagnostics } = rootsFor(fetched.options, fetched.env, context);
  const listed = options.onlyRoots === true ? [] : splitRoots(fetched.env['SKILLS_ROOT']);
  const { home, cwd } = context.surroundings;
  const named = [...(fetched.options.roots ?? []), ...listed].flatMap(
    (root) => resolveWithHome(typeof root === 'string' ? root : root.path, cwd, home) ?? [],
  );
  return {
    all: roots,
    used: ofSource(roots, options.source),
    named: named.filter((folder) => !containsOther(folder, named, roots)),
    diagnostics: [...fetched.diagnostics, ...diagnostics],
  };
}

/** Naming a folder does not vouch for a root below it that the project chose, such as a hidden folder that only its file names. */
function containsOther(folder: string, named: readonly string[], roots: readonly SkillRoot[]): boolean {
  const real = realPath(folder);
  const known = new Set(named.map(realPath));
  return roots.some((root) => {
    const place = realPath(root.path);
    return !known.has(place) && place !== real && isInside(place, real);
  });
}

/** The skills of an Agent Plugin, which is installed as a whole into the folder of plugins. */
const PLUGIN_SKILLS = /^(.*[/\\]\.agents[/\\]plugins)[/\\][^/\\]+[/\\]skills$/;

/** Finishes interrupted installs. Costs one stat per root if there are none. */
export async function recoverInterrupted(
  roots: readonly SkillRoot[],
  recoverRoots: RootServices['recover'] | undefined,
  signal?: AbortSignal,
): Promise<readonly Diagnostic[]> {
  if (recoverRoots === undefined) return [];
  const journals = ['transaction.json', 'fits/pending.json'].map((name) => path.join('.skillwright', name));
  const folders = new Set(roots.flatMap((root) => [root.path, ...(PLUGIN_SKILLS.exec(root.path)?.slice(1) ?? [])]));
  const unfinished = [...folders].filter((folder) => journals.some((name) => isPresent(path.join(folder, name))));
  return unfinished.length === 0 ? [] : recoverRoots(unfinished, signal);
}

/** Replaces addresses and archives in `roots` and `SKILLS_ROOT` by the folders of their skills. A configuration cannot name any. */
async function fetchedRoots(
  options: RootOptions,
  { surroundings, services, cacheDir }: RootContext,
): Promise<{
  readonly options: RootOptions;
  readonly env: Surroundings['env'];
  readonly diagnostics: readonly Diagnostic[];
}> {
  const { cwd, env } = surroundings;
  const { roots = [], onlyRoots = false, signal } = options;
  const listed = onlyRoots ? [] : splitRoots(env['SKILLS_ROOT']);
  const toAddress = (root: RootOption): string => (typeof root === 'string' ? root : root.path);
  const isRemote = (root: RootOption): boolean => isUrlOrArchive(toAddress(root), path.resolve(cwd, toAddress(root)));
  if (services === undefined || ![...roots, ...listed].some(isRemote)) return { options, env, diagnostics: [] };
  const diagnostics: Diagnostic[] = [];
  const all = async <Root extends RootOption>(some: readonly Root[]): Promise<readonly (Root | string)[]> => {
    const folders: (Root | string)[] = [];
    for (const root of some) {
      if (!isRemote(root)) {
        folders.push(root);
        continue;
      }
      const at = toAddress(root);
      const fetched = await services.fetch(at, { ...surroundings, cacheDir, signal });
      if ('folder' in fetched) folders.push(fetched.folder);
      else diagnostics.push(diagnose({ code: 'root/not-supported', path: at, message: fetched.problem }, 'lenient'));
    }
    return folders;
  };
  return {
    options: { ...options, roots: await all(roots) },
    env: { ...env, SKILLS_ROOT: (await all(listed)).join(path.delimiter) },
    diagnostics,
  };
}

function rootsFor(
  options: RootOptions,
  env: Surroundings['env'],
  { surroundings: { cwd, home }, config, profile, cacheDir }: RootContext,
): ReturnType<typeof defaultRoots> {
  if (options.onlyRoots === true)
    return defaultRoots({ cwd, home: undefined, env: {}, cli: options.roots, conventions: false });
  const { projectFolders, installFolder, oneRoot } = profile;
  return defaultRoots({
    cwd,
    home,
    env,
    builtinDir: (options.builtin ?? config.builtin ?? true) ? packageFile('skills') : undefined,
    extra: config.skill_roots?.map((root) =>
      typeof root === 'string' ? root : { source: root.source ?? 'config', path: root.path ?? '' },
    ),
    cli: options.roots,
    conventions: config.use_default_roots !== false,
    projectFolders,
    oneRoot,
    userFolder: installFolder?.user,
    servers: cacheDir === undefined ? [] : serverRoots(config, cacheDir),
  });
}

function serverRoots({ mcp_servers: servers = {} }: Config, cacheDir: string): readonly RootOption[] {
  return Object.entries(servers).flatMap(([name, { enabled, skills }]) =>
    enabled === false || skills === false || !isServerName(name)
      ? []
      : [{ source: `mcp:${name}`, path: serverSkillsFolder(cacheDir, name) }],
  );
}

function ofSource(roots: readonly SkillRoot[], name: string | undefined): readonly SkillRoot[] {
  if (name === undefined) return roots;
  const found = roots.filter(({ source }) => source.toLowerCase() === name.toLowerCase());
  if (found.length > 0) return found;
  const known = [...new Set(roots.map(({ source }) => source))];
  throw invalidInput(
    `no skill root has the source ${quoted(name)}`,
    known.join(', '),
    `the sources here are ${known.join(', ')}; list them with skillwright list --explain`,
  );
}
