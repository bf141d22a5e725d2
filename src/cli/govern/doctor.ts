import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { printable } from '../../core/text/text.ts';
import { isDirectory, isSystemError } from '../../platform/fs/paths.ts';
import type { ExecutorExamination } from '../../sandbox/probe/detect.ts';
import { examineExecutors } from '../../runtime/execution/executors.ts';
import { surroundingsOf } from '../../runtime/config/config.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { VERSION } from '../../version.ts';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { rightsFindings } from './permission-findings.ts';
import type { Finding } from './permission-findings.ts';
import { countText, diagnosticJson, diagnosticText } from '../skills/show-diagnostics.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const command = defineCommand({
  usage: 'doctor [--no-probe]',
  details: [
    'Looks at everything that can be wrong: the Node version, configuration files, roots, the cache, each skill that was left out or',
    'repaired, names that hide each other, and programs that scripts of skills need; whether this project is trusted, whether your key,',
    'your trust and your stored answers can be used, and where runs are recorded. Exit 1 when something needs mending.',
    'Then it tries, with harmless programs, what a script could do to this machine under each executor: a table of what is blocked.',
  ].join('\n'),
  flags: { 'no-probe': { type: 'boolean', about: 'do not try the executors, which takes some seconds' } },
  examples: [
    ['skillwright doctor', 'all problems with what to do about them'],
    ['skillwright doctor --json | jq ".findings[] | select(.status != \\"ok\\")"', 'for a script'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags, terminal } = invocation;
    const runtime = await openRuntime(invocation);
    const executors = flags['no-probe'] === true ? [] : await examineExecutors(runtime);
    const rights = await rightsFindings(runtime, surroundingsOf(flags.cwd === undefined ? {} : { cwd: flags.cwd }));
    const findings = [...examine(runtime), ...rights, ...executors.map(executorFinding)];
    const { diagnostics } = runtime;
    const isSick =
      findings.some(({ status }) => status === 'error') || diagnostics.some(({ severity }) => severity === 'error');
    if (flags.json === true) {
      terminal.out(
        jsonText({ ok: !isSick, version: VERSION, findings, executors, diagnostics: diagnostics.map(diagnosticJson) }),
      );
      return isSick ? EXIT.failed : EXIT.done;
    }
    const styles = { ok: 'green', warning: 'yellow', error: 'red' } as const;
    const width = Math.max(...findings.map(({ name }) => name.length));
    for (const { name, status, detail } of findings)
      terminal.out(`${terminal.style(styles[status], status.padEnd(7))}  ${name.padEnd(width)}  ${printable(detail)}`);
    for (const line of matrixLines(executors, terminal)) terminal.out(line);
    if (diagnostics.length > 0) terminal.out(`\n${terminal.style('bold', 'Problems')}`);
    for (const diagnostic of diagnostics) terminal.out(diagnosticText(diagnostic, terminal));
    terminal.remark(diagnostics.length === 0 ? 'no problems found' : countText(diagnostics));
    return isSick ? EXIT.failed : EXIT.done;
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
      detail: `${String(report.valid)} usable, ${String(report.leftOut.length)} left out`,
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
    ...['python3', 'bash', 'git'].map(programFinding),
  ];
}

function executorFinding({ name, report, reasons, install }: ExecutorExamination): Finding {
  if (name === 'local') return { name: 'executor local', status: 'ok', detail: 'isolates nothing; used only by name' };
  const isFine = report?.isIsolating === true;
  return {
    name: `executor ${name}`,
    // None is needed to find and read skills; running scripts says so by itself.
    status: isFine ? 'ok' : 'warning',
    detail: isFine ? 'isolates programs' : `${reasons.join('; ')}; ${install}`,
  };
}

/** What a program tried on this machine, and whether it could. */
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
    style('bold', `${'a program'.padEnd(width)}  ${tried.map(({ name }) => name.padEnd(10)).join('  ')}`),
    ...names.map((attempt) => {
      const verdicts = tried.map(
        ({ report }) => report?.results.find(({ name }) => name === attempt)?.verdict ?? 'unknown',
      );
      return `${attempt.padEnd(width)}  ${verdicts.map(cell).join('  ')}`;
    }),
  ];
}

const LEAST_NODE = [20, 19] as const;

function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNewEnough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  return {
    name: 'node',
    status: isNewEnough ? 'ok' : 'error',
    detail: `${version}${isNewEnough ? '' : `; at least ${LEAST_NODE.join('.')} is needed`}`,
  };
}

function cacheFinding({ cacheDir, index }: Runtime): Finding {
  const { status, reason } = index.report.cache;
  if (cacheDir === undefined) return { name: 'cache', status: 'ok', detail: 'off' };
  if (status === 'unwritable')
    return {
      name: 'cache',
      status: 'warning',
      detail: `${cacheDir} cannot be written (${reason ?? 'no reason given'}); every look reads all skills again`,
    };
  return { name: 'cache', status: 'ok', detail: `${cacheDir} (${status})` };
}

/** What scripts of skills are run with; not having one matters only to skills that need it. */
function programFinding(program: string): Finding {
  const directories = (process.env['PATH'] ?? '').split(path.delimiter).filter((directory) => directory !== '');
  const found = directories.map((directory) => path.join(directory, program)).find(isExecutable);
  return { name: program, status: 'ok', detail: found ?? 'not found: scripts that need it will not run' };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return !isDirectory(file);
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
