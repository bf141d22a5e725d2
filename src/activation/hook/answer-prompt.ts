/** Answers the hook of an agent: which skills to add to a prompt, if any. */
import { statSync } from 'node:fs';

import { expandFolder } from '#packs';
import { isSystemError } from '#platform';
import { buildSearchIndex, type SearchIndex } from '#skills';
import { AGENTS } from '../agents/agents.ts';
import type { Agent } from '../agents/agent.ts';
import { requestHash, type HintRecord } from '../hint-record.ts';
import { hintText } from './hint-text.ts';
import { chooseHints } from '../hints/choose-hints.ts';
import { indexBodies } from './body-index.ts';
import { readHintSource, type HintContext, type HintSource, type KnownFile } from './hint-source.ts';
import { readPrompt, type Prompt } from './prompt.ts';
import { isLoaded, readCalls } from './session-calls.ts';

interface Question {
  readonly agent: string;
  /** What the agent wrote to the hook, unparsed. */
  readonly input: string;
  readonly home: string;
  readonly env: HintContext['env'];
  /** Called before each file of a skill is read; what it throws ends the answer. */
  readonly onFile?: () => void;
}

interface Answer {
  /** What the hook prints: JSON in the shape of the agent, or nothing. */
  readonly text: string;
  /** What is kept of it once it is printed; absent without a hint. */
  readonly hint?: HintRecord;
}

interface Answers {
  answer(question: Question): Promise<Answer>;
  /** Reads what a prompt in this place needs. */
  prepare(agentId: string, place: HintContext): Promise<void>;
  /** Reads again what changed, and indexes bodies. Takes longer than an answer may. */
  review(): Promise<void>;
}

interface KnownContext {
  readonly agent: Agent;
  readonly place: HintContext;
  readonly source: HintSource;
  readonly index: SearchIndex;
  /** The stamp of the files whose bodies are in the index, or were tried. */
  readonly bodies?: string | undefined;
}

/** Places that are kept; a resident process would grow with each folder otherwise. */
const MAX_PLACES = 8;
const MAX_FILES = 20_000;
const SILENCE: Answer = { text: '' };

/**
 * With the program of the hook a review indexes bodies too, with which the right skill is found more often. Until it has, and without it,
 * requests are compared with names and descriptions.
 */
export function openAnswers({ program }: { readonly program?: string } = {}): Answers {
  const places = new Map<string, KnownContext>();
  const files = new Map<string, KnownFile>();
  let isReviewing = false;
  const read = async (agent: Agent, place: HintContext, onFile?: () => void): Promise<KnownContext> => {
    if (files.size > MAX_FILES) files.clear();
    const source = await readHintSource(agent, place, { known: files, onFile });
    const same = [...places.values()].findLast((one) => one.source.texts === source.texts);
    return { agent, place, source, index: same?.index ?? buildSearchIndex(source.skills), bodies: same?.bodies };
  };
  const open = async (agent: Agent, place: HintContext, onFile?: () => void): Promise<KnownContext> => {
    const key = JSON.stringify([agent.id, place]);
    const kept = places.get(key);
    const known = kept?.source.isCurrent() === true ? kept : await read(agent, place, onFile);
    places.delete(key);
    places.set(key, known);
    const [oldest] = places.keys();
    if (places.size > MAX_PLACES && oldest !== undefined) places.delete(oldest);
    return known;
  };
  const reviewPlace = async (key: string, kept: KnownContext): Promise<void> => {
    const known = kept.source.isWhollyCurrent() ? kept : await read(kept.agent, kept.place);
    // A prompt meanwhile has read it again.
    if (places.get(key) !== kept) return;
    places.set(key, known);
    const { source } = known;
    if (program === undefined || known.bodies === source.stamp) return;
    const index = await indexBodies(program, source.skills);
    for (const [other, one] of places)
      if (one.source.texts === source.texts)
        places.set(other, { ...one, index: index ?? one.index, bodies: source.stamp });
  };
  return {
    async answer({ agent: id, input, home, env, onFile }) {
      const agent = AGENTS.find((one) => one.id === id);
      const prompt = readPrompt(input);
      if (agent === undefined || prompt === undefined) return SILENCE;
      const place = { cwd: prompt.cwd, home, env };
      const { source, index } = await open(agent, place, onFile);
      const { skills } = source;
      if (!skills.some(({ isCandidate }) => isCandidate)) return SILENCE;
      const chosen = chooseHints({ request: prompt.text, skills, index, isHintable: ({ isCandidate }) => isCandidate })
        .map(({ skill }) => skill)
        // A change inside of a SKILL.md is noticed by the review that follows, which is too late for this prompt.
        .filter((skill) => isPresentFile(skill.path) && source.isTrusted(skill));
      if (chosen.length === 0) return SILENCE;
      const calls = [...prompt.calls, ...readTranscript(agent, prompt, place)];
      const { text, names } = hintText(chosen.filter((skill) => !isLoaded(skill, calls)));
      if (text === '') return SILENCE;
      const { sessionId } = prompt;
      return {
        text: JSON.stringify(agent.hook.answer(text)),
        hint: {
          time: new Date().toISOString(),
          agent: id,
          session: sessionId,
          request: requestHash(prompt.text),
          skills: names,
        },
      };
    },
    async prepare(agentId, place) {
      const agent = AGENTS.find((one) => one.id === agentId);
      if (agent !== undefined) await open(agent, place);
    },
    async review() {
      if (isReviewing) return;
      isReviewing = true;
      try {
        // Prompts move places meanwhile.
        const all = [...places];
        for (const [key, known] of all) await reviewPlace(key, known);
      } finally {
        isReviewing = false;
      }
    },
  };
}

function readTranscript({ hook }: Agent, { transcript, sessionId }: Prompt, place: HintContext): readonly string[] {
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
