import { isSkillError } from '../../core/errors.ts';
import { DEFAULT_LIMITS } from '../../core/execution.ts';
import type { OutputSink } from '../../core/execution.ts';
import { quoted } from '../../core/text/text.ts';
import { isInRange } from '../../platform/version-range.ts';
import { runChild } from '../../platform/process/child-process.ts';
import { PROGRAM_FOLDERS } from '../../platform/process/program-environment.ts';
import { findProgram, ownVersion } from './machine-programs.ts';
import { needsOf } from './needs.ts';
import type { Need, NeedsRequest } from './needs.ts';

/** Something a skill needs and that is not here, with the way to get it. */
export interface MissingThing {
  readonly kind: Need['kind'];
  readonly name: string;
  /** The file or the field that asks for it. */
  readonly neededBy: string;
  /** Lower case; says what was expected and what was found. */
  readonly message: string;
  readonly hint: string;
}

/**
 * Runs a small program of our own and gives its standard output; nothing where it failed. Given by whoever wants answers about another
 * place than this machine: the inside of a container.
 */
export type Inspect = (argv: readonly string[]) => Promise<string | undefined>;

export interface PreflightRequest extends NeedsRequest {
  /** Names of the variables that programs will be given. */
  readonly variables?: readonly string[];
  /** Some hosts may be reached. */
  readonly hasNetwork?: boolean;
  /** Where programs will look first: interpreters that lie elsewhere than usual. */
  readonly programFolders?: readonly string[];
  /** This machine by default. */
  readonly inspect?: Inspect;
}

/** What is missing for the scripts of a skill, before the first of them runs. No code of the skill is run to find out. */
export function preflight(request: PreflightRequest): Promise<readonly MissingThing[]> {
  return missingOf(needsOf(request), request);
}

/** Which of these needs are not met. */
export async function missingOf(
  needs: readonly Need[],
  request: Omit<PreflightRequest, keyof NeedsRequest>,
): Promise<readonly MissingThing[]> {
  if (needs.length === 0) return [];
  const folders = [...(request.programFolders ?? []), ...PROGRAM_FOLDERS];
  const place: Place =
    request.inspect === undefined
      ? { inspect: inspectMachine(folders), find: (name) => findProgram(name, folders) }
      : { inspect: request.inspect, find: () => undefined };
  const [programs, packages] = await Promise.all([
    versionsOfPrograms(needs, place),
    versionsOfPackages(needs, place.inspect),
  ]);
  const found: Found = {
    variables: new Set(request.variables),
    hasNetwork: request.hasNetwork === true,
    programs,
    packages,
  };
  const missing = needs.flatMap((need) => {
    const message = problemOf(need, found);
    return message === undefined
      ? []
      : [{ kind: need.kind, name: need.name, neededBy: need.neededBy, message, hint: hintFor(need) }];
  });
  // Ten scripts may need the same thing; it is missing once, for the first of them.
  return missing.filter((thing, at) => missing.findIndex((other) => other.message === thing.message) === at);
}

/** Where programs will run. */
interface Place {
  readonly inspect: Inspect;
  /** A program's file, where that can be seen without asking. */
  readonly find: (name: string) => string | undefined;
}

interface Found {
  readonly variables: ReadonlySet<string>;
  readonly hasNetwork: boolean;
  /** Those that are there, with their version where it matters. */
  readonly programs: ReadonlyMap<string, string>;
  /** Of Python; nothing where Python could not be asked. */
  readonly packages: ReadonlyMap<string, string> | undefined;
}

function problemOf(
  { kind, name, range }: Need,
  { variables, hasNetwork, programs, packages }: Found,
): string | undefined {
  const wanted = `${name}${range === undefined ? '' : ` ${range}`}`;
  switch (kind) {
    case 'variable':
      return variables.has(name) ? undefined : `the variable ${quoted(name)} is not given to programs`;
    case 'network':
      return hasNetwork ? undefined : 'the network is needed, and programs have none';
    case 'node-package':
      return `the package ${quoted(name)} of Node is not in node_modules`;
    case 'program':
      return versionProblem(`the program ${quoted(wanted)}`, programs.get(name), range);
    case 'python-package':
      if (packages === undefined)
        return `the Python package ${quoted(wanted)} is missing, since python3 gives no answer`;
      return versionProblem(`the Python package ${quoted(wanted)}`, packages.get(normalName(name)), range);
  }
}

