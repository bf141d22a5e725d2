import path from 'node:path';

import { findChat, openChat, recentChats, type AgentResult } from '#agent';
import { runsDirectory } from '#journal';
import { countText, defined, isSkillError, printable, shownText, VOCABULARY_NAMES } from '#core';
import type { AgentModel } from '#model';
import { cacheDirectory, monotonicMs } from '#platform';
import { openSecrets, type Runtime } from '#runtime';
import { defineCommand, option, toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { lineJson } from '../json.ts';
import { configFor } from '../surroundings.ts';
import { askStreams, choose, isTerminal } from '../terminal/ask.ts';
import { reportProblem } from '../terminal/terminal.ts';
import { AGENT_FLAGS } from './agent-flags.ts';
import { announceModel, chooseModel, endLines } from './agent-model.ts';
import { repeatedCommand } from './approval.ts';
import { completeCommand, handleLine, type ChatCommandParts } from './chat-commands.ts';
import { openSpending } from './chat-cost.ts';
import { completeMention, mentionedSkills, pastedMention } from './chat-files.ts';
import { runShellLine } from './chat-shell.ts';
import { openChatHistory, openEditor, openLines, type ChatInput } from './chat-input.ts';
import { takeInterrupts, type Interrupts } from './interrupts.ts';
import { MODE_LABELS } from './edit-mode.ts';
import { openAgent, type OpenAgent } from './open-agent.ts';
import { askToAttach, imagesLine, promptFiles, type PromptFiles } from './prompt-images.ts';
import { openTypeAhead, type TypeAhead } from './type-ahead.ts';
import { commandExecution } from './programs.ts';

type SendOptions = NonNullable<Parameters<ReturnType<typeof openChat>['send']>[1]>;
type EarlierChat = ReturnType<typeof findChat>;

const flags = {
  resume: option('ID', 'continue the chat of this run, or the last one; without ID, choose from a list', {
    bare: 'list',
    offers: 'runs',
  }),
  again: toggle('with --resume: continue a chat that was already continued'),
  ...AGENT_FLAGS,
} as const;

type ChatInvocation = Invocation<typeof flags>;

export const command = defineCommand({
  usage: 'chat [--resume [ID|last]] [--in FILE] [--out DIR] [--skill NAME] [--model NAME] [--budget NAME=N] [--yes]',
  details: [
    'Starts a conversation with an agent that uses skills; the whole chat is one recorded run. Budgets apply to each message. /help lists the commands, such as /skill-name arguments, /rewind, /diff, /cost and !command.',
    'Tab completes commands, skills and @files; a pasted or dropped file becomes @FILE. Ctrl-C stops the current work, not the chat; Ctrl-C twice on an empty line ends the chat. Pasted text is one message. If stdin is not a terminal, each line is a message.',
    'Keeps a history of your messages per project in the cache folder, except with --no-cache.',
    'Exit code: 0 after a chat at a terminal; otherwise that of the last message, as for skillwright run.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright chat', 'chat with the first available model'],
    ['skillwright chat --resume last', 'continue the last chat'],
    ['skillwright chat --model rules --yes < questions.txt', 'send one message per line'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags: options, terminal, signal, words, surroundings } = invocation;
    const isAtTerminal = process.stdin.isTTY && process.stderr.isTTY;
    const earlier = options.resume === undefined ? undefined : await findEarlier(invocation, options.resume);
    const typeAhead = isAtTerminal ? openTypeAhead() : undefined;
    const agent = await openAgent(invocation, {
      ...defined({ typeAhead }),
      recordedVocabulary: VOCABULARY_NAMES.find((name) => name === earlier?.vocabulary),
      announce: async (_, runtime) =>
        isAtTerminal ? await greet(invocation, runtime) : await announceModel(invocation, runtime),
    });
    const { runtime, display } = agent;
    let { chosen } = agent;
    const { input, remember } = openInput(invocation, agent, typeAhead);
    const show = (result: AgentResult): number => {
      const { status, showRest } = agent.judge(result, repeatedCommand(words));
      if (terminal.isJson) terminal.out(lineJson({ result: { ...result, model: chosen.model.id, status } }));
      else {
        display.end(result.answer);
        for (const line of endLines({ ...result, run: undefined })) terminal.remark(terminal.style('dim', line));
      }
      showRest();
      return status;
    };
    const spending = openSpending(runtime);
    const given = options.in?.map((file) => path.resolve(surroundings.cwd, file)) ?? [];
    const chat = openChat({
      ...agent.options,
      run: { ...agent.options.run, sinks: [...(agent.options.run.sinks ?? []), spending.sink] },
      unapproved: 'continue',
      required: options.skill,
      files: given,
      earlier,
      again: options.again === true,
    });
    const last = await runChat({
      model: async (name) => {
        if (name !== undefined) {
          chosen = await chooseModel(invocation, runtime, name);
          chat.useModel(chosen.model);
        }
        return chosen.model.id;
      },
      attach: async (message) => ({
        ...(await promptFiles(message, {
          places: surroundings,
          takesImages: chosen.model.takesImages,
          ...(chat.said.length === 0 ? { given } : {}),
          ask: (files) => (isAtTerminal ? askToAttach(files, signal) : Promise.resolve([])),
        })),
        required: mentionedSkills(message, skillNames(runtime), surroundings),
      }),
      shell: isAtTerminal
        ? (line, stop) =>
            runShellLine(line, stop, {
              cwd: surroundings.cwd,
              env: process.env,
              terminal,
              redactor: openSecrets(runtime.config.secrets ?? {}, surroundings).redactor,
            })
        : undefined,
      unsent: () => typeAhead?.drain() ?? '',
      project: surroundings.cwd,
      money: spending.lines,
      chat,
      runtime,
      terminal,
      input,
      remember,
      show,
      interrupts: () => (isAtTerminal ? takeInterrupts(process, signal) : { signal, release: () => undefined }),
      earlier,
    }).finally(() => agent.close());
    if (signal.aborted) return EXIT.interrupted;
    return isAtTerminal ? EXIT.done : last;
  },
});

