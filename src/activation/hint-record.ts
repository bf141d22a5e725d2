/** What is kept of a hint, so that `skillwright usage` can say whether it helped. Names and a hash only: no text of the request. */
import path from 'node:path';

import { isObject, type Surroundings } from '#core';
import { sha256 } from '#platform';

export interface HintRecord {
  /** ISO 8601. */
  readonly time: string;
  /** As in the agent table. */
  readonly agent: string;
  /** As the agent names the session; absent if its hook does not say. */
  readonly session?: string;
  /** `requestHash` of the request. */
  readonly request: string;
  /** The names of the skills that were hinted, best first. */
  readonly skills: readonly string[];
}

/** JSON lines, appended by the hook; undefined without a home folder. */
export function hintsFile({ home }: Pick<Surroundings, 'home'>): string | undefined {
  return home === undefined ? undefined : path.join(home, '.agent', 'activation', 'hints.jsonl');
}

/** The end of a longer request does not count, because a hook may get only its start. */
const MAX_LENGTH = 4000;

/** The same for a request as the hook receives it and as the transcript keeps it. */
export function requestHash(text: string): string {
  return sha256(text.trim().slice(0, MAX_LENGTH).replaceAll(/\s+/g, ' ')).slice(0, 32);
}

export function readHint(value: unknown): HintRecord | undefined {
  if (!isObject(value)) return undefined;
  const { time, agent, request, skills, session } = value;
  if (typeof time !== 'string' || typeof agent !== 'string' || typeof request !== 'string' || !Array.isArray(skills))
    return undefined;
  const names = skills.filter((name): name is string => typeof name === 'string');
  return { time, agent, request, skills: names, ...(typeof session === 'string' ? { session } : {}) };
}
