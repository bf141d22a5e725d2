/** Reads what the agents keep of their sessions and says what happened to each skill. Writes nothing and sends nothing. */
import path from 'node:path';

import { estimateTokens, parseJson, type Surroundings } from '#core';
import { isInside, isSystemError, readTextFile, realPath } from '#platform';
import { AGENTS } from '../agents/agents.ts';
import type { Agent } from '../agents/agent.ts';
import { hintsFile, readHint, requestHash } from '../hint-record.ts';
import { bodyDigest } from './body-digest.ts';
import { findTranscripts } from './find-transcripts.ts';
import { openJudge, type Judge, type Judgement } from './judge-request.ts';
import { readLines } from './read-lines.ts';
import { readTranscript, type ReadCounts, type UserRequest } from './read-requests.ts';
import { openTally, type PriceTokens, type SkillUsage } from './tally.ts';

export interface UsageOptions {
  readonly surroundings: Surroundings;
  /** Ids; empty for all. */
  readonly agents?: readonly string[];
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Only sessions in this folder. */
  readonly project?: string;
  readonly price: PriceTokens;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: { readonly bytes: number; readonly of: number; readonly agent: string }) => void;
  /** Gets each request once, with what the skills of its project have to do with it. */
  readonly onRequest?: (request: UserRequest, judgement: Judgement) => void;
}

export interface Usage {
  /** ISO 8601. */
  readonly since: string;
  readonly agents: readonly AgentUsage[];
  readonly skills: readonly SkillUsage[];
  readonly unused: readonly UnusedSkill[];
}

interface AgentUsage extends Omit<ReadCounts, 'versions'> {
  readonly agent: string;
  readonly requests: number;
  readonly versions: readonly string[];
}

/** A skill of this project or of the user that an agent lists and that was not loaded. */
interface UnusedSkill {
  readonly agent: string;
  readonly name: string;
  /** What its entry costs in each session. */
  readonly tokens: number;
}

export async function readUsage(options: UsageOptions): Promise<Usage> {
  const { surroundings, agents = [], since, signal } = options;
  const named = new Set(agents);
  const judge = openJudge(surroundings);
  const tally = openTally(options.price);
  const hints = await readHints(options);
  const found = AGENTS.filter(({ id }) => named.size === 0 || named.has(id)).map((agent) => ({
    agent,
    transcripts: findTranscripts(agent.transcript, { place: surroundings, since }),
  }));
  const of = found.reduce((sum, { transcripts }) => transcripts.files.reduce((all, { bytes }) => all + bytes, sum), 0);
  let bytes = 0;
  const read: AgentUsage[] = [];
  for (const { agent, transcripts } of found) {
    const counts = emptyCounts(transcripts.problems);
    const seen = new Set<string>();
    let requests = 0;
    const pending: UserRequest[] = [];
    const count = async (): Promise<void> => {
      for (const request of pending.splice(0)) {
        if (!isWanted(request, seen, options)) continue;
        if (request.text !== '') requests += 1;
        signal.throwIfAborted();
        const judgement = await judgeRequest(judge, agent, request);
        const hinted = request.text === '' ? undefined : hints.get(`${agent.id} ${requestHash(request.text)}`);
        tally.add(request, hinted ?? new Set(), judgement);
        if (judgement !== undefined) options.onRequest?.(request, judgement);
      }
    };
    for (const file of transcripts.files) {
      await readTranscript(agent, file, {
        counts,
        signal,
        onRequest: (request) => pending.push(request),
        async onPiece(size) {
          bytes += size;
          counts.bytes += size;
          options.onProgress?.({ bytes, of, agent: agent.id });
          await count();
        },
      });
      await count();
    }
    const { versions, ...rest } = counts;
    if (counts.files > 0 || counts.problems.length > 0)
      read.push({ agent: agent.id, requests, ...rest, versions: [...versions].toSorted() });
  }
  const skills = tally.skills(
    await installedDigests(
      judge,
      found.map(({ agent }) => agent),
      surroundings,
    ),
  );
  const unused = await findUnused(judge, read, skills, surroundings);
  return { since: new Date(since).toISOString(), agents: read, skills, unused };
}

function emptyCounts(problems: readonly string[]): ReadCounts {
  return {
    files: 0,
    bytes: 0,
    lines: 0,
    unknown: 0,
    damaged: 0,
    tooLong: 0,
    versions: new Set(),
    problems: [...problems],
  };
}

/** A session that was resumed or copied has requests of another one again. */
function isWanted({ id, at, cwd, agent }: UserRequest, seen: Set<string>, { since, project }: UsageOptions): boolean {
  if (at < since || (project !== undefined && (cwd === undefined || !isInside(realPath(cwd), realPath(project)))))
    return false;
  if (id === undefined) return true;
  const key = `${agent} ${id}`;
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}

async function judgeRequest(
  judge: Judge,
  agent: Agent,
  { text, cwd, at }: UserRequest,
): Promise<Judgement | undefined> {
  return text === '' || cwd === undefined || !path.isAbsolute(cwd) || Number.isNaN(at)
    ? undefined
    : await judge.judge(agent, { text, cwd, at });
}

/** The names that were hinted, by agent and request. */
async function readHints({
  surroundings,
  since,
  signal,
}: UsageOptions): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const hints = new Map<string, Set<string>>();
  const file = hintsFile(surroundings);
  if (file === undefined) return hints;
  try {
    await readLines(file, {
      signal,
      onSkipped: () => undefined,
      onPiece: async () => undefined,
      onLine(line) {
        const hint = readHint(parseJson(line));
        if (hint === undefined || Date.parse(hint.time) < since) return;
        const key = `${hint.agent} ${hint.request}`;
        hints.set(key, new Set([...(hints.get(key) ?? []), ...hint.skills]));
      },
    });
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
  return hints;
}

const MAX_SKILL_BYTES = 1_000_000;

/** The versions that are installed now, by the name of the skill. */
async function installedDigests(
  judge: Judge,
  agents: readonly Agent[],
  { cwd }: Surroundings,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const digests = new Map<string, Set<string>>();
  for (const agent of agents)
    for (const { name, path: file } of (await judge.view(agent, cwd)).view.skills) {
      const read = readTextFile(file, MAX_SKILL_BYTES);
      if (read.type === 'read') digests.set(name, new Set([...(digests.get(name) ?? []), bodyDigest(read.text)]));
    }
  return digests;
}

async function findUnused(
  judge: Judge,
  agents: readonly AgentUsage[],
  skills: readonly SkillUsage[],
  { cwd }: Surroundings,
): Promise<readonly UnusedSkill[]> {
  const unused: UnusedSkill[] = [];
  for (const agent of AGENTS.filter(({ id }) => agents.some((read) => read.agent === id))) {
    const used = new Set(skills.filter((skill) => (skill.agents[agent.id] ?? 0) > 0).map(({ name }) => name));
    for (const { name, shown, text } of (await judge.view(agent, cwd)).view.skills)
      if (shown !== 'none' && !used.has(name))
        unused.push({ agent: agent.id, name, tokens: estimateTokens(`- ${name}: ${text}`) });
  }
  return unused.toSorted((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1));
}