/** Before the first message is typed, and before a vocabulary is chosen: the chat goes on in its own. */
async function findEarlier(invocation: ChatInvocation, resume: string): Promise<EarlierChat> {
  const { config } = await configFor(invocation);
  const { surroundings, signal, flags: options } = invocation;
  const directory = runsDirectory(surroundings.cwd, config.runs?.directory);
  const isAgain = options.again === true;
  return findChat(directory, resume === 'list' ? await pickChat(directory, signal) : resume, isAgain);
}

/** At most as many as there are keys. */
const MAX_CHATS = 9;

async function pickChat(directory: string, signal: AbortSignal): Promise<string> {
  const chats = recentChats(directory, MAX_CHATS).map(({ id }, at) => {
    const { said } = findChat(directory, id, true);
    const text = shownText(said.at(-1)?.message ?? '', 50);
    return { key: String(at + 1), line: `  ${id}  ${countText(said.length, 'message')}, last ${text}`, id };
  });
  const streams = askStreams(process);
  if (chats.length === 0 || !isTerminal(streams)) return 'last';
  const text = ['Continue which chat?', ...chats.map(({ key, line }) => `${key}${line}`)].join('\n');
  const choices = chats.map(({ key, id }) => ({ key, about: '', answer: id }));
  const chosen = await choose(streams, { text, choices, otherwise: '' }, { signal });
  if (chosen !== '') return chosen;
  throw usageError('no chat chosen', 'press the number of a chat, or start a new one with skillwright chat');
}

async function greet(invocation: ChatInvocation, runtime: Runtime): Promise<AgentModel> {
  const { flags: options, terminal } = invocation;
  const chosen = await chooseModel(invocation, runtime, options.model);
  const { executor = runtime.config.execution?.executor ?? 'auto' } = options;
  const { onTrial } = commandExecution(terminal);
  const { usableExecutor } = await import('#sandbox');
  const sandbox = executor === 'none' ? undefined : await usableExecutor(runtime, executor, onTrial);
  const parts = [
    printable(chosen.model.id),
    countText(runtime.index.skills.length, 'skill'),
    sandbox === undefined ? 'no sandbox, so no programs' : `sandbox ${sandbox}`,
    '/help',
  ];
  terminal.remark(terminal.wrap(parts.join(terminal.style('dim', ' · ')), 2));
  if (chosen.model.id === 'rules')
    terminal.remark(terminal.wrap('rules is not a language model: it only follows the quickstart of a skill', 2));
  return chosen;
}

function openInput(
  invocation: ChatInvocation,
  { runtime, mode }: OpenAgent,
  typeAhead: TypeAhead | undefined,
): { readonly input: ChatInput; readonly remember: (message: string) => void } {
  const { flags: options, terminal, signal, surroundings } = invocation;
  if (typeAhead === undefined) return { input: openLines(process.stdin, signal), remember: () => undefined };
  const cache = options['no-cache'] === true ? undefined : cacheDirectory(surroundings);
  const history = openChatHistory(cache, surroundings.cwd);
  const input = openEditor(process, {
    prompt: () => `${terminal.style('dim', MODE_LABELS[mode.name])}${terminal.style('bold', '> ')}`,
    turnMode: () => mode.turn(),
    typeAhead,
    isPlain: options.plain === true,
    history: history.lines,
    complete: (line) =>
      line.startsWith('/') && !/\s/.test(line)
        ? { hits: completeCommand(line, runtime), of: line }
        : completeMention(line, surroundings, skillNames(runtime)),
    mention: (pasted) => pastedMention(pasted, surroundings),
    signal,
  });
  return { input, remember: history.add };
}

