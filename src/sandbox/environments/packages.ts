import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';

import {
  executorTraits,
  isSkillError,
  packageArgument,
  stableJson,
  type Executor,
  type ActionProblem,
  type SkillEntry,
  type Surroundings,
  type ApprovalRequest,
  type RunEvent,
  type OfType,
  type ProgramAction,
} from '#core';
import { quietly, sha256, tryRealPath, findProgram } from '#platform';
import { inspectIn } from '../programs/preflight.ts';
import { openRequirements, type FindMissingFor } from '../programs/missing.ts';
import { isRoot } from '../workspace/layout.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { resolveNode } from './build-node.ts';
import { resolvePython } from './build-python.ts';
import { openBuildSandbox } from './build-sandbox.ts';
import { packagesFailed } from './build.ts';
import {
  configuredPackages,
  environmentPackages,
  invalid,
  requested,
  withProject,
  type ConfiguredPackages,
} from './configured-packages.ts';
import { declaredBy, listEcosystems, type DeclaringParts, type PackageNeeds } from './declared-needs.ts';
import { mountPackages, type MountedPackages, type PreparedPackages } from './layer-mounts.ts';
import { openLayers, type Layers, type StoredLayer } from './layers.ts';
import { explainFailure } from './remedies.ts';
import { scriptsIn, suggestedPackages, type SuggestedPackage } from './suggested-packages.ts';
import { openVenv, type Venv } from './venv.ts';
import { ECOSYSTEMS } from './ecosystems.ts';
import { interpreterFolders, PROGRAM_FOLDERS } from '../process/program-environment.ts';
import { findRuntimes } from '../executors/linux/runtimes.ts';
import type { HostMount, ProjectView, StagedSkill } from '../program-types.ts';
import type { RequestedPackage } from './declared-packages.ts';

type ApprovedSkill = NonNullable<ApprovalRequest['skill']>;
type AskedBy = OfType<RunEvent, 'action'>['askedBy'];

export interface PackageOptions extends ConfiguredPackages {
  /** Packages for every program: `pypdf`, `npm:docx@9`. */
  readonly with?: readonly string[];
  /** A virtual environment of the user to use for Python instead of a layer. */
  readonly venv?: string;
  /** Uses only layers that exist. */
  readonly isOffline?: boolean;
  /** Installs from this folder of wheels instead of an index. */
  readonly wheels?: string;
  /** Hosts besides the index that installations may reach. */
  readonly hosts?: readonly string[];
  /** Called before something that takes time, with a text for a person. */
  readonly onProgress?: (text: string) => void;
}

interface SkillNeeds {
  readonly needs: readonly PackageNeeds[];
  /** Packages that scripts import and neither the skill declares nor the machine has: only suggestions. */
  readonly suggested: readonly SuggestedPackage[];
}

/** A layer, or packages that can become one. */
interface FoundPackages {
  readonly status: 'cached' | 'resolved';
  readonly ecosystem: RequestedPackage['ecosystem'];
  readonly packages: StoredLayer['packages'];
  readonly lockDigest: string;
  readonly index: string;
  build(): Promise<StoredLayer | ActionProblem>;
  close(): Promise<void>;
}

/** Packages for the programs of a session. */
export interface Packages {
  /** What all scripts of a skill need, each set once, and what they import without declaring it. */
  skillNeeds(skill: SkillEntry): Promise<SkillNeeds>;
  /** Whether the executor can mount packages. */
  readonly isAvailable: boolean;
  /** What a program needs, including what it or an earlier program of the skill asked for. */
  needsOf(action: ProgramAction, skill: SkillEntry | undefined, askedBy: AskedBy): Promise<readonly PackageNeeds[]>;
  /** Later programs of the skill get the packages that this one asked for; all later programs, if it belongs to no skill. */
  remember(action: ProgramAction, skill: Pick<SkillEntry, 'id'> | undefined, askedBy: AskedBy): void;
  /** Answers of this session: exactly these packages for exactly this skill. */
  readonly approved: ApprovedPackages;
  /** The checked environment of `--venv`. */
  venv(signal: AbortSignal | undefined): Promise<Venv | ActionProblem | undefined>;
  find(needs: PackageNeeds, skill: string | undefined, signal?: AbortSignal): Promise<FoundPackages | ActionProblem>;
  /** What a program sees of its packages, and the folders in which it finds programs. */
  mount(packages: PreparedPackages, root: string): MountedPackages;
  /** The requirements of a skill that are not met. */
  readonly missing: FindMissingFor;
  /** Why a program failed, with the command that fixes it, where its output shows a missing package, program or variable. */
  explain(
    output: string,
    action: ProgramAction,
    staged: StagedSkill | undefined,
    by: { readonly askedBy: AskedBy | undefined; readonly project: ProjectView; readonly isTimeout: boolean },
  ): Promise<string | undefined>;
}

