/** `/rewind`, `/diff` and `/compact` of a chat: what its messages changed, and how to go back. */
import type { openChat } from '#agent';
import { countText, shownText } from '#core';
import { usageError } from '../exit.ts';
import { changeLines } from '../runs/undo-run.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Chat = ReturnType<typeof openChat>;

interface CheckpointParts {
  readonly chat: Chat;
  readonly project: string;
  readonly terminal: Pick<Terminal, 'style'>;
}

/** One line per message, with the files that it changed. */
export function checkpointLines({ chat, project }: CheckpointParts): readonly string[] {
  if (chat.said.length === 0) return ['no message yet'];
  const lines = chat.said.map(({ message }, at) => {
    const changed = chat.changes(at, at + 1).length;
    const files = changed === 0 ? '' : `  (${countText(changed, 'file')} changed)`;
    return `${String(at + 1).padStart(3)}  ${shownText(message, 60)}${files}`;
  });
  const differing = chat.changes().filter((change) => changeLines(change, project) !== undefined).length;
  return [
    ...lines,
    `/rewind N goes back to before message N, files and conversation; /diff N shows what changed since (${countText(differing, 'file')} in all)`,
  ];
}

/** How many messages there are from the one that the user named on. */
export function messagesFrom({ said }: Chat, argument: string, command: string): number {
  const number = /^\d{1,6}$/.test(argument) ? Number(argument) : 0;
  if (number >= 1 && number <= said.length) return said.length - number + 1;
  const known = said.length === 0 ? 'there is no message yet' : `messages are 1 to ${String(said.length)}`;
  throw usageError(`there is no message ${shownText(argument, 40)}: ${known}`, `/${command} N; /rewind lists them`);
}

/** The difference between the files of the project now and before a message (default: the first one). */
export function diffLinesOf(parts: CheckpointParts, argument: string): readonly string[] {
  const { chat, project, terminal } = parts;
  const from = argument === '' ? 0 : chat.said.length - messagesFrom(chat, argument, 'diff');
  const changed = chat.changes(from).flatMap((change) => changeLines(change, project) ?? []);
  if (changed.length === 0)
    return ['no differences in the files that the agent edited; for those that programs changed: !git diff'];
  return changed.flatMap(({ title, lines }) => [
    terminal.style('bold', title),
    ...lines.map((line) =>
      line.startsWith('+') ? terminal.style('green', line) : line.startsWith('-') ? terminal.style('red', line) : line,
    ),
  ]);
}

export function compactLines({ chat }: CheckpointParts): readonly string[] {
  const compacted = chat.compact();
  if (compacted === undefined) return ['nothing to shorten: the last two exchanges always stay'];
  const [before, after] = [compacted.before, compacted.after].map((tokens) => tokens.toLocaleString('en'));
  return [
    `conversation shortened from about ${before ?? ''} to ${after ?? ''} tokens; loaded skills and the plan stay`,
  ];
}
