/** Answers the hook of an agent: which skills to add to a prompt, if any. */

import type { Surroundings } from '#core';
import { expandFolder } from '#packs';
import { buildSearchIndex, type SearchIndex } from '#skills';
import { AGENTS } from '../agents/agents.ts';
import type { Agent } from '../agents/agent.ts';
import { chooseHints } from '../hints/choose-hints.ts';
import { indexBodies } from './body-index.ts';
import { composeAnswer, TEXT_SLOT, SILENCE, type Answer, type AnswerFrame } from './compose-answer.ts';
import { stampOf } from './file-stamps.ts';
import { readHintSource, type HintContext, type HintSource, type KnownFile } from './hint-source.ts';
import { keptFile, writeKept } from './kept-hints.ts';
import { readPrompt } from './prompt.ts';

export interface Question {
  readonly agent: string;
  /** What the agent wrote to the hook, unparsed. */
  readonly input: string;
  readonly home: string;
  readonly env: HintContext['env'];
  /** Called before each file of a skill is read; what it throws ends the answer. */
  readonly onFile?: () => void;
}

interface Answers {
  readonly answer: (question: Question) => Promise<Answer>;
  /** Reads what a prompt in this place needs. */
  prepare(agentId: string, place: HintContext): Promise<void>;
  /** Reads again what changed, indexes bodies, and keeps what hooks need where no process serves. Takes longer than an answer may. */
  review(): Promise<void>;
}

interface KnownContext {
  readonly agent: Agent;
  readonly place: HintContext;
  readonly source: HintSource;
  /** Of names and descriptions: a hook that starts for each prompt reads it five times as fast. */
  readonly plain: SearchIndex;
  /** With bodies once a review has read them. */
  readonly index: SearchIndex;
  /** The stamp of the files whose bodies are in the index, or were tried. */
  readonly bodies?: string | undefined;
  /** The stamp of the files whose hints are kept. */
  readonly kept?: string | undefined;
}

/** Looking at the files of more skills takes too long for a prompt. */
const MAX_CHECKED = 300;
/** Places that are kept; a resident process would grow with each folder otherwise. */
const MAX_PLACES = 8;
const MAX_FILES = 20_000;

interface AnswersOptions {
  /** The program of the thread that indexes bodies in a review; with them the right skill is found more often. Until it has, and without it, requests are compared with names and descriptions. */
  readonly indexer?: string;
  /** The variables that name the cache folder; nothing is kept without them. */
  readonly cache?: Surroundings['env'];
}

export function openAnswers({ indexer, cache }: AnswersOptions = {}): Answers {
  const places = new Map<string, KnownContext>();
  const files = new Map<string, KnownFile>();
  let isReviewing = false;
  const read = async (agent: Agent, place: HintContext, onFile?: () => void): Promise<KnownContext> => {
    if (files.size > MAX_FILES) files.clear();
    const source = await readHintSource(agent, place, { known: files, onFile });
    const same = [...places.values()].findLast((one) => one.source.texts === source.texts);
    const plain = same?.plain ?? buildSearchIndex(source.skills);
    return { agent, place, source, plain, index: same?.index ?? plain, bodies: same?.bodies };
  };
  const open = async (agent: Agent, place: HintContext, onFile?: () => void): Promise<KnownContext> => {
    const key = JSON.stringify([agent.id, place]);
    const kept = places.get(key);
    const known = kept !== undefined && isCurrent(kept.source) ? kept : await read(agent, place, onFile);
    places.delete(key);
    places.set(key, known);
    const [oldest] = places.keys();
    if (places.size > MAX_PLACES && oldest !== undefined) places.delete(oldest);
    return known;
  };
  const reviewPlace = async (key: string, kept: KnownContext): Promise<void> => {
    const isSame = kept.source.watched !== undefined && kept.source.isWhollyCurrent();
    const known = isSame ? kept : await read(kept.agent, kept.place);
    // A prompt meanwhile has read it again.
    if (places.get(key) !== kept) return;
    places.set(key, known);
    const { source } = known;
    if (indexer !== undefined && known.bodies !== source.stamp) {
      const index = await indexBodies(indexer, source.skills);
      for (const [other, one] of places)
        if (one.source.texts === source.texts)
          places.set(other, { ...one, index: index ?? one.index, bodies: source.stamp });
    }
    const indexed = places.get(key);
    if (cache === undefined || indexed?.source !== source || indexed.kept === source.stamp) return;
    keep(indexed, cache);
    places.set(key, { ...indexed, kept: source.stamp });
  };
  return {
    async answer({ agent: id, input, home, env, onFile }) {
      const agent = AGENTS.find((one) => one.id === id);
      const prompt = readPrompt(input);
      if (agent === undefined || prompt === undefined) return SILENCE;
      const place = { cwd: prompt.cwd, home, env };
      const { source, index } = await open(agent, place, onFile);
      const { skills } = source;
      const isHintable = (position: number): boolean => skills[position]?.isCandidate === true;
      if (!skills.some(({ isCandidate }) => isCandidate)) return SILENCE;
      const chosen = chooseHints({ request: prompt.text, index, isHintable })
        .flatMap(({ position }) => skills[position] ?? [])
        // Of many skills a change inside of a SKILL.md is noticed by the review that follows, which is too late for this prompt.
        .filter((skill) => isUnchanged(skill) && source.isTrusted(skill));
      return composeAnswer(frameOf(agent, place), prompt, chosen);
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

function isCurrent(source: HintSource): boolean {
  return source.isCurrent() && (source.skills.length > MAX_CHECKED || source.isWhollyCurrent());
}

function frameOf({ id, hook }: Agent, place: HintContext): AnswerFrame {
  const own = hook.transcript?.(TEXT_SLOT);
  return {
    agent: id,
    answer: JSON.stringify(hook.answer(TEXT_SLOT)),
    transcript: own === undefined ? undefined : expandFolder(own, place),
  };
}

function keep({ agent, place, source, plain }: KnownContext, env: Surroundings['env']): void {
  const { watched } = source;
  if (watched === undefined) return;
  const skills = source.skills.map((skill) => (skill.isCandidate ? skill : undefined));
  const file = keptFile(agent.id, place, { env, home: place.home });
  writeKept(file, { index: plain, skills, watched, frame: frameOf(agent, place) });
}

function isUnchanged({ path: file, stamp }: HintSource['skills'][number]): boolean {
  const now = stampOf(file);
  return now !== undefined && (stamp === undefined || stamp === now);
}