interface ApprovedPackages {
  has(skill: ApprovedSkill, lockDigest: string): boolean;
  add(skill: ApprovedSkill, lockDigest: string): void;
}

interface PackagesRequest extends Pick<DeclaringParts, 'stage'> {
  readonly options: PackageOptions;
  readonly executor: Executor;
  readonly places: LayerPlaces;
  readonly user: Omit<Surroundings, 'cwd'>;
  /** Opens the workspace of the session, or another one. */
  readonly openWorkspace: (key?: string) => Promise<Workspace>;
}

type PackagesParts = PackagesRequest & DeclaringParts;

export function openPackages(request: PackagesRequest): Packages {
  const { options, executor } = request;
  const programFolders = interpreterFolders(executor);
  // Of the programs beside a runtime of the user, sandboxes show none.
  const hasOwnPrograms = executor.image !== undefined || (executor.name !== 'local' && findRuntimes().length > 0);
  const inspect = hasOwnPrograms ? inspectIn(() => request.openWorkspace(), programFolders) : undefined;
  const parts: PackagesParts = { ...request, programFolders, inspect };
  const hasLayers = executorTraits(executor.name).layers !== undefined;
  const named = (options.with ?? []).map((text) => requested(text, 'option', '--with'));
  if (options.venv !== undefined && named.some(({ ecosystem }) => ecosystem === 'python'))
    throw invalid(
      '--with cannot add Python packages to --venv',
      'install them in the environment, or leave out --venv',
    );
  if (options.environment !== undefined) environmentPackages(options.environment, withProject(options));
  let venv: Promise<Venv | ActionProblem> | undefined;
  const remembered = new Map<string, readonly RequestedPackage[]>();
  const recall = (skill?: Pick<SkillEntry, 'id'>): readonly RequestedPackage[] => remembered.get(skill?.id ?? '') ?? [];
  const approved = new Set<string>();
  const approval = ({ id, digest }: ApprovedSkill, lockDigest: string): string => stableJson([id, digest, lockDigest]);
  const layers = openLayers(layerFolder(parts), executor.identity);
  const packages: Packages = {
    missing: openRequirements({ programFolders, inspect }),
    mount(prepared, root) {
      const mounted = mountPackages(prepared, { root, isOwnPath: usesOwnPaths(executor) });
      return { ...mounted, programFolders: [...mounted.programFolders, ...programFolders] };
    },
    explain: (output, action, staged, { askedBy, ...facts }) => {
      const canAsk = askedBy === 'model' && hasLayers;
      return explainFailure(output, action, staged, { canAsk, ...facts, programFolders, inspect });
    },
    isAvailable: hasLayers,
    approved: {
      has: (skill, lockDigest) => approved.has(approval(skill, lockDigest)),
      add: (skill, lockDigest) => void approved.add(approval(skill, lockDigest)),
    },
    remember: (action, skill, askedBy) =>
      void remembered.set(skill?.id ?? '', byName([...requestedBy(action, askedBy), ...recall(skill)])),
    async skillNeeds(skill) {
      const { snapshot } = await parts.stage(skill);
      const scripts = scriptsIn(snapshot);
      const found = new Map<string, PackageNeeds>();
      for (const script of scripts) {
        const action = { type: 'run_script', skill: skill.name, script, args: [] } as const;
        for (const needs of await packages.needsOf(action, skill, 'person'))
          found.set(computeLayerKey(needs, parts), needs);
      }
      const needs = [...found.values()];
      const declared = new Set(needs.flatMap((some) => some.packages.map(({ name }) => name)));
      return { needs, suggested: await suggestedPackages(snapshot, scripts, declared, parts) };
    },
    async needsOf(action, skill, askedBy) {
      const asked = byName([...requestedBy(action, askedBy), ...recall(skill), ...recall()]);
      if (options.venv !== undefined && asked.some(({ ecosystem }) => ecosystem === 'python'))
        throw invalid(
          'Python packages cannot be added to the virtual environment of the user',
          'the user can install them in the environment, or leave out --venv',
        );
      const languages = listEcosystems(action).filter(
        (ecosystem) => ecosystem !== 'python' || options.venv === undefined,
      );
      const declared =
        skill === undefined || !hasLayers ? undefined : await declaredBy(action, skill, languages, parts);
      const configured = [...named, ...configuredPackages(skill, options)];
      return ECOSYSTEMS.flatMap((ecosystem) => {
        const own = configured.filter((spec) => spec.ecosystem === ecosystem);
        const found = declared?.find((some) => some.ecosystem === ecosystem);
        const stated = found?.packages ?? [];
        // A name alone asks for nothing beyond the declaration.
        const more = asked.filter(
          (spec) => spec.ecosystem === ecosystem && !stated.some((one) => spec.text === one.name),
        );
        // A package on the command line replaces a request, and both replace a declaration of the same name.
        const all = byName([...own, ...more, ...stated]);
        if (all.length === 0) return [];
        const isOptional = own.length === 0 && more.length === 0 && found?.isOptional === true;
        return [{ ecosystem, packages: all, isOptional, problems: found?.problems ?? [] }];
      });
    },
    async venv(signal) {
      return options.venv === undefined ? undefined : await (venv ??= checkVenv(options.venv, signal, parts));
    },
    async find(needs, skill, signal) {
      if (!hasLayers)
        return packagesFailed(
          `the executor ${executor.name} cannot mount packages, and they are never installed outside of a sandbox`,
          'use --executor bubblewrap or namespaces, or install the packages on this machine',
        );
      const key = computeLayerKey(needs, parts);
      const stored = await layers.find(key);
      if (stored !== undefined)
        return {
          ...stored,
          status: 'cached',
          build: () => Promise.resolve(stored),
          close: () => Promise.resolve(),
        };
      const list = needs.packages.map(packageArgument).join(', ');
      if (options.isOffline === true)
        return packagesFailed(
          `${list} is not installed, and --offline allows no network`,
          `run once without --offline: skillwright prepare ${skill ?? 'SKILL'}`,
        );
      options.onProgress?.(`resolving ${list}`);
      return await resolve(needs, { key, skill, signal, layers, parts });
    },
  };
  return packages;
}

