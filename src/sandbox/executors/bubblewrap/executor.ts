import { type Executor, DEFAULT_LIMITS, isSkillError, printable } from '#core';
import { isPresent } from '#platform';
import type { Identity } from '../../program-types.ts';
import { type startChild, runChild } from '../../process/child-process.ts';
import { keepBytes } from '../../process/inherited-descriptors.ts';
import { linuxExecutor, type LinuxSandboxOptions } from '../linux/executor.ts';
import { EMPTY_REQUEST, sandboxFingerprint } from '../linux/fingerprint.ts';
import type { LaunchCommand, LaunchRequest, Launcher, OpenLauncher } from '../linux/launcher.ts';
import type { SandboxEntry } from '../linux/profile.ts';
import { gatePlan, launcherScript } from '../namespaces/executor.ts';
import { BROKER_SCRIPT, LAUNCHER_WITH_BROKER } from '../namespaces/broker-script.ts';
import { encodePlan, encodeWords } from '../namespaces/plan.ts';
import { sandboxArguments, NEEDED_OPTIONS } from './arguments.ts';
import { WORDS_FILE, gatedCommand, splitEnvironment } from './gate.ts';
import { unavailable } from '../linux/unavailable.ts';
import { PERL } from '../linux/perl.ts';
import { hasBroker } from '../landlock/version.ts';
import { textSink } from '../output-sinks.ts';

type KeptBytes = ReturnType<typeof keepBytes>;

type Inherited = NonNullable<Parameters<typeof startChild>[0]['inherited']>[number];

/** bubblewrap reads its arguments from this descriptor. */
const ARGUMENTS_DESCRIPTOR = 3;
const FILTER_DESCRIPTOR = 4;
/** dash accepts only one digit. */
const ENTRY_DESCRIPTOR = 5;
/** Enters the control group before bubblewrap starts, so that its two processes are in it as well. */
const ENTER_GROUP = [
  '/bin/sh',
  '-ec',
  `echo 0 >&${String(ENTRY_DESCRIPTOR)}; exec ${String(ENTRY_DESCRIPTOR)}>&-; exec "$@"`,
  'sh',
];

export interface BubblewrapOptions extends LinuxSandboxOptions {
  /** Path of bwrap (default: the first of the usual locations; `PATH` is not searched). */
  readonly command?: string;
  /** False: starts programs by a shell, without Landlock, as on machines without perl. */
  readonly hasPerl?: boolean;
}

/** Runs programs in bubblewrap. The default on Linux. */
export function bubblewrapExecutor({ command, hasPerl, ...options }: BubblewrapOptions = {}): Executor {
  return linuxExecutor(bubblewrapLauncher(command, hasPerl), options);
}

/** Changes with the installed bubblewrap, the profile, the seccomp filter and the options. */
export function bubblewrapFingerprint(options: BubblewrapOptions = {}): string {
  const { entries } = EMPTY_REQUEST;
  const profile = sandboxArguments({ ...EMPTY_REQUEST, filter: 0, files: entries.map(() => 0) });
  const gate = gatedCommand({ ...EMPTY_REQUEST, lateEnv: {} });
  const inner = isPresent(PERL) ? [LAUNCHER_WITH_BROKER, BROKER_SCRIPT, gatePlan(EMPTY_REQUEST)] : [];
  const { bridge, ...settings } = options;
  const tool = options.command ?? findBubblewrap();
  return `bubblewrap ${sandboxFingerprint(tool, [profile, gate, inner, settings, bridge !== undefined])}`;
}

/** Starts programs by bwrap (default: the first of the usual locations; `PATH` is not searched). */
function bubblewrapLauncher(command = findBubblewrap(), hasPerl = isPresent(PERL)): Launcher {
  return {
    name: 'bubblewrap',
    isolation: 'bubblewrap',
    install: `${INSTALL_BUBBLEWRAP} (0.8 or newer), on a kernel with unprivileged user namespaces`,
    check: async (options) => await checkInstalled(command, options),
    hidesNames: () => hasPerl && hasBroker(),
    open: (filter) => openBubblewrap(command ?? 'bwrap', filter, hasPerl),
  };
}

export function openBubblewrap(command: string, filter: Uint8Array, hasPerl: boolean): OpenLauncher {
  // Files that are the same for every program of a workspace are written once and opened anew for each program.
  const kept = new Map<string, KeptBytes>();
  let keptFilter: KeptBytes | undefined;
  const keep = (content: string): Inherited => {
    const found = kept.get(content) ?? keepBytes(new TextEncoder().encode(content));
    kept.set(content, found);
    return found.inherited;
  };
  return {
    launch: (request) => {
      keptFilter ??= keepBytes(filter);
      return launch(command, request, { filter: keptFilter.inherited, keep, hasPerl });
    },
    close: () => {
      for (const bytes of kept.values()) bytes.close();
      kept.clear();
      keptFilter?.close();
      keptFilter = undefined;
    },
  };
}

