/** The chat loop: read a message, answer it, until the user ends the chat. */
import type { AgentResult } from '../../agent/agent-options.ts';
import type { Chat } from '../../agent/chat.ts';
import { countText } from '../../core/text/line-text.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { handleLine } from './chat-commands.ts';
import type { ChatInput } from './chat-input.ts';
import type { EarlierChat } from './earlier-chat.ts';
import type { Interrupts } from './interrupts.ts';
import { EXIT } from '../exit.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface ChatLoopOptions {
  readonly chat: Chat;
  readonly runtime: Runtime;
  readonly terminal: Terminal;
  readonly input: ChatInput;
  /** Adds a message to the history. */
  readonly remember: (message: string) => void;
  /** Shows the result of a message and returns its exit code. */
  readonly show: (result: AgentResult) => number;
  /** Opens another model for the next messages, or names the current one. */
  readonly model: (name?: string) => Promise<string>;
  /** The files that a message mentions and that the user attaches. */
  readonly attach: (message: string) => Promise<readonly string[]>;
  /** Captures Ctrl-C while the agent works on a message. */
  readonly interrupts: () => Interrupts;
  readonly earlier?: EarlierChat;
}

/** Returns the exit code of the last message. The record is always closed. */
export async function runChat(parts: ChatLoopOptions): Promise<number> {
  const { chat, terminal, input, earlier } = parts;
  if (earlier !== undefined)
    terminal.remark(
      `continues run ${earlier.run}, ${countText(earlier.said.length, 'message')}; the files of its workspace are gone`,
    );
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

async function readAndAnswer(parts: ChatLoopOptions): Promise<number> {
  const { input, terminal, remember } = parts;
  let status: number = EXIT.done;
  let wasInterrupted = false;
  while (true) {
    const read = await input.next();
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
    const handled = await handleLine(message, parts);
    if (handled.type === 'quit') return status;
    if (handled.type === 'said') terminal.out(handled.lines.map((line) => terminal.wrap(line, 9)));
    else status = await answer(message, parts);
  }
}

async function answer(message: string, { chat, show, attach, interrupts }: ChatLoopOptions): Promise<number> {
  const files = await attach(message);
  const { signal, release } = interrupts();
  try {
    return show(await chat.send(message, { signal, files }));
  } finally {
    release();
  }
}
