import path from 'node:path';

import {
  diagnose,
  isProjectSource,
  quoted,
  type Diagnostic,
  type Profile,
  type SkillRoot,
  type Surroundings,
} from '#core';
import { isDirectory, isInside, isPresent, namesIn, realPath } from '#platform';
import { openPlugin } from '#skills';

/** Conventional skill folders of a project and of the home folder, highest priority first. */
const CONVENTIONS = ['.agent/skills', '.agents/skills', '.claude/skills'] as const;

export interface RootsInput {
  readonly cwd: string;
  /** Absent if the user has no home folder. */
  readonly home?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly builtinDir?: string | undefined;
  /** Folders with skills of MCP servers. They come last, so that none hides a skill of the user. */
  readonly servers?: readonly RootOption[] | undefined;
  /**
   * `skill_roots` of the configuration. A conventional folder keeps its label `project` or `user`, and so does a
   * folder that a project names too. A root of a project that overlaps one of others is left out.
   */
  readonly extra?: readonly RootOption[] | undefined;
  /** Further folders of a project with skills, from the vocabulary. */
  readonly projectFolders?: readonly string[] | undefined;
  /** No folder is added to those that are named; see `Profile`. */
  readonly oneRoot?: Profile['oneRoot'];
  /** A further folder of the home folder with skills, from the vocabulary. */
  readonly userFolder?: string | undefined;
  /** `--root`, in the order given. */
  readonly cli?: readonly RootOption[] | undefined;
  /** False: use only explicit roots, those of the vocabulary and the built-in skills (default: true). */
  readonly conventions?: boolean;
}

/** A folder, or a folder with the source of its skills. An option without a priority is above those after it. */
export type RootOption = string | { readonly source: string; readonly path: string; readonly priority?: number };