function versionProblem(what: string, version: string | undefined, range: string | undefined): string | undefined {
  if (version === undefined) return `${what} is missing`;
  if (range === undefined || isInRange(version, range)) return undefined;
  return `${what} is here as ${quoted(version)}`;
}

function hintFor({ kind, name, range = '' }: Need): string {
  switch (kind) {
    case 'variable':
      return `give ${name} to the skill in the configuration`;
    case 'network':
      return 'grant the hosts that the skill needs, or do without';
    case 'node-package':
      return `run npm install ${name} in the folder of the skill`;
    case 'program':
      return `install ${name}, for example with: apt install ${PACKAGES.get(name) ?? name}`;
    case 'python-package':
      return `run pip install '${name}${range.replaceAll("'", '')}' for the python3 that programs see`;
  }
}

/** What Debian calls the package of a program, where that is another name. */
const PACKAGES: ReadonlyMap<string, string> = new Map([
  ['node', 'nodejs'],
  ['soffice', 'libreoffice'],
  ['pdftotext', 'poppler-utils'],
  ['convert', 'imagemagick'],
  ['rg', 'ripgrep'],
  ['dot', 'graphviz'],
  ['psql', 'postgresql-client'],
  ['tesseract', 'tesseract-ocr'],
]);

const WHICH = 'for program do command -v -- "$program" >/dev/null 2>&1 && printf "%s\\n" "$program"; done; true';

async function versionsOfPrograms(needs: readonly Need[], place: Place): Promise<ReadonlyMap<string, string>> {
  const names = [...new Set(needs.filter(({ kind }) => kind === 'program').map(({ name }) => name))];
  const seen = new Map(names.map((name) => [name, place.find(name)]));
  const unseen = names.filter((name) => seen.get(name) === undefined);
  // A shell knows programs that are no files.
  const present = unseen.length === 0 ? '' : await place.inspect(['sh', '-c', WHICH, 'sh', ...unseen]);
  const known = new Set(present?.split('\n'));
  const ranged = new Set(needs.filter(({ range }) => range !== undefined).map(({ name }) => name));
  const entries = await Promise.all(
    names
      .filter((name) => !unseen.includes(name) || known.has(name))
      .map(async (name): Promise<[string, string]> => {
        // Others print anything from a banner to a help page, or wait for input: presence has to do.
        const asks = ranged.has(name) && /^(?:python3?|node)$/.test(name);
        return [name, asks ? await versionOf(name, seen.get(name), place) : ''];
      }),
  );
  return new Map(entries);
}

async function versionOf(name: string, file: string | undefined, { inspect }: Place): Promise<string> {
  const own = file === undefined ? undefined : ownVersion(file);
  return own ?? /\d+(?:\.\d+)*/.exec((await inspect([name, '--version'])) ?? '')?.[0] ?? '';
}

/** Isolated (`-I`): neither the folder we stand in nor the user's own packages, which a sandbox does not show either. */
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
  needs: readonly Need[],
  inspect: Inspect,
): Promise<ReadonlyMap<string, string> | undefined> {
  const names = [...new Set(needs.filter(({ kind }) => kind === 'python-package').map(({ name }) => normalName(name)))];
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

/** Names of Python packages are the same whatever their case and their dashes. */
function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

const INSPECTION = { ...DEFAULT_LIMITS, wallMs: 10_000, outputBytes: 256 * 1024 };

/** Asks the machine itself, with the folders of programs that a sandbox shows. */
export function inspectMachine(folders: readonly string[] = PROGRAM_FOLDERS): Inspect {
  return async (argv) => {
    const chunks: Uint8Array[] = [];
    const stdout: OutputSink = { write: (chunk) => chunks.push(Uint8Array.from(chunk)) > 0 };
    const end = await runChild(
      { argv, cwd: '/', env: { PATH: folders.join(':'), LANG: 'C.UTF-8' } },
      { stdin: new Uint8Array(), limits: INSPECTION, streams: { stdout, stderr: { write: () => true } } },
    ).catch((error: unknown) => {
      // The program itself is not there: that is an answer.
      if (isSkillError(error) && error.code === 'executor/failed') return undefined;
      throw error;
    });
    return end?.exitCode === 0 ? Buffer.concat(chunks).toString('utf8') : undefined;
  };
}
