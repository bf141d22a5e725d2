import path from 'node:path';

import { failure, quoted, type ActionProblem, type Executor } from '#core';
import { findRuntimes } from '../executors/linux/runtimes.ts';

export interface EnvironmentRequest {
  /** The path of the workspace as the program sees it. */
  readonly root: string;
  /** Absent for a command that runs without a skill. */
  readonly skill?: { readonly name: string; /** Below `skills`. */ readonly folder: string } | undefined;
  /** Below the workspace, with forward slashes: `runs/0001`. */
  readonly runFolder: string;
  /** The private folder of the skill, below the workspace: `home/pdf-1a2b3c4d`. */
  readonly home: string;
  /** Whether the program sees folders of the host, which may be repositories. */
  readonly hasMounts?: boolean;
  /** Where the program sees the project. */
  readonly project?: string | undefined;
  /** The same each time this program is run again after an interruption. */
  readonly idempotencyKey?: string | undefined;
  /** Variables from the caller, the model or the configuration. */
  readonly declared?: Readonly<Record<string, string>>;
  /** Additional folders of interpreters, as the program sees them; searched first. */
  readonly programFolders?: readonly string[];
}

export type ProgramEnvironment =
  | { readonly type: 'environment'; readonly env: Readonly<Record<string, string>> }
  | { readonly type: 'refused'; readonly failure: ActionProblem };

export const PROGRAM_FOLDERS: readonly string[] = ['/usr/local/bin', '/usr/bin', '/bin'];

/** Folders searched before `PROGRAM_FOLDERS`: those of this Node and of other runtimes of the user. An image has its own. */
export function interpreterFolders({ image }: Pick<Executor, 'image'>): readonly string[] {
  if (image !== undefined) return [];
  return [...new Set([path.dirname(process.execPath), ...findRuntimes().map(({ folder }) => folder)])];
}

/**
 * The whole environment of a program; nothing is inherited. HOME and TMPDIR are folders that no other skill can write: a file planted
 * there would run with the next skill's secrets. Both count against the disk limit and are removed with the workspace.
 */
export function programEnvironment(request: EnvironmentRequest): ProgramEnvironment {
  const declared = Object.entries(request.declared ?? {});
  const problems = declared.flatMap(([name, value]) => {
    const problem = findVariableProblem(name, value);
    return problem === undefined ? [] : [`${quoted(name)} ${problem}`];
  });
  const bytes = declared.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0);
  if (bytes > MAX_ALL_BYTES) problems.push(`all variables together are larger than ${String(MAX_ALL_BYTES)} bytes`);
  if (problems.length > 0) {
    const shown = problems.slice(0, MAX_SHOWN).join(', ');
    const more = problems.length > MAX_SHOWN ? ` and ${String(problems.length - MAX_SHOWN)} more` : '';
    return {
      type: 'refused',
      failure: failure('input/invalid', `invalid environment variables: ${shown}${more}`, {
        hint: 'remove them, or pass the data as arguments, input or files',
      }),
    };
  }
  return { type: 'environment', env: Object.fromEntries([['LANG', 'C.UTF-8'], ...declared, ...ownVariables(request)]) };
}

function ownVariables(request: EnvironmentRequest): [string, string][] {
  const { root, skill, runFolder, home, project, hasMounts = false, programFolders = [], idempotencyKey } = request;
  const run = `${root}/${runFolder}`;
  return [
    ['PATH', [...programFolders, ...PROGRAM_FOLDERS].join(':')],
    ['HOME', `${root}/${home}`],
    ['TMPDIR', `${root}/${home}/${TEMPORARY}`],
    // Packages of a user are never what a skill was tested with.
    ['PYTHONNOUSERSITE', '1'],
    ...NO_SYSTEM_SETTINGS,
    // Libraries read a user name, and the user id may have no name in the sandbox.
    ['USER', 'skill'],
    ['LOGNAME', 'skill'],
    // With a socket as input and no SHLVL, bash reads ~/.bashrc, and scripts can write to HOME.
    ['SHLVL', '1'],
    ['WORKSPACE_DIR', root],
    ['SKILLS_DIR', `${root}/skills`],
    ['WORK_DIR', `${root}/work`],
    ['OUTPUT_DIR', `${root}/out`],
    ['RUN_DIR', run],
    ...(idempotencyKey === undefined
      ? []
      : ([['SKILLWRIGHT_IDEMPOTENCY_KEY', idempotencyKey]] satisfies [string, string][])),
    ...(project === undefined ? [] : ([['PROJECT_DIR', project]] satisfies [string, string][])),
    ...(hasMounts ? FOREIGN_REPOSITORIES : []),
    ...(skill === undefined
      ? []
      : ([
          ['SKILL_NAME', skill.name],
          ['SKILL_DIR', `${root}/skills/${skill.folder}`],
        ] satisfies [string, string][])),
  ];
}

