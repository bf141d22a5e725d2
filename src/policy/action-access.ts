import {
  listHostInputs,
  isWeaker,
  packageArgument,
  readAuthority,
  readHostPattern,
  readPackage,
  replaceFolder,
  scriptPath,
  type Action,
  type Decision,
  type OfType,
  type RunResult,
  isProblem,
} from '#core';
import { isInside, realPath } from '#platform';
import { isTransparent, listPrograms } from './command/command-pattern.ts';
import type { CommandLine } from './command/command-words.ts';
import type { Access } from './access.ts';

type Capability = NonNullable<Decision['capabilities']>[number];

export interface ProgramFacts {
  /** Absent if no program runs. */
  readonly isolation?: RunResult['isolation'];
  readonly writes?: readonly string[];
  readonly hosts?: readonly string[];
  readonly secrets?: readonly string[];
}

/** A file or folder as rules write it and absolute, with further names that rules may use. */
export interface FileSubject {
  readonly shown: string;
  readonly absolute: string;
  readonly also?: readonly string[];
  readonly isIgnored?: boolean;
  readonly isUndoable?: boolean;
  /** It belongs to a loaded skill. */
  readonly isOfSkill?: boolean;
}

/** Facts about an action that are not part of the action itself. */
export interface AccessFacts extends ProgramFacts {
  readonly skill?: { readonly id: string; readonly name: string; readonly dir?: string };
  /** Whether its instructions are already in the conversation. */
  readonly isLoaded?: boolean;
  /** The resolved path. */
  readonly place?: FileSubject;
  /** What an action on a skill reads or lists: one folder, one file, or documents. */
  readonly files?: readonly FileSubject[];
  readonly lock?: string;
  /** The folder whose files a program may get as inputs like any file of the project. */
  readonly project?: string;
}

/** Variables with fixed values in every sandbox. */
const WORKSPACE_VARIABLES = {
  WORKSPACE_DIR: '/workspace',
  SKILLS_DIR: '/workspace/skills',
  WORK_DIR: '/workspace/work',
  OUTPUT_DIR: '/workspace/out',
} as const;

/** Lists everything that an action does, for the policy to decide about. */
export async function listAccesses(action: Action, facts: AccessFacts): Promise<readonly Access[]> {
  switch (action.type) {
    case 'run_script':
      return [
        {
          tool: 'run_script',
          subject: {
            kind: 'script',
            skill: facts.skill?.name ?? action.skill,
            script: scriptPath(action),
            args: action.args,
            ...(facts.isolation === 'none' ? { isUnisolated: true } : {}),
          },
        },
        ...circumstances(action, facts),
      ];
    case 'run_command':
    case 'start_command':
      return [
        {
          tool: 'run_command',
          subject: {
            ...lineSubject(await readCommand(action, facts.skill)),
            isContained: isContained(facts),
            isElsewhere: !HERE.has(action.cwd ?? ''),
            isUnisolated: facts.isolation === 'none',
          },
        },
        ...circumstances(action, facts),
      ];
    case 'read_file':
    case 'list_dir':
    case 'grep':
    case 'write_file':
    case 'delete_file':
      return fileAccesses(action.type, facts.place ?? { shown: action.path });
    case 'edit_file':
      // The match tells the model about the content, so the rules for reading apply too.
      return (['read_file', 'write_file'] as const).flatMap((tool) =>
        fileAccesses(tool, facts.place ?? { shown: action.path }),
      );
    case 'install_packages':
      return packageAccesses(action.packages, action.isDeclared, facts.lock);
    case 'network_request':
      return [{ tool: 'network_request', subject: hostSubject(action.url, action.method ?? 'GET') }];
    case 'call_mcp_tool':
      return [{ tool: action.name, subject: { kind: 'none' } }];
    case 'load_skill': {
      const loads = skillAccess(action.skill, facts);
      return action.documents === undefined ? [loads] : [loads, ...documentAccesses(facts)];
    }
    case 'list_resources':
    case 'read_resource':
    case 'select_documents':
    case 'get_script_path': {
      const first = resourceAccesses(action.type, facts);
      // SKILL.md is one of these files, so rules for loading the skill apply to reading it.
      return facts.isLoaded === true ? first : [...first, skillAccess(action.skill, facts)];
    }
    default:
      return [{ tool: action.type, subject: { kind: 'none' } }];
  }
}

/** By which name rules know an action on files of skills that a file tool does. */
const ON_SKILLS: ReadonlyMap<string, string> = new Map([
  ['read_file', 'read_resource'],
  ['grep', 'read_resource'],
  ['list_dir', 'list_resources'],
]);

/** What a file tool does. On a file of a skill it does what the tools for skills do. */
export function fileAccesses(
  tool: string,
  { shown: path, ...place }: Omit<FileSubject, 'absolute'> & Partial<FileSubject>,
): readonly Access[] {
  const onSkills = place.isOfSkill === true ? ON_SKILLS.get(tool) : undefined;
  const subject = { kind: 'path', path, ...place } as const;
  return [tool, ...(onSkills === undefined ? [] : [onSkills])].map((name) => ({ tool: name, subject }));
}

function resourceAccesses(
  tool: 'list_resources' | 'read_resource' | 'select_documents' | 'get_script_path',
  facts: AccessFacts,
): readonly Access[] {
  if (tool === 'select_documents') return documentAccesses(facts);
  const { files = [] } = facts;
  if (files.length === 0) return [{ tool, subject: { kind: 'none' } }];
  return files.flatMap((file) => fileAccesses(tool, file));
}

