import { once } from 'node:events';
import path from 'node:path';

import { defined, docsPage, quoted, SkillError, visibleJson } from '#core';
import { ACTIVATIONS, runAgent, type AgentOptions } from '#agent';
import { projectInstructions } from '#project';
import { VOCABULARY_NAMES } from '#tools';
import { AGENT_FLAGS, parseBudget } from './agent-flags.ts';
import { announceModel, endLines, toExitCode } from './agent-model.ts';
import {
  KEEP_GOING_FLAG,
  isAttended,
  openApprover,
  openRefusalWatch,
  printRefusalHint,
  repeatedCommand,
} from './approval.ts';
import { deliverOutputs, type Delivery } from './deliver-outputs.ts';
import { continuation, resumingCommand } from './resume-command.ts';
import { answerNote, askForTrust, hiddenJson } from './consent.ts';
import { defineCommand, option, type Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { serversFor } from './mcp-servers.ts';
import { withPrograms } from './run-with-programs.ts';
import { sandboxOptions } from './sandbox-flags.ts';
import { displayFor } from './show-agent.ts';
import { reportProblem, reportWarning } from '../terminal/terminal.ts';
import { packageOptions } from './package-flags.ts';
import { openConnectionWatch } from './refused-connections.ts';
import { takeSteps } from './interrupts.ts';
import { readTextFile } from '#platform';

const flags = {
  file: option('FILE', 'read the request from FILE; - is stdin'),
  protocol: option('NAME', 'let the model act by tool calls or by JSON text (default: tools)', {
    choices: ['tools', 'actions'],
  }),
  vocabulary: option('NAME', 'use this tool vocabulary (default: skillwright)', { choices: VOCABULARY_NAMES }),
  activation: option('NAME', 'choose how skills are activated; shortlist and forced search first (default: model)', {
    choices: ACTIVATIONS,
  }),
  ...AGENT_FLAGS,
  ...KEEP_GOING_FLAG,
} as const;

type RunInvocation = Invocation<typeof flags>;

export const command = defineCommand({
  usage: 'run [REQUEST] [--in FILE] [--out DIR] [--skill NAME] [--model NAME] [--budget NAME=N] [--yes]',
  details: [
    'Runs an agent with skills until it answers the request, exhausts a budget or fails. The request comes from the arguments, --file or stdin. The policy decides on each action; scripts and writes run in a sandbox and need your approval, or --yes.',
    'At a terminal, asks once about skills of this project that you have not trusted. Elsewhere they are hidden from the model, and the answer says which; see --trust-project.',
    'At a terminal, Ctrl-C stops the current step and asks whether to go on, Ctrl-C twice ends the run, and Ctrl-O shows the last output line of a program.',
    'Prints the answer to stdout and everything else to stderr. With --json: one event per line, and the result as the last line.',
    `Without a key, a configured model or a local server, the rule model runs. It is not a language model; see ${docsPage('agent')}.`,
    'Exit code 1: failed, or a budget was exhausted; 3: policy or the user refused the last action, or it needs approval and no terminal is available (the command that approves it and continues the run is printed); 4: the model or the executor is unavailable; 130: interrupted, with the record closed.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright run "What is in this CSV file?" --in orders.csv --yes', 'use the first available model'],
    [
      'skillwright run "What is in this CSV file?" --in orders.csv --model rules --yes',
      'use the rule model: no key, no network',
    ],
    [
      'skillwright run --file task.md --model anthropic --budget turns=8 --out results',
      'run a task from a file and copy its output files',
    ],
    [
      'git diff | skillwright run --skill text-diff --json > events.jsonl',
      'read the request from a pipe, write events as lines',
    ],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: given, positionals, terminal, signal, words } = invocation;
    const request = await readRequest({ words: positionals, file: given.file, cwd: resolveCwd(invocation), signal });
    const budget = parseBudget(given.budget);
    const runtime = await openRuntime(invocation);
    const servers = await serversFor(runtime, terminal);
    const untrusted = await askForTrust(invocation, runtime);
    if (given.json === true && untrusted.length > 0) terminal.out(hiddenJson(untrusted));
    const chosen = await announceModel({ name: given.model, runtime, signal, cwd: given.cwd }, terminal);
    const display = displayFor(invocation.flags, invocation.terminal);
    const refusals = openRefusalWatch();
    const connections = openConnectionWatch();
    let delivery: Delivery | undefined;
    const interrupts = isAttended() && given.json !== true ? takeSteps(process, signal) : undefined;
    const options = withPrograms<AgentOptions>(
      {
        ...agentOptions(invocation),
        runtime,
        model: chosen.model,
        request,
        budget,
        signal,
        steps: interrupts?.steps,
        projectInstructions: given['no-agents-md'] === true ? undefined : projectInstructions(resolveCwd(invocation)),
        unapproved: isAttended() || given.defer === true || given['keep-going'] === true ? 'continue' : 'stop',
        // The user gets the answer, too, if the files cannot be copied.
        beforeEnd: async (_session, recorded) => {
          delivery = await deliverOutputs(recorded, {
            given,
            cwd: resolveCwd(invocation),
            terminal,
            approve: openApprover(given, terminal),
            signal,
            words,
          });
        },
        run: {
          host: {},
          approve: openApprover(given, terminal),
          sinks: [display.sink, refusals.sink, connections.sink],
          servers,
        },
      },
      {
        executor: given.executor,
        onOutput: display.output,
        terminal,
        sandbox: sandboxOptions(given, { config: runtime.config, cwd: resolveCwd(invocation), isAgent: true }),
        ...packageOptions(given, terminal),
      },
    );
    const result = await runAgent(options).finally(() => {
      interrupts?.release();
      return servers?.close();
    });
    const refused = refusals.last(
      result.run === undefined ? repeatedCommand(words) : resumingCommand(result.run, given),
    );
    const ended = toExitCode(result, refused !== undefined);
    const { copied = [], kept = [], fetch, problem, lines = [] }: Partial<Delivery> = delivery ?? {};
    const status = problem !== undefined && ended === EXIT.done ? EXIT.failed : ended;
    const errors = (problem === undefined ? [] : [problem]).map(({ code, message, hint }) => ({ code, message, hint }));
    if (given.json === true) {
      const last = {
        schema: 1,
        result: {
          ...result,
          model: chosen.model.id,
          reasonForModel: chosen.reason,
          copied,
          kept,
          ...defined({ fetch }),
          ...(errors.length > 0 ? { errors } : {}),
          ...(untrusted.length > 0 ? { untrusted } : {}),
          status,
        },
      };
      terminal.out(visibleJson(JSON.stringify(last)));
    } else {
      display.end(result.answer);
      if (untrusted.length > 0) terminal.out(['', terminal.wrap(answerNote(untrusted))]);
      const rest = continuation(result, given);
      terminal.remark(
        [...endLines(result, copied, lines), ...(rest === undefined ? [] : [rest])].map((line) =>
          terminal.wrap(line, 2),
        ),
      );
    }
    for (const line of connections.take()) reportWarning(terminal, line);
    for (const { message, hint } of errors) reportProblem(terminal, { message, hint });
    printRefusalHint(terminal, refused);
    return status;
  },
});