/** The first of each name. */
function byName(packages: readonly RequestedPackage[]): readonly RequestedPackage[] {
  const key = ({ ecosystem, name }: RequestedPackage): string => `${ecosystem} ${name}`;
  return packages.filter((one, place) => packages.findIndex((other) => key(other) === key(one)) === place);
}

function requestedBy({ packages = [] }: ProgramAction, askedBy: AskedBy): readonly RequestedPackage[] {
  return packages.map((text) => requested(text, askedBy === 'model' ? 'model' : 'option', 'packages'));
}

async function checkVenv(
  folder: string,
  signal: AbortSignal | undefined,
  parts: PackagesParts,
): Promise<Venv | ActionProblem> {
  const workspace = await parts.openWorkspace(`packages ${randomUUID()}`);
  try {
    const { programFolders, executor } = parts;
    const sandbox = openBuildSandbox(workspace, { programFolders, signal, isOwnPath: usesOwnPaths(executor) });
    return await openVenv(folder, sandbox, `${layerFolder(parts)}.empty`);
  } finally {
    await workspace.close();
  }
}

/** Whether programs see layers where they are on the host, because nothing can be mounted elsewhere. */
function usesOwnPaths({ name }: Executor): boolean {
  return executorTraits(name).layers === 'in-place';
}

interface LayerPlaces {
  readonly cacheDir: string | undefined;
  readonly base: string;
}

/** The folders that may hold layers, best first. */
function layerFolders({ cacheDir, base }: LayerPlaces): readonly string[] {
  return [...(cacheDir === undefined ? [] : [path.join(cacheDir, 'layers')]), path.join(base, 'layers')];
}

