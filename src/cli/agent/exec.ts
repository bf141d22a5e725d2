import path from 'node:path';

import {
  cleanText,
  countText,
  defined,
  EXECUTOR_NAMES,
  forPeople,
  invalidInput,
  isSkillError,
  COLLECTED,
  printable,
  quoted,
  SkillError,
  type ActionFailed,
  type Observation,
  type RunResult,
  type SkillEntry,
  type OfType,
  nearest,
  type Action,
} from '#core';
import { isPresent, isInside, realPath, tryRealPath } from '#platform';
import { resolveSkill, listSkillFiles } from '#skills';
import type { Run, Runtime, Session } from '#runtime';
import type { ExecutionOptions } from '#sandbox';
import { VOCABULARY_FLAG } from './agent-flags.ts';
import { APPROVAL_FLAGS, AUTO_FLAG, openApprover, policyRefusal, repeatedCommand } from './approval.ts';
import { TRUST_FLAGS, askForTrust } from './consent.ts';
import { listScripts, scriptLines } from './list-scripts.ts';
import { deliverOutputs, type Delivery } from './deliver-outputs.ts';
import { wholeNumber } from '../arguments.ts';
import { defineCommand, option, toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { openRuntime, warnAboutConfig } from '../open-runtime.ts';
import type { Terminal } from '../terminal/terminal.ts';
import {
  PACKAGE_FLAGS,
  SANDBOX_FLAGS,
  commandExecution,
  packageOptions,
  sandboxOptions,
  weakerQuestion,
} from './programs.ts';

const flags = {
  in: option(
    'FILE',
    'copy FILE (or FILE=NAME, artifact://..., skill://...) to inputs/NAME of the workspace; may be repeated',
    { multiple: true },
  ),
  out: option(
    'DIR',
    'copy the files that the script leaves in out/ or changes beside its inputs to DIR (default: asks for ./out, or keeps them in the record)',
  ),
  executor: option('NAME', 'run with this executor; local does not isolate (default: auto, the first that isolates)', {
    choices: ['auto', ...EXECUTOR_NAMES],
  }),
  timeout: option('SECONDS', 'stop the script or command after SECONDS (default: 30)'),
  image: option('NAME', 'set the image of the container executor'),
  env: option('NAME=VALUE', 'set an environment variable; may be repeated', { multiple: true }),
  ...VOCABULARY_FLAG,
  ...PACKAGE_FLAGS,
  ...SANDBOX_FLAGS,
  serve: option('PORT', 'open PORT of the program at 127.0.0.1 until Ctrl-C, for scripts that start a local page'),
  save: toggle('save the files in out/ as artifacts'),
  ...APPROVAL_FLAGS,
  ...AUTO_FLAG,
  ...TRUST_FLAGS,
  command: toggle('treat SCRIPT as a shell command line and run it in the skill folder'),
} as const;

export const command = defineCommand({
  usage:
    'exec SKILL [SCRIPT] [--in FILE] [--out DIR] [--project none|read|write] [--mount DIR[:rw]] [--allow HOST] [--executor NAME] [--timeout SECONDS] [-- ARGUMENTS]',
  details: [
    'Runs a script of a skill, or lists its scripts if none is named. A script is any file in its folder: a path below scripts/ or in the skill folder, or a name that only one file has (not in node_modules, nor more than 15 folders deep). SKILL is the name of the skill or of its folder.',
    'The script runs in a sandbox with its own workspace: no network, no home folder, and of your files only those given with --in, --project and --mount. Mounted folders keep their path and are read-only, unless you add :rw and approve it; with --project the script starts in the project. Prints the output as it arrives and records the run (see skillwright runs). Asks for your approval where the policy requires it.',
    'Exit code 1: the script failed or was stopped; 3: refused by policy or by the user; 4: no executor on this machine isolates programs (see skillwright doctor).',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright exec csv-report', 'list the scripts of a skill'],
    ['skillwright exec csv-report report.mjs --in sales.csv -- inputs/sales.csv', 'run a script with an argument'],
    [
      'skillwright exec csv-report report.py --in sales.csv --out report -- inputs/sales.csv --out out',
      'copy its output files to ./report',
    ],
    [
      'skillwright exec code-review check.py --project read -- src',
      'let a script see the project, .git included, and start in it',
    ],
    ['skillwright exec text-diff --command "ls -la" --json', 'run a command line and print the result as JSON'],
  ],
  positionals: [1, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: options, positionals, terminal, signal } = invocation;
    const [skill = '', script = '', ...args] = positionals;
    if (positionals.length === 1) return printScripts(invocation, skill);
    const asked = buildAction(invocation, skill, script, args);
    const runtime = await openRuntime(invocation);
    warnAboutConfig(runtime, terminal);
    const named = resolveSkill(runtime.index, skill, options.source);
    const isNamed = named !== undefined && asked.type === 'run_script';
    const action = isNamed ? { ...asked, ...locateScript(named, asked.script) } : asked;
    const run = await openRun(invocation, runtime, named);
    const { session } = run;
    try {
      const observation = await session.perform(action, { askedBy: 'person', signal });
      if (observation.type === 'failed') throw toFailure(observation, invocation.words);
      const { result, limits } = requireProgramResult(observation);
      const delivery = await deliverOutputs(run, invocation);
      const { copied, kept, fetch, problem } = delivery;
      const { id } = run;
      const answer = { skill, script, result, limits, copied, kept, ...defined({ fetch, run: id }) };
      if (!terminal.printJson(answer)) terminal.remark(endLines(result, delivery, terminal));
      if (problem !== undefined) throw problem;
      const isGood = result.reason === 'exited' && result.exit_code === 0;
      await run.end(signal.aborted ? 'cancelled' : isGood ? 'done' : 'failed', result.reason);
      if (signal.aborted) return EXIT.interrupted;
      return isGood ? EXIT.done : EXIT.failed;
    } catch (error) {
      const isRefused = isSkillError(error) && error.code === 'policy/refused';
      const outcome = signal.aborted ? 'cancelled' : isRefused ? 'refused' : 'failed';
      await run.end(outcome, isSkillError(error) ? error.message : '').catch((failure: unknown) => {
        // A record that failed cannot be ended either; the first problem says more.
        if (!isSkillError(failure)) throw failure;
      });
      throw session.execution?.usedWorkspace() === undefined ? error : withoutRecord(error);
    }
  },
});

