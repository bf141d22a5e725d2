/** Answers the hook of an agent: which skills to add to a prompt, if any. */
import { statSync } from 'node:fs';

import { expandFolder } from '#packs';
import { isSystemError } from '#platform';
import { AGENTS } from '../agents/agents.ts';
import type { Agent } from '../agents/agent.ts';
import { hintText } from './hint-text.ts';
import { chooseHints } from '../hints/choose-hints.ts';
import { readHintSource, type HintPlace, type HintSource } from './hint-source.ts';
import { readPrompt, type Prompt } from './prompt.ts';
import { isLoaded, readCalls } from './session-calls.ts';

interface Question {
  readonly agent: string;
  /** What the agent wrote to the hook, unparsed. */
  readonly input: string;
  readonly home: string;
  readonly env: HintPlace['env'];
  /** Called before each file of a skill is read; what it throws ends the answer. */
  readonly onFile?: () => void;
}

interface Answers {
  /** What the hook prints: JSON in the shape of the agent, or nothing. */
  answer(question: Question): Promise<string>;
  /** Forgets what no longer agrees with the files. Reads as much as an answer may not. */
  review(): void;
}

/** Places that are kept; a resident process would grow with each folder otherwise. */
const MAX_PLACES = 8;

export function openAnswers(): Answers {
  const places = new Map<string, HintSource>();
  const open = async (agent: Agent, place: HintPlace, onFile: Question['onFile']): Promise<HintSource> => {
    const key = JSON.stringify([agent.id, place]);
    const kept = places.get(key);
    places.delete(key);
    const known = kept?.isCurrent() === true ? kept : await readHintSource(agent, place, onFile);
    places.set(key, known);
    const [oldest] = places.keys();
    if (places.size > MAX_PLACES && oldest !== undefined) places.delete(oldest);
    return known;
  };
  return {
    async answer({ agent: id, input, home, env, onFile }) {
      const agent = AGENTS.find((one) => one.id === id);
      const prompt = readPrompt(input);
      if (agent === undefined || prompt === undefined) return '';
      const place = { cwd: prompt.cwd, home, env };
      const { skills } = await open(agent, place, onFile);
      if (!skills.some(({ isCandidate }) => isCandidate)) return '';
      const chosen = chooseHints({ request: prompt.text, skills, isHintable: ({ isCandidate }) => isCandidate })
        .map(({ skill }) => skill)
        .filter(({ path: file }) => isPresentFile(file));
      if (chosen.length === 0) return '';
      const calls = [...prompt.calls, ...readTranscript(agent, prompt, place)];
      const text = hintText(chosen.filter((skill) => !isLoaded(skill, calls)));
      return text === '' ? '' : JSON.stringify(agent.hook.answer(text));
    },
    review() {
      for (const [key, source] of places) if (!source.isWhollyCurrent()) places.delete(key);
    },
  };
}

function readTranscript({ hook }: Agent, { transcript, sessionId }: Prompt, place: HintPlace): readonly string[] {
  const own = sessionId === undefined ? undefined : hook.transcript?.(sessionId);
  const file = transcript ?? (own === undefined ? undefined : expandFolder(own, place));
  return file === undefined ? [] : readCalls(file);
}

function isPresentFile(file: string): boolean {
  try {
    return statSync(file).isFile();
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