/** Folder for temporary files in the private folder of a skill. */
export const TEMPORARY = 'tmp';

/**
 * The system-wide settings of git may hold credentials, so no sandbox shows them. Where only their content is withheld, as under Landlock,
 * git would refuse to start.
 */
const NO_SYSTEM_SETTINGS: readonly [string, string][] = [
  ['GIT_CONFIG_NOSYSTEM', '1'],
  ['GIT_ATTR_NOSYSTEM', '1'],
];

/** Git refuses repositories of another user, and in a sandbox the owner of a mounted folder is one. */
const FOREIGN_REPOSITORIES: readonly [string, string][] = [
  ['GIT_CONFIG_COUNT', '1'],
  ['GIT_CONFIG_KEY_0', 'safe.directory'],
  ['GIT_CONFIG_VALUE_0', '*'],
  // Reading a repository must not fail because its index cannot be refreshed.
  ['GIT_OPTIONAL_LOCKS', '0'],
];

const MAX_VALUE_BYTES = 32 * 1024;
const MAX_ALL_BYTES = 256 * 1024;
const MAX_SHOWN = 10;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function findVariableProblem(name: string, value: string): string | undefined {
  if (!NAME.test(name)) return 'is not a variable name';
  if (OWN.has(name) || name.startsWith('SKILLWRIGHT_')) return 'is set by the runtime';
  if (isSteering(name)) return 'can change which code a program runs or which certificates it trusts';
  if (value.includes('\0')) return 'contains a NUL character';
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES) return `is longer than ${String(MAX_VALUE_BYTES)} bytes`;
  return undefined;
}

const OWN: ReadonlySet<string> = named(`
  PATH HOME TMPDIR TMP TEMP USER LOGNAME SHELL PWD OLDPWD SHLVL _
  WORKSPACE_DIR SKILLS_DIR WORK_DIR OUTPUT_DIR RUN_DIR SKILL_NAME SKILL_DIR
`);

/**
 * Variables by which a caller could turn the approved program into another one: preloaded code, additional options, trusted files and
 * programs. A family is denied as a whole if its harmless members can be listed.
 */
function isSteering(name: string): boolean {
  if (HARMLESS.has(name)) return false;
  return STEERING.has(name) || STEERING_ANY_CASE.test(name) || hasSteeringPrefix(name);
}

/** Prefixes of the dynamic loader and C library, interpreters, shells, and programs that run other programs. */
const STEERING_PREFIXES: ReadonlySet<string> = named(`
  LD_ DYLD_ MALLOC_
  NODE_ PYTHON PERL5 RUBY GEM_ BUNDLE_ LUA_ DOTNET_ CORECLR_ DENO_ BUN_
  BASH_ PS0 PS1 PS2 PS4
  GIT_ OPENSSL_ PYTEST_ PIP_ UV_ CARGO_ RUSTC
`);

const STEERING: ReadonlySet<string> = named(`
  ENV IFS CDPATH GLOBIGNORE SHELLOPTS BASHOPTS PROMPT_COMMAND ZDOTDIR FPATH INPUTRC
  GCONV_PATH GLIBC_TUNABLES LOCPATH NLSPATH HOSTALIASES LOCALDOMAIN RES_OPTIONS
  RESOLV_HOST_CONF TZDIR TERMCAP TERMINFO TERMINFO_DIRS GETCONF_DIR NIS_PATH
  PERLLIB PERLIO PHPRC PHP_INI_SCAN_DIR CLASSPATH LUA_INIT LUA_PATH LUA_CPATH
  JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS R_PROFILE R_ENVIRON R_LIBS
  MAKEFLAGS MAKEFILES GNUMAKEFLAGS TAR_OPTIONS GOFLAGS GOROOT RSYNC_RSH CVS_RSH SVN_SSH
  LESSOPEN LESSCLOSE SSH_ASKPASS SUDO_ASKPASS SSH_AUTH_SOCK BROWSER
  SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE CURL_HOME CURL_CA_BUNDLE REQUESTS_CA_BUNDLE WGETRC SYSTEM_WGETRC
  XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS XDG_RUNTIME_DIR DOCKER_HOST KUBECONFIG
`);

/** Programs read these in either case. The executor sets the proxy variables. */
const STEERING_ANY_CASE = /^(?:npm_config_.*|yarn_.*|(?:http|https|ftp|all|no|rsync)_proxy)$/i;

const HARMLESS: ReadonlySet<string> = named(`
  NODE_ENV NODE_DEBUG NODE_NO_WARNINGS NODE_DISABLE_COLORS
  PYTHONUNBUFFERED PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 PYTHONDONTWRITEBYTECODE
  PYTHONFAULTHANDLER PYTHONTRACEMALLOC
  GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS
  GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
`);

function hasSteeringPrefix(name: string): boolean {
  for (const prefix of STEERING_PREFIXES) if (name.startsWith(prefix)) return true;
  return false;
}

function named(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}