function skillNames({ index }: Runtime): readonly string[] {
  return index.skills.filter(({ controls }) => controls.userInvocable).map(({ name }) => name);
}

interface ChatLoopOptions extends ChatCommandParts {
  readonly input: ChatInput;
  readonly remember: (message: string) => void;
  readonly show: (result: AgentResult) => number;
  /** The files that a message mentions and that the user attaches, and the skills that it mentions. */
  readonly attach: (message: string) => Promise<PromptFiles & Pick<SendOptions, 'required'>>;
  /** Runs a command of the user and returns the note for the model; absent where lines come from a pipe. */
  readonly shell: ((command: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** What the user typed while the agent worked, and takes back. */
  readonly unsent: () => string;
  readonly interrupts: () => Interrupts;
  readonly earlier: EarlierChat | undefined;
}

/** Returns the exit code of the last message. The record is always closed. */
async function runChat(parts: ChatLoopOptions): Promise<number> {
  const { chat, terminal, input, earlier } = parts;
  if (earlier !== undefined)
    terminal.remark(`continues run ${earlier.run}, ${countText(earlier.said.length, 'message')}`);
  try {
    return await readAndAnswer(parts);
  } finally {
    input.close();
    await chat.end();
    if (chat.run !== undefined)
      terminal.remark([
        `details: skillwright runs show ${chat.run}`,
        `continue with: skillwright chat --resume ${chat.run}`,
      ]);
  }
}

/** After work of this length the user may look elsewhere, and the terminal rings. */
const LONG_MS = 10_000;

async function readAndAnswer(parts: ChatLoopOptions): Promise<number> {
  const { input, terminal, remember, shell } = parts;
  let status: number = EXIT.done;
  /** What the user ran since the last message. */
  const notes: string[] = [];
  let next = '';
  let wasInterrupted = false;
  while (true) {
    const read = await input.next(next);
    next = '';
    if (read.type === 'end') return status;
    if (read.type === 'interrupt') {
      if (read.isEmpty && wasInterrupted) return status;
      wasInterrupted = read.isEmpty;
      if (read.isEmpty) terminal.remark('press Ctrl-C again, Ctrl-D, or type /quit to end the chat');
      continue;
    }
    wasInterrupted = false;
    const message = read.text.trim();
    if (message === '') continue;
    remember(message);
    if (shell !== undefined && message.startsWith('!')) {
      if (message.length > 1) notes.push(await interruptible(parts, (signal) => shell(message.slice(1), signal)));
      continue;
    }
    const handled = await handleLine(message, parts);
    if (handled.type === 'quit') return status;
    if (handled.type === 'said') {
      terminal.out(handled.lines.map((line) => terminal.wrap(line, 9)));
      ({ next = '' } = handled);
      continue;
    }
    // The text after the name of a skill is its arguments, so notes wait for the next message.
    const sent = message.startsWith('/') ? [message] : [message, ...notes.splice(0)];
    status = await interruptible(parts, async (signal) => {
      // A mention in the output of a command is not the user's.
      const attached = await parts.attach(message).catch((error: unknown) => {
        if (!isSkillError(error)) throw error;
        reportProblem(terminal, error);
      });
      if (attached === undefined) {
        next = terminal.isInteractive ? message : '';
        return EXIT.usage;
      }
      if (attached.images !== undefined) terminal.remark(terminal.style('dim', imagesLine(attached.images)));
      const startedAt = monotonicMs();
      const shown = parts.show(await parts.chat.send(sent.join('\n\n'), { signal, ...attached }));
      // A message that was typed before the interrupt must not be sent unseen.
      if (signal.aborted) next = parts.unsent();
      else if (terminal.isInteractive && monotonicMs() - startedAt > LONG_MS) terminal.pass('stderr', '\u0007');
      return shown;
    });
  }
}

/** Ctrl-C during the act aborts its signal and does not end the chat. */
async function interruptible<T>({ interrupts }: ChatLoopOptions, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, release } = interrupts();
  try {
    return await act(signal);
  } finally {
    release();
  }
}
