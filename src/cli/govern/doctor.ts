import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { LIMIT_LABELS, printable, type AttachedWorkspace, type Surroundings } from '#core';
import { findProgram, landlockGaps, landlockVersion, type ExecutorExamination } from '#sandbox';
import { examineExecutors, type Runtime } from '#runtime';
import { VERSION } from '../../version.ts';
import { defineCommand, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { surroundingsFor } from '../surroundings.ts';
import { openRuntime } from '../open-runtime.ts';
import { serverFindings } from '../agent/mcp-servers.ts';
import { rightsFindings, type Finding } from './permission-findings.ts';
import { unusableFiles } from '#skills';
import { diagnosticCounts, diagnosticJson, diagnosticText } from '../skills/show-diagnostics.ts';
import { checkAgentFolders } from '#packs';
import type { Terminal } from '../terminal/terminal.ts';

export const command = defineCommand({
  usage: 'doctor [--no-probe]',
  details: [
    'Checks the Node version, configuration files, roots, the cache, invalid and duplicate skills, programs that scripts need, agents and their links to skills, MCP servers, trust, keys, stored approvals, and the folder of recorded runs.',
    'Then probes each executor with harmless programs and prints what it blocks.',
    'Exit code 1: something needs fixing.',
  ].join('\n'),
  flags: {
    'no-probe': toggle('do not probe the executors and do not connect MCP servers, which takes some seconds'),
  },
  examples: [
    ['skillwright doctor', 'show all problems and their fixes'],
    ['skillwright doctor --json | jq ".findings[] | select(.status != \\"ok\\")"', 'list the problems for a script'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags, terminal } = invocation;
    const runtime = await openRuntime(invocation);
    const executors = flags['no-probe'] === true ? [] : await examineExecutors(runtime);
    const rights = await rightsFindings(runtime, surroundingsFor(flags));
    const agents = agentFindings(surroundingsFor(flags));
    const findings = [
      ...examine(runtime),
      ...interpreterFindings(executors),
      ...agents,
      ...(await serverFindings(runtime, flags['no-probe'] !== true)),
      ...rights,
      ...executors.map((executor) => executorFinding(executor, runtime)),
      ...(executors.length > 0 && process.platform === 'linux' ? [landlockFinding()] : []),
    ];
    const unusable = runtime.index.all.flatMap(({ dir }) => unusableFiles(dir, 'lenient'));
    const diagnostics = [...runtime.diagnostics, ...unusable];
    const isBroken =
      findings.some(({ status }) => status === 'error') || diagnostics.some(({ severity }) => severity === 'error');
    const answer = { ok: !isBroken, version: VERSION, findings, executors };
    if (terminal.printJson({ ...answer, diagnostics: diagnostics.map(diagnosticJson) }))
      return isBroken ? EXIT.failed : EXIT.done;
    const styles = { ok: 'green', warning: 'yellow', error: 'red' } as const;
    const width = Math.max(...findings.map(({ name }) => name.length));
    terminal.out(
      findings.map(({ name, status, detail }) => {
        const start = `${terminal.style(styles[status], status.padEnd(7))}  ${name.padEnd(width)}`;
        return terminal.wrap(`${start}  ${printable(detail)}`, width + 11);
      }),
    );
    terminal.out(matrixLines(executors, terminal));
    if (diagnostics.length > 0) terminal.out(`\n${terminal.style('bold', 'Problems')}`);
    terminal.out(diagnostics.map((diagnostic) => diagnosticText(diagnostic, terminal)));
    terminal.remark(diagnostics.length === 0 ? 'no problems found' : diagnosticCounts(diagnostics));
    return isBroken ? EXIT.failed : EXIT.done;
  },
});

function examine(runtime: Runtime): readonly Finding[] {
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
    programFinding('git', 'installing from git repositories'),
  ];
}

