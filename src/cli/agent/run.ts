import { once } from 'node:events';
import path from 'node:path';

import { defined, docsPage, quoted, shownText, SkillError } from '#core';
import { ACTIVATIONS, runAgent } from '#agent';
import { readTextFile } from '#platform';
import { defineCommand, option, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { lineJson } from '../json.ts';
import { reportProblem } from '../terminal/terminal.ts';
import { AGENT_FLAGS } from './agent-flags.ts';
import { endLines } from './agent-model.ts';
import { isAttended, KEEP_GOING_FLAG, repeatedCommand } from './approval.ts';
import { answerNote } from './consent.ts';
import type { Delivery } from './deliver-outputs.ts';
import { openAgent } from './open-agent.ts';
import { askToAttach, imagesLine, promptFiles } from './prompt-images.ts';
import { continuation, resumingCommand } from './resume-command.ts';

const flags = {
  file: option('FILE', 'read the request from FILE; - is stdin'),
  activation: option('NAME', 'choose how skills are activated; shortlist and forced search first (default: model)', {
    choices: ACTIVATIONS,
  }),
  ...AGENT_FLAGS,
  ...KEEP_GOING_FLAG,
} as const;

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
    const { flags: flagValues, terminal, words, surroundings, signal } = invocation;
    const request = await readRequest(invocation);
    const { activation } = flagValues;
    const { chosen, display, untrusted, options, deliver, work, judge } = await openAgent(invocation);
    const given = flagValues.in?.map((file) => path.resolve(surroundings.cwd, file)) ?? [];
    let delivery: Delivery = { copied: [], kept: [], lines: [] };
    const result = await work(async (steps) => {
      const named = await promptFiles(isPiped(invocation) ? '' : request, {
        places: surroundings,
        takesImages: chosen.model.takesImages,
        given,
        ask: async (files) => {
          if (isAttended()) return await askToAttach(files, signal);
          terminal.remark(
            `outside of the project, so not attached: ${files.map((file) => shownText(file, 200)).join(', ')}; use --in`,
          );
          return [];
        },
      });
      if (named.images !== undefined) terminal.remark(terminal.style('dim', imagesLine(named.images)));
      return await runAgent({
        ...options,
        request,
        activation,
        required: flagValues.skill,
        files: [...given, ...named.files],
        ...defined({ images: named.images }),
        steps,
        // The user gets the answer, too, if the files cannot be copied.
        beforeEnd: async (_session, recorded) => {
          delivery = await deliver(recorded);
        },
      });
    });
    const { copied, kept, fetch, problem, lines } = delivery;
    const again = result.run === undefined ? repeatedCommand(words) : resumingCommand(result.run, flagValues);
    const { status: ended, showRest } = judge(result, again);
    const status = problem !== undefined && ended === EXIT.done ? EXIT.failed : ended;
    if (terminal.isJson)
      terminal.out(
        lineJson({
          result: {
            ...result,
            model: chosen.model.id,
            reasonForModel: chosen.reason,
            copied,
            kept,
            fetch,
            errors: problem && [{ code: problem.code, message: problem.message, hint: problem.hint }],
            untrusted: untrusted.length > 0 ? untrusted : undefined,
            status,
          },
        }),
      );
    else {
      display.end(result.answer);
      if (untrusted.length > 0) terminal.out(['', terminal.wrap(answerNote(untrusted))]);
      const rest = continuation(result, flagValues) ?? [];
      terminal.remark([...endLines(result, copied, lines), rest].flat().map((line) => terminal.wrap(line, 2)));
    }
    if (problem !== undefined) reportProblem(terminal, { message: problem.message, hint: problem.hint });
    showRest();
    return status;
  },
});

/** Larger inputs are files, which belong to --in. */
const MAX_BYTES = 1024 * 1024;

/** A text from a pipe may be the output of a program, so the files that it names are not the user's. */
function isPiped({ flags: { file }, positionals: words }: Invocation<typeof flags>): boolean {
  return words.join(' ') === '-' || file === '-' || (words.length === 0 && file === undefined);
}

/** Reads the request from the words of the command line, a file, or stdin, as written but for line ends at the end. */
async function readRequest(invocation: Invocation<typeof flags>): Promise<string> {
  const {
    flags: { file },
    positionals: words,
    surroundings: { cwd },
    signal,
  } = invocation;
  const isExplicit = words.join(' ') === '-' || file === '-';
  if (words.length > 0 && file !== undefined)
    throw usageError('the request is given twice', 'give either words or --file');
  const text = isPiped(invocation)
    ? await readStandardInput(isExplicit, signal)
    : file === undefined
      ? words.join(' ')
      : readFile(file, cwd);
  if (text.trim() === '') throw usageError('the request is empty', 'describe the task');
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
    throw usageError('missing argument: REQUEST', 'e.g. skillwright run "What is in this CSV file?" --in orders.csv');
  const pieces: Buffer[] = [];
  let bytes = 0;
  stdin.on('data', (piece: Buffer) => {
    bytes += piece.length;
    pieces.push(piece);
    if (bytes > MAX_BYTES) stdin.destroy();
  });
  // A file as stdin emits `end` but never `close`; a destroyed stream emits `close` but never `end`.
  await Promise.race([once(stdin, 'end', { signal }), once(stdin, 'close', { signal })]);
  if (bytes > MAX_BYTES) throw usageError('the request is larger than 1 MiB', 'pass files with --in');
  return Buffer.concat(pieces).toString('utf8');
}