async function printScripts(invocation: Invocation<typeof flags>, name: string): Promise<number> {
  const { flags: options, terminal } = invocation;
  const runtime = await openRuntime(invocation);
  const skill = resolveSkill(runtime.index, name, options.source) ?? runtime.find(name);
  const scripts = listScripts(skill.dir);
  if (terminal.printJson({ skill: skill.name, scripts })) return EXIT.done;
  terminal.out(scriptLines(scripts, terminal));
  terminal.remark(
    scripts.length === 0
      ? `the skill ${quoted(skill.name)} has no scripts`
      : `${countText(scripts.length, 'script')}; run one: skillwright exec ${printable(name)} SCRIPT -- --help`,
  );
  return EXIT.done;
}

/** A record that failed after the program was started. */
function withoutRecord(error: unknown): unknown {
  if (!isSkillError(error) || error.code !== 'record/failed' || error.hint.includes('--out')) return error;
  const { message } = error;
  const hint =
    'the program may have run: check the free disk space and the folder of the record; to get its files, repeat the command with --out out';
  return new SkillError({ code: 'record/failed', message, hint, data: { path: '', cause: message }, cause: error });
}

async function openRun(
  invocation: Invocation<typeof flags>,
  runtime: Runtime,
  named: SkillEntry | undefined,
): Promise<Run> {
  const { flags: options, positionals, terminal } = invocation;
  if (named !== undefined) await askForTrust(invocation, runtime, [named]);
  const isBuiltIn = named?.source === 'builtin';
  const { executor } = options;
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  return runtime.startRun({
    request: `exec ${positionals.join(' ')}`,
    approve: openApprover(invocation),
    execution: {
      ...commandExecution(terminal),
      askWeaker: isBuiltIn && options.command !== true ? undefined : weakerQuestion(terminal),
      packages: packageOptions(invocation),
      executor,
      env: variables(options.env ?? []),
      serve: servedPort(invocation),
      ...sandboxOptions(invocation, runtime.config, false),
      hostInputs: hostFiles(invocation),
      container: options.image === undefined ? undefined : { image: options.image },
      onOutput: terminal.isJson
        ? undefined
        : (stream, chunk) => terminal.pass(stream, cleanText(decoders[stream].decode(chunk, { stream: true }))),
    },
  });
}

