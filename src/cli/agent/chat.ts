import path from 'node:path';

import type { AgentResult } from '../../agent/agent-options.ts';
import type { ChatOptions } from '../../agent/chat.ts';
import { runsDirectory } from '../../journal/run-folder.ts';
import { printable } from '../../core/text/text.ts';
import { visibleJson } from '../../core/json/visible-json.ts';
import { cacheDirectory } from '../../platform/fs/cache-directory.ts';
import { surroundingsOf } from '../../runtime/config/config.ts';
import { takeOutputs } from '../../runtime/execution/take-outputs.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { endLines, statusOf } from './agent-outcome.ts';
import { AGENT_FLAGS } from './agent-flags.ts';
import { openApprover } from './approval.ts';
import { readBudget } from './budget.ts';
import { completions } from './chat-commands.ts';
import { openChatHistory } from './chat-history.ts';
import { openEditor, openLines, takeInterrupts } from './chat-input.ts';
import type { ChatInput } from './chat-input.ts';
import { talk } from './chat-loop.ts';
import { chooseModelAloud } from './choose-model.ts';
import { defineCommand } from '../command.ts';
import type { Invocation } from '../command.ts';
import { findChat } from './earlier-chat.ts';
import { EXIT } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { openRefusalWatch } from './refusal-watch.ts';
import { openChatWithPrograms } from './run-with-programs.ts';
import { displayFor } from './show-agent.ts';

const flags = {
  resume: { type: 'string', value: 'ID', about: 'go on with an earlier chat, by the id of its run, or the last one' },
  in: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    path: true,
    about: 'give FILE with the first message, as inputs/NAME of the workspace; may be repeated',
  },
  out: { type: 'string', value: 'DIR', path: true, about: 'copy what programs leave in out/ to DIR, at the end' },
  model: { type: 'string', value: 'NAME', about: 'as for run: rules, ollama, anthropic/claude-sonnet-4-5, ...; auto' },
  budget: {
    type: 'string',
    multiple: true,
    value: 'NAME=N,...',
    about: 'of each message: turns, toolCalls, scriptRuns, contextTokens, tokens, wallMs',
  },
  ...AGENT_FLAGS,
} as const;

type ChatInvocation = Invocation<typeof flags>;

export const command = defineCommand({
  usage: 'chat [--resume ID|last] [--in FILE] [--out DIR] [--skill NAME] [--model NAME] [--budget NAME=N] [--yes]',
  details: [
    'Talks with an agent that has skills, message by message, in one conversation with one record. /help shows what can be typed besides',
    'messages: /skill-name arguments, /skills, /plan, /cost, /undo, /quit. Ctrl-C stops what is being done and not the chat; at an empty',
    'line, twice ends it. What is pasted is one message. Where stdin is no terminal each of its lines is a message.',
    'What was typed is kept for the arrow keys, for each project, in the cache folder; not with --no-cache.',
    'Exit status: 0 after a chat at a terminal; else that of the last message, as for run.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright chat', 'with whatever model there is'],
    ['skillwright chat --resume last', 'go on where the last chat ended'],
    ['skillwright chat --model rules --yes < questions.txt', 'a message a line'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags: given, terminal, signal, words } = invocation;
    const budget = readBudget(given.budget ?? []);
    const runtime = await openRuntime(invocation);
    const earlier = given.resume === undefined ? undefined : findChat(directoryOf(invocation, runtime), given.resume);
    const chosen = await chooseModelAloud({ name: given.model, runtime, signal }, terminal);
    const display = displayFor(invocation.flags, invocation.terminal);
    const refusals = openRefusalWatch(words);
    const options: ChatOptions = {
      runtime,
      model: chosen.model,
      budget,
      required: given.skill ?? [],
      files: (given.in ?? []).map((file) => path.resolve(cwdOf(invocation), file)),
      beforeEnd: async (session) => {
        if (given.out === undefined) return;
        const copied = await takeOutputs(session, path.resolve(cwdOf(invocation), given.out));
        for (const name of copied) terminal.remark(`wrote ${printable(name)}`);
      },
      ...(earlier === undefined ? {} : { earlier }),
      run: {
        host: {},
        approve: openApprover(given, terminal),
        sinks: [display.sink, refusals.sink],
      },
    };
    const isAtTerminal = process.stdin.isTTY && process.stderr.isTTY;
    const { input, remember } = inputOf(invocation, runtime, isAtTerminal);
    const show = (result: AgentResult): number => {
      const refused = refusals.last();
      const status = statusOf(result, refused !== undefined);
      if (given.json === true)
        terminal.out(visibleJson(JSON.stringify({ schema: 1, result: { ...result, model: chosen.model.id, status } })));
      else {
        display.end(result.answer);
        for (const line of endLines({ ...result, run: undefined })) terminal.remark(terminal.style('dim', line));
      }
      if (refused !== undefined) terminal.err(terminal.style('dim', `hint: ${refused.hint}`));
      return status;
    };
    const chat = openChatWithPrograms(options, { executor: given.executor, terminal, cwd: cwdOf(invocation) });
    const last = await talk({
      chat,
      runtime,
      terminal,
      input,
      remember,
      show,
      interrupts: () => (isAtTerminal ? takeInterrupts(process, signal) : { signal, release: () => undefined }),
      ...(earlier === undefined ? {} : { earlier }),
    });
    if (signal.aborted) return EXIT.interrupted;
    return isAtTerminal ? EXIT.done : last;
  },
});

function cwdOf({ flags: given }: ChatInvocation): string {
  return path.resolve(given.cwd ?? '.');
}

function directoryOf(invocation: ChatInvocation, { config }: Runtime): string {
  return runsDirectory(cwdOf(invocation), config.runs?.directory);
}

function inputOf(
  invocation: ChatInvocation,
  runtime: Runtime,
  isAtTerminal: boolean,
): { readonly input: ChatInput; readonly remember: (message: string) => void } {
  const { flags: given, terminal, signal } = invocation;
  if (!isAtTerminal) return { input: openLines(process.stdin, signal), remember: () => undefined };
  const cache = given['no-cache'] === true ? undefined : cacheDirectory(surroundingsOf({}));
  const history = openChatHistory(cache, cwdOf(invocation));
  const input = openEditor(process, {
    prompt: terminal.style('bold', '> '),
    history: history.lines,
    complete: (line) => completions(line, runtime),
    signal,
  });
  return { input, remember: history.add };
}
