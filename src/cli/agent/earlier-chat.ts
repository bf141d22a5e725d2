/** The messages of an earlier run, from its record. */
import path from 'node:path';

import { readRun } from '../../journal/journal-reader.ts';
import { findRun, runIds } from '../../journal/run-folder.ts';
import { reduceChat } from '../../core/chat.ts';
import type { Said } from '../../core/chat.ts';
import { isSkillError, SkillError } from '../../core/errors.ts';

export interface EarlierChat {
  readonly run: string;
  readonly said: readonly Said[];
}

/** How many of the newest runs are searched for the last chat. */
const MAX_RUNS = 50;

/** Finds a chat by the id of its run, or the last one. A run of one request counts as a chat with one message. Throws `run/unknown` and `run/invalid`. */
export function findChat(directory: string, name: string): EarlierChat {
  if (name !== 'last') return readChat(findRun(directory, name));
  for (const id of runIds(directory).slice(0, MAX_RUNS)) {
    const chat = chatAt(path.join(directory, id));
    if (chat !== undefined) return chat;
  }
  throw new SkillError({
    code: 'run/unknown',
    message: 'no earlier chat in this project',
    hint: 'name a run by its id; see skillwright runs list',
    data: { name, nearest: [] },
  });
}

/** Undefined for runs that are not chats or cannot be read. */
function chatAt(place: string): EarlierChat | undefined {
  try {
    const { lines } = readRun(place, { content: 'start' });
    for (const { event } of lines) if (event.type === 'chat') return readChat(place);
    return undefined;
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}

function readChat(place: string): EarlierChat {
  const { info, lines } = readRun(place);
  let said: readonly Said[] = [];
  let isChat = false;
  let answer = '';
  for (const { event } of lines) {
    if (event.type === 'chat') {
      isChat = true;
      said = reduceChat(said, event.event);
    } else if (event.type === 'action' && event.action.type === 'final_answer') ({ answer } = event.action);
  }
  return { run: info.run, said: isChat ? said : [{ message: info.request, answer }] };
}
