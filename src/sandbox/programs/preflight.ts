import { statSync } from 'node:fs';

import { DEFAULT_LIMITS, isSkillError, normalName, quoted, typedWord, type AttachedWorkspace } from '#core';
import { readRange, quietly, findProgram } from '#platform';
import { installHint, packageOfProgram } from '../environments/system-packages.ts';
import type { Requirement } from './skill-requirements.ts';
import { NO_OUTPUT, textSink } from '../executors/output-sinks.ts';
import { runChild } from '../process/child-process.ts';
import { PROGRAM_FOLDERS } from '../process/program-environment.ts';

/** A requirement that is not met, with instructions. */
export interface MissingRequirement {
  readonly kind: Requirement['kind'];
  readonly name: string;
  /** The file or field that states the requirement. */
  readonly neededBy: string;
  /** What was expected and what was found. */
  readonly message: string;
  readonly hint: string;
}

/**
 * Runs a small command and returns its standard output, or `undefined` where it failed. Replaced by callers that check another
 * environment than this machine, such as the inside of a container.
 */
export type Inspect = (argv: readonly string[]) => Promise<string | undefined>;

/** Where programs run. */
export interface ProgramMachine {
  /** Folders that come first in the PATH of programs. */
  readonly programFolders: readonly string[];
  /** Absent: commands run on this machine. */
  readonly inspect: Inspect | undefined;
}

export interface PreflightRequest extends Partial<ProgramMachine> {
  /** Names of the variables that programs will get. */
  readonly variables?: readonly string[];
  /** Programs can reach at least one host. */
  readonly hasNetwork?: boolean;
}

/** Returns the requirements that are not met, without running any code of a skill. */
export async function findMissing(
  requirements: readonly Requirement[],
  request: PreflightRequest,
): Promise<readonly MissingRequirement[]> {
  if (requirements.length === 0) return [];
  const folders = [...(request.programFolders ?? []), ...PROGRAM_FOLDERS];
  const place: ProgramContext =
    request.inspect === undefined
      ? { inspect: inspectMachine(folders), find: (name) => findProgram(name, folders) }
      : { inspect: request.inspect, find: () => undefined };
  const [programs, packages] = await Promise.all([
    versionsOfPrograms(requirements, place),
    versionsOfPackages(requirements, place.inspect),
  ]);
  const available: Available = {
    variables: new Set(request.variables),
    hasNetwork: request.hasNetwork === true,
    programs,
    packages,
  };
  const missing = requirements.flatMap((requirement) => {
    const message = findProblem(requirement, available);
    return message === undefined
      ? []
      : [
          {
            kind: requirement.kind,
            name: requirement.name,
            neededBy: requirement.neededBy,
            message,
            hint: hintFor(requirement, {
              found: programs.get(requirement.name),
              isImage: request.inspect !== undefined,
            }),
          },
        ];
  });
  // Several scripts may share a requirement; it is reported once.
  return missing.filter((thing, at) => missing.findIndex((other) => other.message === thing.message) === at);
}

/** The environment in which programs will run. */
interface ProgramContext {
  readonly inspect: Inspect;
  /** The executable of a program, where that is known without running a command. */
  readonly find: (name: string) => string | undefined;
}

interface Available {
  readonly variables: ReadonlySet<string>;
  readonly hasNetwork: boolean;
  /** Installed programs, with their version where a range is required. */
  readonly programs: ReadonlyMap<string, string>;
  /** Python packages; `undefined` where Python could not be run. */
  readonly packages: ReadonlyMap<string, string> | undefined;
}

function findProblem(
  { kind, name, range }: Requirement,
  { variables, hasNetwork, programs, packages }: Available,
): string | undefined {
  const requirementText = `${name}${range === undefined ? '' : ` ${range}`}`;
  switch (kind) {
    case 'variable':
      return variables.has(name) ? undefined : `programs do not get the variable ${quoted(name)}`;
    case 'network':
      return hasNetwork ? undefined : 'network access is required, but programs have none';
    case 'node-package':
      return `the Node package ${quoted(name)} is not in node_modules`;
    case 'program':
      return versionProblem(`the program ${quoted(requirementText)}`, programs.get(name), range);
    case 'python-package':
      if (packages === undefined)
        return `the Python package ${quoted(requirementText)} is missing, because python3 cannot be run`;
      return versionProblem(`the Python package ${quoted(requirementText)}`, packages.get(normalName(name)), range);
  }
}

function versionProblem(what: string, version: string | undefined, range: string | undefined): string | undefined {
  if (version === undefined) return `${what} is missing`;
  if (range === undefined || readRange(range).includes(version)) return undefined;
  return `${what} is installed as version ${quoted(version)}`;
}

interface HintContext {
  /** The version of an installed program. */
  readonly found: string | undefined;
  /** Programs run in an image, in which nothing can be installed. */
  readonly isImage: boolean;
}

function hintFor({ kind, name, range = '' }: Requirement, context: HintContext): string {
  switch (kind) {
    case 'variable':
      return `add ${name} to the skill's variables in the configuration`;
    case 'network':
      return 'grant the hosts that the skill needs in the configuration';
    case 'node-package':
      return `add --with npm:${name}`;
    case 'program':
      return programHint(name, range, context);
    case 'python-package':
      return `add --with ${typedWord(`${name}${range.replaceAll(' ', '')}`)}`;
  }
}