function resolveCwd({ flags: given }: RunInvocation): string {
  return path.resolve(given.cwd ?? '.');
}

function agentOptions(
  invocation: RunInvocation,
): Pick<AgentOptions, 'protocol' | 'vocabulary' | 'activation' | 'required' | 'files'> {
  const { flags: given } = invocation;
  const { protocol, vocabulary, activation } = given;
  return {
    required: given.skill ?? [],
    files: (given.in ?? []).map((file) => path.resolve(resolveCwd(invocation), file)),
    ...defined({ protocol, vocabulary, activation }),
  };
}

/** Larger inputs are files, which belong to --in. */
const MAX_BYTES = 1024 * 1024;

interface RequestSources {
  readonly words: readonly string[];
  readonly file: string | undefined;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** Reads the request from the words of the command line, a file, or stdin, as written but for line ends at the end. */
async function readRequest({ words, file, cwd, signal }: RequestSources): Promise<string> {
  const isPiped = words.join(' ') === '-' || file === '-';
  if (words.length > 0 && file !== undefined)
    throw new UsageError('the request is given twice', 'give either words or --file');
  const text =
    isPiped || (words.length === 0 && file === undefined)
      ? await readStandardInput(isPiped, signal)
      : file === undefined
        ? words.join(' ')
        : readFile(file, cwd);
  if (text.trim() === '') throw new UsageError('the request is empty', 'describe the task');
  return text.replace(/(?:\r?\n)+$/, '');
}

function readFile(file: string, cwd: string): string {
  const read = readTextFile(path.resolve(cwd, file), MAX_BYTES);
  if (read.type === 'read' && read.validUtf8) return read.text;
  const cause = read.type === 'absent' ? 'file not found' : read.type === 'failed' ? read.reason : 'not valid UTF-8';
  throw new SkillError({
    code: 'io/failed',
    message: `cannot read the request from ${quoted(file, 200)}: ${cause}`,
    hint: 'name a UTF-8 text file of at most 1 MiB',
    data: { path: file, cause },
  });
}

async function readStandardInput(isExplicit: boolean, signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY && !isExplicit)
    throw new UsageError(
      'missing argument: REQUEST',
      'e.g. skillwright run "What is in this CSV file?" --in orders.csv',
    );
  const pieces: Buffer[] = [];
  let bytes = 0;
  stdin.on('data', (piece: Buffer) => {
    bytes += piece.length;
    pieces.push(piece);
    if (bytes > MAX_BYTES) stdin.destroy();
  });
  // A file as stdin emits `end` but never `close`; a destroyed stream emits `close` but never `end`.
  await Promise.race([once(stdin, 'end', { signal }), once(stdin, 'close', { signal })]);
  if (bytes > MAX_BYTES) throw new UsageError('the request is larger than 1 MiB', 'pass files with --in');
  return Buffer.concat(pieces).toString('utf8');
}