function buildAction(
  invocation: Invocation<typeof flags>,
  skill: string,
  script: string,
  args: readonly string[],
): Parameters<Session['perform']>[0] {
  const { flags: options, surroundings } = invocation;
  const seconds = wholeNumber(options.timeout, '--timeout', { least: 1, most: MAX_SECONDS });
  const shared = {
    skill,
    source: options.source,
    timeoutSeconds: seconds ?? (options.serve === undefined ? DEFAULT_SECONDS : MAX_SECONDS),
    inputs: (options.in ?? []).map((text) => parseInputFile(text, surroundings.cwd)),
    outputs: { save_as_artifacts: options.save === true },
  };
  if (options.command !== true) return { type: 'run_script', script, args, ...shared };
  if (args.length > 0) throw usageError('--command takes one argument: the command line', 'put it in quotes');
  return { type: 'run_command', command: script, ...shared };
}

/** Also for --command, for which a model would get more time. */
const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 86_400;

function servedPort({ flags: options, terminal }: Invocation<typeof flags>): ExecutionOptions['serve'] {
  const port = wholeNumber(options.serve, '--serve', { least: 1, most: 65_535 });
  if (port === undefined) return undefined;
  return { port, onReady: () => terminal.remark(`serving http://127.0.0.1:${String(port)} until Ctrl-C`) };
}

const SCHEME = /^(?:artifact|skill|workspace|host):\/\//;

function parseInputFile(text: string, cwd: string): { readonly from: string; readonly to?: string } {
  if (SCHEME.test(text)) return { from: text };
  const { file, name } = fileAndName(text, cwd);
  return { from: `host://${file}`, to: `work/inputs/${name}` };
}

/** Splits FILE=NAME. An existing path that contains `=`, e.g. `year=2024/part.csv`, is taken whole. */
function fileAndName(text: string, cwd: string): { readonly file: string; readonly name: string } {
  const whole = path.resolve(cwd, text);
  const equals = text.lastIndexOf('=');
  if (equals < 1 || isPresent(whole)) return { file: whole, name: path.basename(whole) };
  return { file: path.resolve(cwd, text.slice(0, equals)), name: text.slice(equals + 1) };
}

/** Naming a file on the command line approves reading it. */
function hostFiles({ flags: options, surroundings: { cwd } }: Invocation<typeof flags>): readonly string[] {
  return (options.in ?? []).filter((text) => !SCHEME.test(text)).map((text) => fileAndName(text, cwd).file);
}

function variables(assignments: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    assignments.map((text) => {
      const equals = text.indexOf('=');
      if (equals < 1) throw usageError(`--env has no value: ${quoted(text, 200)}`, 'write --env NAME=VALUE');
      return [text.slice(0, equals), text.slice(equals + 1)];
    }),
  );
}

function requireProgramResult(observation: Observation): OfType<Observation, 'program-ran'> {
  if (observation.type === 'program-ran') return observation;
  throw new TypeError(`unexpected observation: ${observation.type}`);
}

function toFailure(failed: ActionFailed, words: readonly string[]): SkillError {
  const { code, message, hint, nearest } = failed;
  const byPolicy = policyRefusal(failed, repeatedCommand(words));
  if (byPolicy !== undefined) return byPolicy;
  const more = nearest.length === 0 ? hint : `did you mean ${nearest.join(', ')}?`;
  if (code === 'skill/unknown') return new SkillError({ code, message, hint: more, data: { name: '', nearest } });
  if (code === 'execution/unavailable')
    return new SkillError({
      code: 'executor/unavailable',
      message,
      hint: more,
      data: { executor: '', reasons: [message], install: hint },
    });
  if (code === 'packages/unavailable')
    return new SkillError({ code: 'executor/failed', message, hint, data: { executor: 'packages', cause: message } });
  return invalidInput(message, hint, more);
}

