import { LIMIT_LABELS, printable, executorTraits, type Surroundings } from '#core';
import { explainSkills, hookStates } from '#activation';
import { examineInstallation } from '#doctor';
import { VERSION } from '../../version.ts';
import { defineCommand, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { summaryOf } from '../skills/why.ts';
import { diagnosticCounts, diagnosticJson, diagnosticText } from '../skills/show-diagnostics.ts';
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
    const { flags, terminal, surroundings } = invocation;
    const runtime = await openRuntime(invocation);
    const examination = await examineInstallation(runtime, surroundings, {
      isProbing: flags['no-probe'] !== true,
    });
    const { executors, diagnostics, isBroken } = examination;
    const findings = [...examination.findings, ...(await catalogFindings(surroundings)), ...hookFindings(surroundings)];
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

/** One line per agent in use: how many of its skills its model sees with a description. */
type Examination = Awaited<ReturnType<typeof examineInstallation>>;

async function catalogFindings(surroundings: Surroundings): Promise<Examination['findings']> {
  const { agents } = await explainSkills({ surroundings });
  return agents.map((view) => ({
    name: 'catalog',
    status: view.skills.some(({ reason }) => reason?.code === 'budget') ? 'warning' : 'ok',
    detail: `${summaryOf(view)}${view.skills.every(({ shown }) => shown === 'full') ? '' : '; see skillwright why'}`,
  }));
}

/** One line per agent in use: whether its hook runs (skillwright activate). */
function hookFindings(surroundings: Surroundings): Examination['findings'] {
  return hookStates(surroundings).map(({ agent, status, detail }) => ({
    name: 'hook',
    status: status === 'active' || status === 'off' ? 'ok' : 'warning',
    detail: `${agent}: ${{ active: '', blocked: 'blocked; ', off: 'off; ', 'not-trusted': 'not trusted; ', broken: 'broken; ' }[status]}${detail}`,
  }));
}

/** One row per probe, one column per executor: whether the executor blocked it. */
function matrixLines(executors: Examination['executors'], { style }: Terminal): readonly string[] {
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
    '',
    'not limited: the number of pipes, and of inotify instances except in namespaces. While a program holds all that the kernel gives a user,',
    'other programs of that user (as root: of user 65534) get none or smaller ones.',
  ];
}

/** How the kernel can hold the limits that a sandbox only watches. */
function watchedLimits(tried: Examination['executors']): readonly string[] {
  const isWatched = (limit: 'memoryBytes' | 'diskBytes'): boolean =>
    tried.some(
      ({ name, report }) =>
        executorTraits(name).hasKernelLimits === true && report?.capabilities.limits[limit] === 'watched',
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