/** All layers that sessions of this user have built. */
export function openAllLayers(places: LayerPlaces): readonly Layers[] {
  return layerFolders(places).map((folder) => openLayers(folder, undefined));
}

/** Packages of programs of another user must not be in the home folder, which that user cannot enter. */
function layerFolder({ executor, places }: PackagesParts): string {
  const folders = layerFolders(places);
  const isReachable = (folder: string): boolean => {
    if (executor.identity === undefined || !isRoot()) return true;
    for (let at = path.dirname(folder); at !== path.dirname(at); at = path.dirname(at)) {
      const stats = statSync(at, { throwIfNoEntry: false });
      if (stats !== undefined && (stats.mode & 0o001) === 0) return false;
    }
    return true;
  };
  return folders.find(isReachable) ?? folders.at(-1) ?? '';
}

/** The same request for the same interpreter is the same layer. */
function computeLayerKey({ ecosystem, packages }: PackageNeeds, { programFolders, executor }: PackagesParts): string {
  const requests = packages.map(({ text }) => text).toSorted();
  const machine = executor.image ?? (ecosystem === 'python' ? programStamp('python3', programFolders) : nodeStamp());
  // Console scripts name the path at which the layer was built.
  const place = usesOwnPaths(executor) ? { isOwnPath: true } : {};
  return sha256(stableJson({ schema: 1, ecosystem, requests, machine, ...place }));
}

function nodeStamp(): string {
  return [process.platform, process.arch, process.versions.modules].join(' ');
}

/** Changes with every update of the interpreter; reading metadata costs nothing, unlike asking it for its version. */
function programStamp(name: string, folders: readonly string[]): string {
  const file = tryRealPath(findProgram(name, [...folders, ...PROGRAM_FOLDERS]) ?? '');
  const stats = quietly(() => statSync(file ?? ''), undefined);
  return stats === undefined ? 'none' : [file, stats.size, stats.mtimeMs].join(' ');
}

interface Resolution {
  readonly key: string;
  readonly skill: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly layers: Layers;
  readonly parts: PackagesParts;
}

async function resolve(needs: PackageNeeds, resolution: Resolution): Promise<FoundPackages | ActionProblem> {
  const { key, skill, signal, layers, parts } = resolution;
  const { options, programFolders, user } = parts;
  const workspace = await parts.openWorkspace(`packages ${randomUUID()}`);
  const close = (): Promise<void> => workspace.close();
  try {
    const sandbox = openBuildSandbox(workspace, {
      programFolders,
      signal,
      proxyFrom: user.env,
      isOwnPath: usesOwnPaths(parts.executor),
    });
    const request = { sandbox, packages: needs.packages, user, wheels: options.wheels, hosts: options.hosts ?? [] };
    const resolved = needs.ecosystem === 'python' ? await resolvePython(request) : await resolveNode(request);
    if ('code' in resolved) {
      await close();
      return forImage(resolved, parts.executor.image);
    }
    const { packages, index, target, install } = resolved;
    const { ecosystem } = needs;
    const about = { ecosystem, packages, index, lockDigest: `sha256:${sha256(stableJson({ ecosystem, packages }))}` };
    const requests = needs.packages.map(packageArgument);
    return {
      ...about,
      status: 'resolved',
      close,
      build: async () => {
        options.onProgress?.(`installing ${packages.map(({ name, version }) => `${name} ${version}`).join(', ')}`);
        return await layers.build(
          key,
          async (tree, final) => {
            const inside = sandbox.isOwnPath ? tree : `${sandbox.root}/${target}`;
            const mount: HostMount = { source: tree, target: inside, access: 'write' };
            const failed = await install({ inside, final: sandbox.isOwnPath ? final : inside, mount });
            return failed ?? { ...about, requested: requests, skills: skill === undefined ? [] : [skill] };
          },
          signal,
        );
      },
    };
  } catch (error) {
    await close();
    if (isSkillError(error) && error.code === 'executor/unavailable') return packagesFailed(error.message, error.hint);
    throw error;
  }
}

/** Programs of this machine are not in an image. */
function forImage(failed: ActionProblem, image: string | undefined): ActionProblem {
  if (image === undefined || !failed.hint.startsWith('run: apt')) return failed;
  return { ...failed, hint: `the image ${image} lacks it; choose one with --image or execution.image` };
}
