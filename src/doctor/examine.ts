/** Examines the installation, the project and this machine. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { namedIsolation, type AttachedWorkspace, type Diagnostic, type Surroundings } from '#core';
import { checkAgentFolders, findLocked } from '#packs';
import { openSecrets, type Runtime } from '#runtime';
import { examineExecutors, landlockVersion } from '#sandbox';
import { unusableFiles } from '#skills';
import { rightsFindings, type Finding } from './rights.ts';
import { findProgram } from '#platform';

type ExecutorExamination = Awaited<ReturnType<typeof examineExecutors>>[number];

interface Examination {
  readonly findings: readonly Finding[];
  /** Empty without probes. */
  readonly executors: readonly ExecutorExamination[];
  readonly diagnostics: readonly Diagnostic[];
  /** Something needs fixing. */
  readonly isBroken: boolean;
}

/** Without probes it starts no program of an executor and connects no MCP server, which would take seconds. */
export async function examineInstallation(
  runtime: Runtime,
  surroundings: Surroundings,
  { isProbing }: { readonly isProbing: boolean },
): Promise<Examination> {
  const executors = isProbing ? await examineExecutors(runtime) : [];
  const findings = [
    ...runtimeFindings(runtime),
    programFinding('git', 'installing from git repositories', surroundings),
    ...interpreterFindings(executors),
    ...agentFindings(surroundings),
    ...acceptedFindings(runtime),
    ...(await serverFindings(runtime, isProbing)),
    ...(await rightsFindings(runtime, surroundings)),
    ...executors.map((executor) => executorFinding(executor, runtime)),
    ...(executors.length > 0 && process.platform === 'linux' ? [landlockFinding()] : []),
  ];
  const diagnostics = [
    ...runtime.diagnostics,
    ...runtime.index.all.flatMap(({ dir }) => unusableFiles(dir, 'lenient')),
  ];
  const isBroken =
    findings.some(({ status }) => status === 'error') || diagnostics.some(({ severity }) => severity === 'error');
  return { findings, executors, diagnostics, isBroken };
}

/** Skills that the scan would stop, had the user not accepted them. */
function acceptedFindings({ index }: Runtime): readonly Finding[] {
  return [...findLocked(index.all.map(({ dir }) => dir))].flatMap(([dir, { accepted }]) =>
    accepted === undefined
      ? []
      : [
          {
            name: 'scan',
            status: 'ok',
            detail: `${dir}: you accepted ${accepted.join(', ')} for the files of the lock`,
          },
        ],
  );
}

function runtimeFindings(runtime: Runtime): readonly Finding[] {
  const { report, shadowed } = runtime.index;
  const hidden = shadowed.filter(({ reason }) => reason !== 'same-directory');
  return [
    nodeVersion(process.versions.node),
    ...runtime.configFiles.map(({ path: file, status }): Finding => ({
      name: 'configuration',
      status: status === 'invalid' ? 'error' : 'ok',
      detail: `${file} (${status})`,
    })),
    ...report.roots.map(({ source, path: root, status, skills }): Finding => {
      const isFine = status === 'scanned' || status === 'missing' || status === 'repeated';
      return {
        name: `root ${source}`,
        status: isFine ? 'ok' : 'warning',
        detail: `${root}: ${status === 'scanned' ? `${String(skills)} skills` : status}`,
      };
    }),
    cacheFinding(runtime),
    {
      name: 'skills',
      status: report.leftOut.length === 0 ? 'ok' : 'error',
      detail: `${String(report.valid)} valid, ${String(report.leftOut.length)} left out`,
    },
    {
      name: 'names',
      status: hidden.length === 0 ? 'ok' : 'warning',
      detail:
        hidden.length === 0
          ? 'no two skills share a name'
          : `${String(hidden.length)} hidden: ${hidden
              .slice(0, 5)
              .map(({ source, name }) => `${source}/${name}`)
              .join(', ')}`,
    },
  ];
}

function executorFinding({ name, report, reasons, install, gaps }: ExecutorExamination, { config }: Runtime): Finding {
  if (namedIsolation(name) === 'none')
    return {
      name: `executor ${name}`,
      status: 'ok',
      detail: 'does not isolate; used only if named, and for built-in scripts where nothing else works',
    };
  const isFine = report?.isIsolating === true;
  if (isFine && gaps !== undefined) {
    const use = config.execution?.allow_weaker === true ? 'allowed for auto' : 'auto uses it for built-in scripts only';
    return {
      name: `executor ${name}`,
      status: 'ok',
      detail: `weaker, ${use}; a program ${gaps.join('; ')}`,
    };
  }
  return {
    name: `executor ${name}`,
    // Skills can be found and read without an executor; running scripts reports the problem.
    status: isFine ? 'ok' : 'warning',
    detail: isFine
      ? `isolates programs${runtimeText(report)}${lateSecrets(name)}`
      : [...reasons, install].filter(Boolean).join('; '),
  };
}

/** Where nothing looks at the files that programs open. */
function lateSecrets(name: string): string {
  const isLate = name === 'container' || name === 'macos';
  return isLate ? '; shows secret files of a project that are created or replaced while a program runs' : '';
}

/** The OCI runtime of containers. gVisor is worth naming where it is installed and not used. */
function runtimeText({ capabilities }: Pick<AttachedWorkspace, 'capabilities'>): string {
  const { runtime } = capabilities;
  if (runtime === undefined) return '';
  const other = runtime.others.find((name) => name.startsWith('runsc'));
  const more = other === undefined ? '' : `; stronger with "execution": { "runtime": "${other}" }`;
  return ` by the runtime ${runtime.used}${more}`;
}

