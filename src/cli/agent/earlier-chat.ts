/** What was said in a run before, from its record. */
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

/** Of the newest runs, as many are looked at for the last chat. */
const LOOKED_AT = 50;

/** The chat with this id, or the last one. A run of one request is a chat with one message. Throws `run/unknown` and `run/invalid`. */
export function findChat(directory: string, name: string): EarlierChat {
  if (name !== 'last') return readChat(findRun(directory, name));
  for (const id of runIds(directory).slice(0, LOOKED_AT)) {
    const chat = chatAt(path.join(directory, id));
    if (chat !== undefined) return chat;
  }
  throw new SkillError({
    code: 'run/unknown',
    message: 'there is no earlier chat here',
    hint: 'see skillwright runs list; a run can be named by its id',
    data: { name, nearest: [] },
  });
}

/** Nothing where it is no chat, or cannot be read: another one may be. */
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
