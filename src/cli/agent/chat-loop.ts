/** The chat itself: read, answer, until somebody has had enough. */
import type { AgentResult } from '../../agent/agent-options.ts';
import type { Chat } from '../../agent/chat.ts';
import { countText } from '../../core/text/line-text.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { handleLine } from './chat-commands.ts';
import type { ChatInput, Interrupts } from './chat-input.ts';
import type { EarlierChat } from './earlier-chat.ts';
import { EXIT } from '../exit.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface TalkParts {
  readonly chat: Chat;
  readonly runtime: Runtime;
  readonly terminal: Terminal;
  readonly input: ChatInput;
  /** Keeps what was typed. */
  readonly remember: (message: string) => void;
  /** Shows how a message ended; gives the exit status that stands for it. */
  readonly show: (result: AgentResult) => number;
  /** Who hears Ctrl-C while a message is worked on. */
  readonly interrupts: () => Interrupts;
  readonly earlier?: EarlierChat;
}

/** Gives the exit status of the last message. The record is ended whatever happens. */
export async function talk(parts: TalkParts): Promise<number> {
  const { chat, terminal, input, earlier } = parts;
  if (earlier !== undefined)
    terminal.remark(
      `goes on with run ${earlier.run}, ${countText(earlier.said.length, 'message')}; files of its workspace are gone`,
    );
  try {
    return await readAndAnswer(parts);
  } finally {
    input.close();
    await chat.end();
    if (chat.run !== undefined)
      terminal.remark(`see skillwright runs show ${chat.run}; --resume ${chat.run} goes on with it`);
  }
}

async function readAndAnswer(parts: TalkParts): Promise<number> {
  const { input, terminal, remember } = parts;
  let status: number = EXIT.done;
  let wasInterrupted = false;
  while (true) {
    const read = await input.next();
    if (read.type === 'end') return status;
    if (read.type === 'interrupt') {
      if (read.isEmpty && wasInterrupted) return status;
      wasInterrupted = read.isEmpty;
      if (read.isEmpty) terminal.remark('Ctrl-C again, Ctrl-D or /quit ends the chat');
      continue;
    }
    wasInterrupted = false;
    const message = read.text.trim();
    if (message === '') continue;
    remember(message);
    const handled = handleLine(message, parts);
    if (handled.type === 'quit') return status;
    if (handled.type === 'said') for (const line of handled.lines) terminal.out(line);
    else status = await answer(message, parts);
  }
}

async function answer(message: string, { chat, show, interrupts }: TalkParts): Promise<number> {
  const { signal, release } = interrupts();
  try {
    return show(await chat.send(message, { signal }));
  } finally {
    release();
  }
}
