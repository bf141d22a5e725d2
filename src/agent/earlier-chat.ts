/** Finds a recorded chat to continue. A run of one request counts as a chat with one message. */
import { isSkillError, lastAnswer, SkillError } from '#core';
import { findRun, listRuns, readRun } from '#journal';
import type { ChatOptions } from './chat.ts';
import { alreadyResumed, checkResume } from './resume/resume-gate.ts';
import { reduceChat } from './reduce-chat.ts';

type EarlierChat = NonNullable<ChatOptions['earlier']>;

const MAX_RUNS = 50;

/**
 * Finds a chat by the id of its run, or the `last` one. Throws `run/unknown` and `run/invalid`, and `run/resumed` if another run already
 * continued it and `again` is false.
 */
export function findChat(
  directory: string,
  name: string,
  again: boolean,
): EarlierChat & { readonly vocabulary: string | undefined } {
  const folder = name === 'last' ? lastChat(directory) : findRun(directory, name);
  const { info, lines } = readRun(folder);
  const chats = [...lines].flatMap(({ event }) => (event.type === 'chat' ? [event.event] : []));
  const { problems } = checkResume({ folder, again });
  if (problems.length > 0) throw alreadyResumed(folder, problems);
  const messages =
    chats.length > 0
      ? chats.reduce<EarlierChat['said']>(reduceChat, [])
      : [{ message: info.request, answer: lastAnswer(lines) }];
  return { run: info.run, path: folder, said: messages, vocabulary: info.vocabulary };
}

function lastChat(directory: string): string {
  const [found] = recentChats(directory, 1);
  if (found !== undefined) return found.path;
  throw new SkillError({
    code: 'run/unknown',
    message: 'no earlier chat in this project',
    hint: 'name a run by its id; see skillwright runs list',
    data: { name: 'last', nearest: [] },
  });
}

/** The latest chats of a project, the newest first. */
export function recentChats(directory: string, most: number): readonly ReturnType<typeof listRuns>[number][] {
  const found: ReturnType<typeof listRuns>[number][] = [];
  for (const run of listRuns(directory).slice(0, MAX_RUNS)) {
    if (found.length === most) break;
    if (isChat(run.path)) found.push(run);
  }
  return found;
}

/** False for runs that cannot be read. */
function isChat(folder: string): boolean {
  try {
    for (const { event } of readRun(folder, { content: 'start' }).lines) if (event.type === 'chat') return true;
    return false;
  } catch (error) {
    if (isSkillError(error)) return false;
    throw error;
  }
}
