/** What is kept of a hint, so that `skillwright usage` can say whether it helped. Names and a hash only: no text of the request. */
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { isObject, type Surroundings } from '#core';
import { quietly, writeFileAtomically } from '#platform';
import { shortHash } from './short-hash.ts';

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

/** About ten thousand hints. */
const MAX_BYTES = 2_000_000;

/** Appends a hint. A file that is full loses its older half. A prompt must not wait or fail for it, so failures are silent. */
export function keepHint(home: string, hint: HintRecord): void {
  const file = hintsFile({ home });
  if (file === undefined) return;
  quietly(() => {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > MAX_BYTES) {
      const text = readFileSync(file, 'utf8');
      const newer = text.slice(text.indexOf('\n', text.length / 2) + 1);
      writeFileAtomically(file, Buffer.from(newer, 'utf8'), { mode: 0o600 });
    }
    appendFileSync(file, `${JSON.stringify(hint)}\n`, { mode: 0o600 });
  });
}

/** The end of a longer request does not count, because a hook may get only its start. */
const MAX_LENGTH = 4000;

/** The same for a request as the hook receives it and as the transcript keeps it. */
export function requestHash(text: string): string {
  return shortHash(text.trim().slice(0, MAX_LENGTH).replaceAll(/\s+/g, ' '));
}

export function readHint(value: unknown): HintRecord | undefined {
  if (!isObject(value)) return undefined;
  const { time, agent, request, skills, session } = value;
  if (typeof time !== 'string' || typeof agent !== 'string' || typeof request !== 'string' || !Array.isArray(skills))
    return undefined;
  const names = skills.filter((name): name is string => typeof name === 'string');
  return { time, agent, request, skills: names, ...(typeof session === 'string' ? { session } : {}) };
}
