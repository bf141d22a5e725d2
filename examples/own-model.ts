/**
 * A model of your own, any function from a request to an answer, and how often it loads the right skill. This one counts words that a
 * request shares with a description; put a call to your server in its place.
 *
 *     node own-model.js [FOLDER OF SKILLS WITH CASES]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import type { Model } from 'skillwright/agent';
import { evaluateTrigger, readCases, skillFoldersIn } from 'skillwright/evals';

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[a-z]{4,}/g));

const openWordCounter = (): Model => ({
  id: 'word-counter',
  async call({ system, messages }, { signal }) {
    signal.throwIfAborted();
    const request = wordsOf(messages[0]?.content ?? '');
    const scores = [...system.matchAll(/<skill name="([^"]+)"[^>]*>([^<]*)/g)].map(([, skill, text = '']) => ({
      skill,
      score: [...wordsOf(text)].filter((word) => request.has(word)).length,
    }));
    const [best] = scores.toSorted((a, b) => b.score - a.score);
    const isLoaded = messages.some(({ role }) => role === 'tool');
    if (isLoaded || best === undefined || best.score < 2)
      return { text: 'Done.', toolCalls: [], finish: 'stop', usage: {}, retries: 0 };
    const call = { id: 'call-1', name: 'load_skill', input: JSON.stringify({ skill: best.skill }) };
    return { text: '', toolCalls: [call], finish: 'tool-calls', usage: {}, retries: 0 };
  },
});

const [folder = 'skills'] = process.argv.slice(2);
const directory = await mkdtemp(path.join(os.tmpdir(), 'own-model-'));
try {
  const { cases, problems } = readCases([folder]);
  const { trigger } = await evaluateTrigger({
    cases,
    problems,
    skills: skillFoldersIn(path.resolve(folder)),
    model: { way: 'live', id: 'word-counter', open: openWordCounter },
    directory,
    concurrency: 2,
    timeoutMs: 60_000,
    signal: AbortSignal.timeout(600_000),
  });
  // Two invented skills show first that the model loads the obvious one and leaves out the other; otherwise there are no scores.
  for (const { name, isKept } of trigger?.controls ?? [])
    console.log(`control ${name}: ${isKept ? 'passed' : 'failed'}`);
  for (const { skill, recall, precision } of trigger?.scores ?? [])
    console.log(
      `${skill}: ${String(recall.count)}/${String(recall.of)} found, ${String(precision.count)}/${String(precision.of)} right`,
    );
} finally {
  await rm(directory, { recursive: true, force: true });
}