/** Official images of interpreters, whose tags are versions. */
const IMAGES: ReadonlyMap<string, string> = new Map([
  ['python3', 'python'],
  ['node', 'node'],
]);

/** What a system packages is the version that it has already, so another one needs a container. */
function programHint(name: string, range: string, { found, isImage }: HintContext): string {
  const version = /(?:^|[>=~^\s])(\d+(?:\.\d+)?)/.exec(range)?.[1];
  const interpreter = IMAGES.get(name);
  if (interpreter !== undefined && version !== undefined && (isImage || found !== undefined)) {
    const image = `--image ${interpreter}:${version}`;
    return isImage
      ? `add ${image}`
      : `run it in a container, which needs Docker or Podman: add --executor container ${image}`;
  }
  const index = packageOfProgram(name);
  if (index !== undefined) return `add --with ${index}`;
  return isImage ? installHint(name, 'image') : installHint(name);
}

const WHICH = 'for program do command -v -- "$program" >/dev/null 2>&1 && printf "%s\\n" "$program"; done; true';

async function versionsOfPrograms(
  requirements: readonly Requirement[],
  place: ProgramContext,
): Promise<ReadonlyMap<string, string>> {
  const names = [...new Set(requirements.filter(({ kind }) => kind === 'program').map(({ name }) => name))];
  const seen = new Map(names.map((name) => [name, place.find(name)]));
  const unseen = names.filter((name) => seen.get(name) === undefined);
  // Shell builtins are not files.
  const present = unseen.length === 0 ? '' : await place.inspect(['sh', '-c', WHICH, 'sh', ...unseen]);
  const known = new Set(present?.split('\n'));
  const ranged = new Set(requirements.filter(({ range }) => range !== undefined).map(({ name }) => name));
  const entries = await Promise.all(
    names
      .filter((name) => !unseen.includes(name) || known.has(name))
      .map(async (name): Promise<[string, string]> => {
        // Other programs may print anything for --version, or wait for input.
        const asks = ranged.has(name) && /^(?:python3?|node)$/.test(name);
        return [name, asks ? await readVersion(name, seen.get(name), place) : ''];
      }),
  );
  return new Map(entries);
}

async function readVersion(name: string, file: string | undefined, { inspect }: ProgramContext): Promise<string> {
  const own = file === undefined ? undefined : runningNodeVersion(file);
  return own ?? /\d+(?:\.\d+)*/.exec((await inspect([name, '--version'])) ?? '')?.[0] ?? '';
}

/** Run with `-I`: ignores the working directory and the user's packages, which are not visible in a sandbox either. */
const PACKAGE_VERSIONS = `
import sys
from importlib import metadata
for name in sys.argv[1:]:
    try:
        print(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        pass
`;

async function versionsOfPackages(
  requirements: readonly Requirement[],
  inspect: Inspect,
): Promise<ReadonlyMap<string, string> | undefined> {
  const names = [
    ...new Set(requirements.filter(({ kind }) => kind === 'python-package').map(({ name }) => normalName(name))),
  ];
  if (names.length === 0) return new Map();
  const answer = await inspect(['python3', '-I', '-c', PACKAGE_VERSIONS, ...names]);
  if (answer === undefined) return undefined;
  return new Map(
    answer
      .split('\n')
      .map((line) => line.split(' '))
      .map(([name = '', version = '']) => [name, version]),
  );
}

const INSPECTION = { ...DEFAULT_LIMITS, wallMs: 10_000, outputBytes: 256 * 1024 };

/** Runs commands on this machine with the PATH of a sandbox. */
export function inspectMachine(folders: readonly string[] = PROGRAM_FOLDERS): Inspect {
  return async (argv) => {
    const stdout = textSink();
    const end = await runChild(
      { argv, cwd: '/', env: { PATH: folders.join(':'), LANG: 'C.UTF-8' } },
      { stdin: new Uint8Array(), limits: INSPECTION, streams: { stdout, stderr: NO_OUTPUT } },
    ).catch((error: unknown) => {
      // The program is not installed.
      if (isSkillError(error) && error.code === 'executor/failed') return undefined;
      throw error;
    });
    return end?.exitCode === 0 ? stdout.text() : undefined;
  };
}

/** Runs commands where programs of a workspace run, for executors that show other programs than this machine has. */
export function inspectIn(
  openWorkspace: () => Promise<{ readonly attached: AttachedWorkspace }>,
  programFolders: readonly string[],
): Inspect {
  return async (argv) => {
    const { attached } = await openWorkspace();
    const env = { PATH: [...programFolders, ...PROGRAM_FOLDERS].join(':'), LANG: 'C.UTF-8' };
    const spec = { argv, cwd: 'work', env, stdin: new Uint8Array(), limits: INSPECTION, network: [] };
    const stdout = textSink();
    const end = await attached.run(spec, { stdout, stderr: NO_OUTPUT });
    return end.exitCode === 0 ? stdout.text() : undefined;
  };
}

/** The version of the running Node, if `file` is its executable. Linux only. */
export function runningNodeVersion(file: string): string | undefined {
  return quietly(() => {
    const running = statSync('/proc/self/exe', { bigint: true });
    const { dev, ino } = statSync(file, { bigint: true });
    return running.dev === dev && running.ino === ino ? process.versions.node : undefined;
  }, undefined);
}
