import path from 'node:path';

import { isObject, parseJson } from '#core';

/** What an agent tells its hook about a prompt. */
export interface Prompt {
  readonly text: string;
  readonly cwd: string;
  readonly transcript?: string;
  readonly sessionId?: string;
  /** Tool calls of the session, from agents that run the hook in their own process. */
  readonly calls: readonly string[];
}

/** A command of the agent, not a request: `/review`, `$skill`. A path such as `/etc/hosts` is text. */
const COMMAND = /^(?:\/[\w:.-]+|\$[A-Za-z][\w-]*)(?:\s|$)/;
/** A longer prompt is mostly pasted text; its start says what is wanted. */
const MAX_REQUEST = 4000;

/** Reads the input of a hook. Undefined if there is nothing to rank: no prompt, a command, or no input of a hook. */
export function readPrompt(input: string): Prompt | undefined {
  const value = parseJson(input);
  if (!isObject(value)) return undefined;
  const { prompt, cwd, transcript_path: transcript, session_id: sessionId, sessionId: camelId, calls } = value;
  if (typeof prompt !== 'string' || typeof cwd !== 'string' || !path.isAbsolute(cwd)) return undefined;
  const text = prompt.trim().slice(0, MAX_REQUEST);
  if (text === '' || COMMAND.test(text)) return undefined;
  const id = [sessionId, camelId].find((one) => typeof one === 'string' && /^[\w-]+$/.test(one));
  return {
    text,
    cwd,
    ...(typeof transcript === 'string' && path.isAbsolute(transcript) ? { transcript } : {}),
    ...(typeof id === 'string' ? { sessionId: id } : {}),
    calls: Array.isArray(calls) ? calls.filter((call) => typeof call === 'string') : [],
  };
}