export interface Roots {
  /** Highest priority first; priorities count down to 1. */
  readonly roots: readonly SkillRoot[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * The roots of a command, high to low: options, `SKILLS_ROOT`, configuration, the project's folders from the working
 * directory up to the repository's top, the home folder's, `DOCUMENT_ROOT/skills`, built-in (REG-1), MCP servers.
 */
export function defaultRoots({
  cwd,
  home,
  env,
  builtinDir,
  servers = [],
  extra = [],
  projectFolders = [],
  oneRoot,
  userFolder,
  cli = [],
  conventions: byConvention = true,
}: RootsInput): Roots {
  const asked: RootCandidate[] = [
    ...cli
      .map((root, place) => ({
        priority: cli.length - place,
        ...(typeof root === 'string' ? { source: 'option', path: root } : root),
      }))
      .toSorted((a, b) => b.priority - a.priority),
    ...splitRoots(env['SKILLS_ROOT']).map((root) => ({ source: 'env', path: root })),
  ];
  const configured = extra.map((root) => (typeof root === 'string' ? { source: 'config', path: root } : root));
  const documentRoot = oneRoot === 'project' ? '' : (env['DOCUMENT_ROOT'] ?? '');
  const directories = projectDirectories(cwd, home);
  const inDirectory = (directory: string): readonly RootCandidate[] =>
    projectFolders.map((folder) => ({ source: 'project', path: path.join(directory, folder) }));
  const ofVocabulary = directories.flatMap(inDirectory);
  const isNamed = asked.length > 0 || documentRoot !== '' || configured.some(({ source }) => source === 'project');
  const only = isNamed ? undefined : (ofVocabulary.find((root) => isPresent(root.path)) ?? ofVocabulary[0]);
  const rejected: Diagnostic[] = [];
  const found: RootCandidate[] = [
    ...(oneRoot === undefined || only === undefined ? [] : [only]),
    ...directories.flatMap((directory) => [
      ...(oneRoot === undefined ? inDirectory(directory) : []),
      ...(byConvention ? conventions('project', directory) : []),
      ...(byConvention ? pluginRoots('project', directory, rejected) : []),
    ]),
    ...(isUsable(home) && userFolder !== undefined ? [{ source: 'user', path: path.join(home, userFolder) }] : []),
    ...(byConvention ? userFolders(home).map((folder) => ({ source: 'user', path: folder })) : []),
    ...(byConvention && isUsable(home) ? pluginRoots('user', home, rejected) : []),
    ...(documentRoot === '' ? [] : [{ source: 'document-root', path: path.join(documentRoot, 'skills') }]),
    ...(builtinDir === undefined ? [] : [{ source: 'builtin', path: builtinDir }]),
    ...servers.map((root) => (typeof root === 'string' ? { source: 'mcp', path: root } : root)),
  ];

  const usualRoots = [...found, ...userFolders(home).map((folder) => ({ source: 'user', path: folder }))];

  const diagnostics = rejected;
  const kept: Omit<SkillRoot, 'priority'>[] = [];
  const seen = new Set<string>();
  const locate = ({ path: written }: RootCandidate): string => realPath(path.resolve(cwd, expandHome(written, home)));
  const keep = ({ source, path: written, depth }: RootCandidate, origin: 'asked' | 'configured' | 'found'): void => {
    const isWritten = origin !== 'found';
    const absolute = path.resolve(cwd, isWritten ? expandHome(written, home) : written);
    if (isWritten && (written.includes('\0') || isUrlOrArchive(written, absolute))) {
      const message = `the root ${quoted(written)} is not a folder: it is an archive, a URL or an invalid file name`;
      diagnostics.push(diagnose({ code: 'root/not-supported', path: written, message }, 'lenient'));
      return;
    }
    const real = realPath(absolute);
    if (seen.has(real)) return;
    seen.add(real);
    const usual = origin === 'configured' ? usualRoots.find((one) => locate(one) === real) : undefined;
    const name = source === 'config' ? (usual?.source ?? source) : source;
    // A usual folder that a configuration repeats may be missing until the first install.
    kept.push({ source: name, path: absolute, explicit: isWritten && usual === undefined, depth });
  };
  for (const root of asked) keep(root, 'asked');
  const foreign = [...configured, ...usualRoots].filter(({ source }) => !isProjectSource(source));
  for (const root of configured) {
    if (!isProjectSource(root.source)) {
      keep(root, 'configured');
      continue;
    }
    // What a project calls its own must not be, contain or lie in a root of others, whose skills it could then speak about.
    const real = locate(root);
    const other = foreign.find((one) => isInside(real, locate(one)) || isInside(locate(one), real));
    if (other === undefined || locate(other) === real)
      keep({ ...root, source: other?.source ?? root.source }, 'configured');
    else {
      const message = `the root ${quoted(root.path)} overlaps skills of the source ${quoted(other.source)}, which the project does not own`;
      const hint = 'name a folder that has only skills of the project';
      diagnostics.push(diagnose({ code: 'config/not-for-project', path: root.path, message, hint }, 'lenient'));
    }
  }
  const own = found.filter(({ source }) => !isProjectSource(source)).map(locate);
  for (const root of found) {
    // A link of the project to a root of others makes nothing its own.
    const isOthers = isProjectSource(root.source) && own.some((folder) => isInside(folder, locate(root)));
    if (!isOthers) keep(root, 'found');
  }
  return {
    roots: kept.map(({ source, path, explicit, depth }, position) => ({
      source,
      path,
      priority: kept.length - position,
      explicit,
      depth,
    })),
    diagnostics,
  };
}

/** Where the skills of an MCP server are kept, outside of every folder that is searched for skills of the user. */
export function serverSkillsFolder(cacheDir: string, server: string): string {
  return path.join(cacheDir, 'mcp/skills', server);
}

interface RootCandidate {
  readonly source: string;
  readonly path: string;
  readonly depth?: number;
}

const PLUGINS = '.agents/plugins';
/** In one folder; each is opened whenever skills are listed. */
const MAX_PLUGINS = 500;

/** The `skills` folders of Agent Plugins; their direct children are the skills. What is rejected or ignored is reported. */
function pluginRoots(source: string, directory: string, reported: Diagnostic[]): readonly RootCandidate[] {
  return pluginsIn(directory, reported).flatMap(({ dir, name, skills, problems }) => {
    for (const problem of problems) {
      const message = `the plugin ${quoted(name)}: ${problem}`;
      reported.push(diagnose({ code: 'plugin/ignored', path: path.join(dir, 'plugin.json'), message }, 'lenient'));
    }
    return skills.length === 0 ? [] : [{ source, path: path.join(dir, 'skills'), depth: 1 }];
  });
}

type Plugin = Exclude<ReturnType<typeof openPlugin>, string | undefined>;

function pluginsIn(directory: string, reported: Diagnostic[] = []): readonly Plugin[] {
  const folder = path.join(directory, PLUGINS);
  if (!isDirectory(folder)) return [];
  return namesIn(folder)
    .filter((name) => !name.startsWith('.'))
    .slice(0, MAX_PLUGINS)
    .flatMap((name) => {
      const file = path.join(folder, name);
      const plugin = isDirectory(file) ? openPlugin(file) : undefined;
      if (typeof plugin !== 'string') return plugin ?? [];
      const message = `the plugin ${quoted(name)} is not used: ${plugin}`;
      reported.push(diagnose({ code: 'plugin/rejected', path: file, message }, 'lenient'));
      return [];
    });
}

/** The Agent Plugins of the project and of the home folder, those of the project first. */
export function findPlugins({
  cwd,
  home,
}: Pick<Surroundings, 'cwd' | 'home'>): readonly (Plugin & { readonly source: 'project' | 'user' })[] {
  const ofProject = projectDirectories(cwd, home).flatMap((directory) => pluginsIn(directory));
  const ofUser = isUsable(home) ? pluginsIn(home) : [];
  return [
    ...ofProject.map((plugin) => ({ ...plugin, source: 'project' as const })),
    ...ofUser.map((plugin) => ({ ...plugin, source: 'user' as const })),
  ];
}

/** The folders in which the user keeps skills. */
export function userFolders(home: string | undefined): readonly string[] {
  if (!isUsable(home)) return [];
  const shelf = shelfFolder(home);
  return [...conventions('user', home).map((root) => root.path), ...(isPresent(shelf) ? [shelf] : [])];
}

/** The root of skills that no agent lists: they are found by search and by hints. */
export function shelfFolder(home: string): string {
  return path.join(home, '.agent/shelf');
}

function conventions(source: string, directory: string): readonly RootCandidate[] {
  return CONVENTIONS.map((convention) => ({ source, path: path.join(directory, convention) }));
}

/** The project of the working directory: the outermost folder whose skills are found from here. Undefined in the home folder. */
export function projectTop({ cwd, home }: Pick<Surroundings, 'cwd' | 'home'>): string | undefined {
  return projectDirectories(cwd, home).at(-1);
}

/** Whether a folder lies in the project, with its links resolved, and in no skill folder of the user. */
export function isOfProject(folder: string, surroundings: Pick<Surroundings, 'cwd' | 'home'>): boolean {
  const top = projectTop(surroundings);
  const real = realPath(folder);
  const isOwn = userFolders(surroundings.home).some((one) => isInside(real, realPath(one)));
  return top !== undefined && isInside(real, realPath(top)) && !isOwn;
}

/** The working directory and, in a repository, those above it up to its top; never the home folder nor what is above it. */
function projectDirectories(cwd: string, home: string | undefined): readonly string[] {
  const start = path.resolve(cwd);
  const realHome = isUsable(home) ? realPath(home) : undefined;
  // The working directory is a project, even above the home folder (in containers both may be anywhere); the home folder is not.
  if (start === home || realPath(start) === realHome) return [];
  const limits = realHome === undefined ? new Set<string>() : aboveAndSelf(realHome);
  const chain = [start];
  for (let directory = start; !isPresent(path.join(directory, '.git')); chain.push(directory)) {
    const above = path.dirname(directory);
    if (above === directory || limits.has(realPath(above))) return [start];
    directory = above;
  }
  return chain;
}

/** The home folder and every folder above it, which are never projects. */
function aboveAndSelf(home: string): ReadonlySet<string> {
  const directories = new Set<string>();
  for (let directory = home; !directories.has(directory); directory = path.dirname(directory))
    directories.add(directory);
  return directories;
}

function isUsable(home: string | undefined): home is string {
  return home !== undefined && path.isAbsolute(home);
}

/** The entries of `SKILLS_ROOT`, separated like `PATH`. The colons of an address are not separators. */
export function splitRoots(list: string | undefined): readonly string[] {
  if (list === undefined) return [];
  const entries =
    path.delimiter === ':'
      ? (list.match(/[a-z][a-z0-9+.-]+:\/\/[^:]*(?::\d+(?![^/:])[^:]*)?|[^:]+/gi) ?? [])
      : list.split(path.delimiter);
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

export function isUrlOrArchive(root: string, absolute: string): boolean {
  if (isAddress(root)) return true;
  return /\.(?:zip|skill|tgz|tar|tar\.gz|tar\.xz|tar\.bz2)$/i.test(root) && !isDirectory(absolute);
}

export function isAddress(root: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(root);
}

function expandHome(root: string, home: string | undefined): string {
  if (!isUsable(home)) return root;
  return root === '~' || root.startsWith('~/') ? path.join(home, root.slice(1)) : root;
}

/** Folders of our own state in a project, and of its records, which programs never see: under these names, and where links lead. */
export function recordFolders(project: string, records = '.agent/runs'): readonly string[] {
  const own = ['.agent', '.agent/artifacts', '.agent/evals', '.agent/runs', '.agent/trash'];
  return [...own, records].map((name) => path.resolve(project, name));
}