function documentAccesses({ files = [] }: AccessFacts): readonly Access[] {
  return [
    { tool: 'select_documents', subject: { kind: 'none' } },
    ...files.flatMap((file) => fileAccesses('read_resource', file)),
  ];
}

function packageAccesses(
  packages: readonly string[],
  isDeclared: boolean,
  lock: string | undefined,
): readonly Access[] {
  const names = packages.map((text) => {
    const read = readPackage(text);
    return isProblem(read) ? text : packageArgument({ ...read, text: read.name });
  });
  const subject = { kind: 'packages', names, lock } as const;
  const tools = isDeclared ? ['install_packages'] : ['install_packages', 'unlisted_packages'];
  return tools.map((tool) => ({ tool, subject }));
}

function skillAccess(asked: string, { skill }: AccessFacts): Access {
  return { tool: 'load_skill', subject: { kind: 'skill', id: skill?.id ?? '', name: skill?.name ?? asked } };
}

type CommandSubject = Extract<Access['subject'], { kind: 'command' }>;

/** A line that runs in a sandbox without anything else. */
export function lineSubject(line: CommandLine): CommandSubject {
  const programs = listPrograms(line);
  return {
    kind: 'command',
    line,
    programs,
    isTransparent: isTransparent(line),
    isContained: true,
    isElsewhere: false,
    isUnisolated: false,
  };
}

/** Parses a command line for rules. The parser is loaded here, because few commands of this program need it. */
async function readCommand(
  { command, env = {} }: OfType<Action, 'run_command' | 'start_command'>,
  skill: AccessFacts['skill'],
): Promise<CommandLine> {
  const { readCommandLine } = await import('./command/command-line.ts');
  const copy = `${WORKSPACE_VARIABLES.SKILLS_DIR}/${skill?.name ?? ''}`;
  const named = skill && { SKILL_NAME: skill.name, SKILL_DIR: copy };
  const run = skill?.dir === undefined ? command : replaceFolder(command, skill.dir, copy);
  return readCommandLine(run, { variables: { ...WORKSPACE_VARIABLES, ...named }, env });
}

/** Landlock leaves gaps. Facts without an isolation are those of no program. */
const CONTAINING: ReadonlySet<RunResult['isolation'] | undefined> = new Set([
  undefined,
  'bubblewrap',
  'namespaces',
  'container',
  'seatbelt',
] as const);

/** Whether a program reaches nothing outside its sandbox: no network, no secrets, no host folder to write. */
export function isContained({ isolation, writes = [], hosts = [], secrets = [] }: ProgramFacts): boolean {
  return CONTAINING.has(isolation) && writes.length + hosts.length + secrets.length === 0;
}

/** What a program reaches outside its sandbox, for people and records. */
export function listCapabilities({
  isolation,
  writes = [],
  hosts = [],
  secrets = [],
}: ProgramFacts): readonly Capability[] {
  const on = (name: Capability['name'], names: readonly string[]): readonly Capability[] =>
    names.length === 0 ? [] : [{ name, on: names }];
  return [
    ...on('project_write', writes),
    ...on('network', hosts),
    ...on('secrets', secrets),
    ...(isWeaker(isolation) ? [{ name: 'weak_isolation', on: [] } as const] : []),
    ...(isolation === 'none' ? [{ name: 'no_isolation', on: [] } as const] : []),
  ];
}

/** The host of a network request; also used for each redirect. */
export function hostSubject(url: string, method: string): Extract<Access['subject'], { kind: 'host' }> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const authority = readAuthority(parsed?.host ?? '', parsed?.protocol === 'http:' ? 80 : HTTPS);
  return { kind: 'host', host: authority?.host, port: authority?.port ?? 0, method: method.toUpperCase() };
}

/** What a network grant lets programs do. One name stands for all names of a wildcard. */
export function grantAccess(pattern: string): Access {
  const grant = readHostPattern(pattern);
  const subject = isProblem(grant)
    ? { host: undefined, port: 0 }
    : {
        host: { name: grant.kind === 'below' ? `any.${grant.host}` : grant.host, isAddress: grant.kind === 'address' },
        port: grant.ports === 'all' ? HTTPS : (grant.ports.at(-1) ?? HTTPS),
      };
  return { tool: 'network_request', subject: { kind: 'host', method: 'GET', ...subject } };
}

const HTTPS = 443;

/** Values of `cwd` that mean the default folder: that of the skill or the workspace, or the project. */
const HERE: ReadonlySet<string> = new Set(['', '.', './', '$PROJECT_DIR']);

function circumstances(
  action: Action,
  { isolation, writes = [], hosts = [], secrets = [], project }: AccessFacts,
): readonly Access[] {
  const onPath = (tool: string, path: string): Access => ({ tool, subject: { kind: 'path', path, absolute: path } });
  return [
    ...writes.map((path) => onPath('mount_write', path)),
    ...hosts.map((host): Access => ({ tool: 'use_network', subject: grantAccess(host).subject })),
    ...secrets.map((name): Access => ({ tool: 'use_secret', subject: { kind: 'secret', name } })),
    ...listHostInputs(action).map((path): Access => {
      const isOfProject = project !== undefined && isInside(realPath(path), realPath(project));
      return {
        tool: 'host_input',
        subject: { kind: 'path', path, absolute: path, ...(isOfProject && { isOfProject }) },
      };
    }),
    ...(isolation === 'none' ? [{ tool: 'unsafe_local', subject: { kind: 'none' } } satisfies Access] : []),
  ];
}