interface WorkspaceFiles {
  readonly filter: Inherited;
  readonly keep: (content: string) => Inherited;
  readonly hasPerl: boolean;
}

/** Sets the limits, confines itself by Landlock and becomes the program; a shell does the first and the last where there is no perl. */
interface InnerCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly wordsFile?: string;
  /** For the descriptor that its last argument names. */
  readonly plan?: Uint8Array;
}

function innerCommand(request: LaunchRequest, planDescriptor: number | undefined): InnerCommand {
  if (planDescriptor !== undefined)
    return {
      argv: [PERL, '-e', launcherScript(request), String(planDescriptor)],
      env: {},
      plan: encodePlan(gatePlan(request)),
    };
  const { early, late } = splitEnvironment(request.env);
  return { env: early, ...gatedCommand({ ...request, lateEnv: late }) };
}

function launch(command: string, request: LaunchRequest, { filter, keep, hasPerl }: WorkspaceFiles): LaunchCommand {
  const firstFree = ENTRY_DESCRIPTOR + (request.hasEntry ? 1 : 0);
  const { argv, env, wordsFile, plan } = innerCommand(request, hasPerl ? firstFree : undefined);
  const words: readonly SandboxEntry[] =
    wordsFile === undefined ? [] : [{ type: 'file', content: wordsFile, target: WORDS_FILE }];
  const entries = [...words, ...request.entries];
  const files = entries.flatMap((entry) =>
    entry.type === 'file' ? [entry.target === WORDS_FILE ? Buffer.from(entry.content) : keep(entry.content)] : [],
  );
  const firstFile = firstFree + (plan === undefined ? 0 : 1);
  // `--args` hides the arguments from process lists and from the program.
  const args = encodeWords(
    sandboxArguments({
      entries,
      cwd: request.cwd,
      env,
      filter: FILTER_DESCRIPTOR,
      files: files.map((_, at) => firstFile + at),
    }),
  );
  return {
    argv: [...(request.hasEntry ? ENTER_GROUP : []), command, '--args', String(ARGUMENTS_DESCRIPTOR), '--', ...argv],
    inherited: (entry) => [
      args,
      filter,
      ...(entry === undefined ? [] : [{ file: entry, access: 'write' } as const]),
      ...(plan === undefined ? [] : [plan]),
      ...files,
    ],
  };
}

const HELP_MS = 10_000;

const MAX_HELP = 64 * 1024;

const MAX_SHOWN = 300;

const INSTALL_BUBBLEWRAP = 'apt-get install bubblewrap';

const REINSTALL_BUBBLEWRAP = 'apt-get install --reinstall bubblewrap';

const LOCATIONS = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap'];

/** Searches fixed locations instead of `PATH`: a program named bwrap in a project must not become the sandbox. */
function findBubblewrap(): string | undefined {
  return LOCATIONS.find((file) => isPresent(file));
}

/** Throws `executor/unavailable` where bubblewrap is missing, does not start or lacks an option that the profile needs. */
async function checkInstalled(
  command: string | undefined,
  { identity, isKnown }: { readonly identity: Identity | undefined; readonly isKnown: boolean },
): Promise<void> {
  if (command === undefined || !isPresent(command))
    throw unavailable('bubblewrap', ['bubblewrap is not installed'], INSTALL_BUBBLEWRAP);
  if (isKnown) return;
  const { help, failure } = await readHelp(command, identity);
  if (failure !== undefined)
    throw unavailable('bubblewrap', [`${command} does not start: ${failure}`], REINSTALL_BUBBLEWRAP);
  const offered = new Set(help.match(/--[a-z0-9-]+/g));
  const missing = NEEDED_OPTIONS.filter((option) => !offered.has(option));
  if (missing.length > 0)
    throw unavailable(
      'bubblewrap',
      [`${command} is too old: it lacks ${missing.join(', ')}`],
      `${INSTALL_BUBBLEWRAP} (0.8 or newer)`,
    );
}

/** What `--help` prints, with the reason if the program is broken or made for another machine. */
async function readHelp(
  command: string,
  identity: Identity | undefined,
): Promise<{ readonly help: string; readonly failure?: string }> {
  const sink = textSink();
  try {
    const end = await runChild(
      {
        argv: [command, '--help'],
        cwd: '/',
        env: {},
        executor: 'bubblewrap',
        identity,
      },
      {
        stdin: new Uint8Array(),
        limits: { ...DEFAULT_LIMITS, wallMs: HELP_MS, outputBytes: MAX_HELP },
        streams: { stdout: sink, stderr: sink },
      },
    );
    const help = sink.text();
    if (end.reason === 'exited' && end.exitCode === 0) return { help };
    const message = printable(help.trim().split('\n')[0] ?? '').slice(0, MAX_SHOWN);
    const ended = end.reason === 'exited' ? `exit code ${String(end.exitCode)}` : (end.signal ?? end.reason);
    return { help, failure: message === '' ? ended : `${ended}: ${message}` };
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return { help: '', failure: error.message };
  }
}