function executorFinding({ name, report, reasons, install }: ExecutorExamination, { config }: Runtime): Finding {
  if (name === 'local')
    return {
      name: 'executor local',
      status: 'ok',
      detail: 'does not isolate; used only if named, and for built-in scripts where nothing else works',
    };
  const isFine = report?.isIsolating === true;
  if (isFine && name === 'landlock') {
    const use = config.execution?.allow_weaker === true ? 'allowed for auto' : 'auto uses it for built-in scripts only';
    return {
      name: 'executor landlock',
      status: 'ok',
      detail: `weaker, ${use}; a program ${landlockGaps().join('; ')}`,
    };
  }
  return {
    name: `executor ${name}`,
    // Skills can be found and read without an executor; running scripts reports the problem.
    status: isFine ? 'ok' : 'warning',
    detail: isFine ? `isolates programs${runtimeText(report)}` : [...reasons, install].filter(Boolean).join('; '),
  };
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
        ? 'not in this kernel, or no perl to use it; bubblewrap and namespaces work without this second wall'
        : `version ${String(version)}${version < 2 ? ', too old for a' : '; a'} second wall in bubblewrap and namespaces`,
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

/** One row per probe, one column per executor: whether the executor blocked it. */
function matrixLines(executors: readonly ExecutorExamination[], { style }: Terminal): readonly string[] {
  const tried = executors.filter(({ report }) => report !== undefined);
  const [first] = tried;
  if (first?.report === undefined) return [];
  const names = first.report.results.map(({ name }) => name);
  const width = Math.max(...names.map((name) => name.length));
  const cell = (verdict: string): string => {
    const shown = verdict.padEnd(10);
    return verdict === 'blocked'
      ? style('green', shown)
      : verdict === 'open'
        ? style('red', shown)
        : style('dim', shown);
  };
  return [
    '',
    style(
      'bold',
      `${`probe, as user ${String(process.getuid?.() ?? '')}`.padEnd(width)}  ${tried.map(({ name }) => name.padEnd(10)).join('  ')}`,
    ),
    ...names.map((attempt) => {
      const verdicts = tried.map(
        ({ report }) => report?.results.find(({ name }) => name === attempt)?.verdict ?? 'unknown',
      );
      return `${attempt.padEnd(width)}  ${verdicts.map(cell).join('  ')}`;
    }),
    '',
    style('bold', 'limits, held by'),
    ...Object.entries(LIMIT_LABELS).map(([limit, label]) => {
      const cells = tried.map(({ report }) => {
        if (limit === 'temporaryBytes') return report?.capabilities.temporaryBytes === undefined ? 'none' : 'tmpfs';
        return Object.entries(report?.capabilities.limits ?? {}).find(([name]) => name === limit)?.[1] ?? 'none';
      });
      return `${label.padEnd(width)}  ${cells.map((held) => held.padEnd(10)).join('  ')}`;
    }),
    ...watchedLimits(tried),
  ];
}

/** How the kernel can hold the limits that a sandbox only watches. */
function watchedLimits(tried: readonly ExecutorExamination[]): readonly string[] {
  const isWatched = (limit: 'memoryBytes' | 'diskBytes'): boolean =>
    tried.some(
      ({ name, report }) =>
        (name === 'bubblewrap' || name === 'namespaces') && report?.capabilities.limits[limit] === 'watched',
    );
  return [
    ...(isWatched('memoryBytes')
      ? [
          '',
          'memory is watched ten times a second, because no control group can be created here. The kernel holds the limit in a login session',
          'under systemd with control groups of version 2 (without a login: loginctl enable-linger USER), and for root.',
        ]
      : []),
    ...(isWatched('diskBytes')
      ? [
          '',
          'disk is watched: many processes that write at once exceed the limit for a moment, then the program ends. The kernel holds it where',
          'TMPDIR is on a file system with a size, such as a tmpfs.',
        ]
      : []),
  ];
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
function programFinding(program: string, purpose: string): Finding {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
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