function endLines(result: RunResult, { copied, lines }: Delivery, { style }: Terminal): readonly string[] {
  const { reason, exit_code: status, duration_ms: duration, isolation, executor, warnings } = result;
  const end = reason === 'exited' ? `exit code ${String(status)}` : `stopped: ${reason}`;
  return [
    // What is collected for a model is bounded; `lines` says what became of every file.
    ...warnings
      .filter((warning) => !Object.values(COLLECTED).some((start) => warning.startsWith(start)))
      .map((warning) => `${style('yellow', 'warning')}: ${printable(forPeople(warning))}`),
    ...copied.map((name) => `wrote ${printable(name)}`),
    ...lines,
    `${end} after ${(duration / 1000).toFixed(1)} s, ${isolation === 'none' ? style('red', 'not isolated') : `isolated by ${executor}`}`,
  ];
}

/**
 * A path below `scripts/` may omit that folder, and takes precedence; then a path in the skill folder; then a name that only one file has.
 * Paths that leave the skill are passed on, for the runtime to refuse. Throws `input/invalid` with the candidates.
 */
function locateScript(
  { name, dir }: SkillEntry,
  typed: string,
): Pick<OfType<Action, 'run_script'>, 'script' | 'anywhere'> {
  const bare = typed.replace(/^(?:\.\/+)+/, '');
  if (bare.startsWith('/') || bare.split('/').includes('..')) return { script: typed };
  const { files, isCut } = listSkillFiles(dir);
  const paths = files.map((file) => file.path);
  const isThere = new Set(paths);
  const inScripts = bare.startsWith('scripts/') ? bare : `scripts/${bare}`;
  const inSkill = bare === typed ? [inScripts, bare] : [bare, inScripts];
  const exact = inSkill.find((at) => isThere.has(at));
  const named = exact === undefined ? paths.filter((at) => at.endsWith(`/${bare}`)) : [exact];
  const [only, ...more] = named;
  const outside = inSkill.find((at) => !isInside(tryRealPath(path.join(dir, at)) ?? realPath(dir), realPath(dir)));
  if (only === undefined && outside !== undefined)
    throw invalidInput(
      `${quoted(outside, 200)} of the skill ${quoted(name)} is a link that leads out of the skill`,
      'a file of the skill',
      'put the file itself into the skill',
    );
  if (only === undefined && isCut) return { script: bare, anywhere: true };
  if (only === undefined) {
    const toBaseName = (at: string): string => at.slice(at.lastIndexOf('/') + 1);
    const near = new Set(nearest(bare, [...new Set(paths.flatMap((at) => [at, toBaseName(at)]))], 5));
    const similar = paths.filter((at) => near.has(at) || near.has(toBaseName(at)));
    const known = similar.length > 0 ? similar : paths.filter((at) => at !== 'SKILL.md').slice(0, 5);
    throw invalidInput(
      `the skill ${quoted(name)} has no file ${quoted(typed, 200)}`,
      'a file of the skill',
      known.length === 0 ? 'the skill has no other file than SKILL.md' : `did you mean ${listed(known)}?`,
    );
  }
  if (more.length > 0)
    throw invalidInput(
      `the skill ${quoted(name)} has ${String(named.length)} files named ${quoted(typed, 200)}`,
      'the path of one file',
      `name one by its path: ${listed(named)}`,
    );
  return only.startsWith('scripts/') ? { script: only } : { script: only, anywhere: true };
}

const SHOWN = 10;

function listed(paths: readonly string[]): string {
  const more = paths.length - SHOWN;
  const shown = paths.slice(0, SHOWN).map((at) => printable(at));
  return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}