/** Landlock also confines programs inside of the other sandboxes. */
function landlockFinding(): Finding {
  const version = landlockVersion();
  return {
    name: 'landlock',
    status: 'ok',
    detail:
      version < 1
        ? 'not in this kernel, or no perl to use it; bubblewrap and namespaces work without this second wall, and secret files of a project are hidden as they are when a program starts'
        : `version ${String(version)}${version < 2 ? ', too old for a' : '; a'} second wall in bubblewrap and namespaces; secret files of a project are hidden ${version < 2 ? 'as they are when a program starts' : 'also if they are created or replaced while a program runs'}`,
  };
}

/** What scripts find, which may differ from what this shell finds. Without a probe nothing is known about it. */
function interpreterFindings(executors: readonly ExecutorExamination[]): readonly Finding[] {
  const used = executors.find(({ report }) => report?.isIsolating === true) ?? executors.at(-1);
  return (used?.report?.interpreters ?? []).map(({ name, path: file, version }): Finding => {
    const under = `under ${String(used?.name)}`;
    const label = `scripts: ${name}`;
    if (file === undefined)
      return { name: label, status: 'ok', detail: `not found ${under}; scripts that need it cannot run` };
    // Every interpreter prints a version, so one without is broken.
    return version === undefined
      ? { name: label, status: 'warning', detail: `${file} does not start ${under}; scripts that need it cannot run` }
      : { name: label, status: 'ok', detail: `${file} (${version}) ${under}` };
  });
}

const MIN_NODE = [20, 19] as const;

function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNewEnough = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  return {
    name: 'node',
    status: isNewEnough ? 'ok' : 'error',
    detail: `${version}${isNewEnough ? '' : `; requires at least ${MIN_NODE.join('.')}`}`,
  };
}

function cacheFinding({ cacheDir, index }: Runtime): Finding {
  const { status, reason } = index.report.cache;
  if (cacheDir === undefined) return { name: 'cache', status: 'ok', detail: 'off' };
  if (status === 'unwritable')
    return {
      name: 'cache',
      status: 'warning',
      detail: `${cacheDir} is not writable (${reason ?? 'unknown reason'}); every command reads all skills again`,
    };
  return { name: 'cache', status: 'ok', detail: `${cacheDir} (${status})` };
}

const VERSION_MS = 10_000;

/** Whether a program that skillwright itself uses is installed and starts. A missing one matters only to the commands that need it. */
function programFinding(program: string, purpose: string, { env }: Surroundings): Finding {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const found = findProgram(program, folders);
  if (found === undefined) return { name: program, status: 'ok', detail: `not found; ${purpose} needs it` };
  const { status, error, stderr } = spawnSync(found, ['--version'], { encoding: 'utf8', timeout: VERSION_MS });
  if (status === 0) return { name: program, status: 'ok', detail: found };
  const reason = error?.message ?? (stderr.trim().split('\n')[0] || `exit code ${String(status)}`);
  return { name: program, status: 'warning', detail: `${found} does not start: ${reason}; ${purpose} needs it` };
}

/** Which agents are in use here, and whether the links to installed skills are whole. */
function agentFindings(surroundings: Surroundings): readonly Finding[] {
  const { detected, broken, changed } = checkAgentFolders(surroundings);
  const warning = (detail: string): Finding => ({ name: 'links', status: 'warning', detail });
  return [
    {
      name: 'agents',
      status: 'ok',
      detail: detected.map(({ agent, at }) => `${agent.id} (${at})`).join(', ') || 'none detected',
    },
    ...broken.map(({ path: place, agents }) =>
      warning(`${place} (${agents.join(', ')}) leads to nothing: remove it, or install the skill again`),
    ),
    ...changed.map(({ path: place, kind, status, agents, scope }) => {
      const flag = scope === 'user' ? ' --scope user' : '';
      return warning(
        `the ${kind} ${place} (${agents.join(', ')}) is ${status}: run skillwright install --frozen${flag}`,
      );
    }),
  ];
}

/** The state of every configured server. Connects the enabled ones, unless `isTried` is false. */
export async function serverFindings(runtime: Runtime, isTried: boolean): Promise<readonly Finding[]> {
  const configured = Object.entries(runtime.config.mcp_servers ?? {});
  if (configured.length === 0) return [];
  const { describeServer, openToolServers } = await import('#mcp/tool-servers');
  const { user, project } = runtime.executionPlaces;
  const secrets = openSecrets(runtime.config.secrets ?? {}, { ...user, cwd: project }).values;
  const servers = openToolServers(runtime);
  try {
    const states = isTried ? await servers.check({ secrets }) : [];
    return configured.map(([name, { enabled }]): Finding => {
      const state = states.find((each) => each.name === name);
      const label = `MCP server ${name}`;
      if (state === undefined)
        return { name: label, status: 'ok', detail: enabled === false ? 'disabled' : 'configured, not tried' };
      const { tools, problems, isConnected } = state;
      const detail = [describeServer(state), ...problems].join('; ');
      const isWhole = isConnected && problems.length === 0;
      return {
        name: label,
        status: isWhole ? 'ok' : 'warning',
        detail: tools.length === 0 ? detail : `${detail}; see skillwright mcp check ${name}`,
      };
    });
  } finally {
    await servers.close();
  }
}
