/** Turns the transcripts of an agent into requests: what the user asked, which skills were loaded for it, and what it cost. */
import { isObject, parseJson } from '#core';
import { isSystemError } from '#platform';
import type { Agent } from '../agents/agent.ts';
import { textIn, type Row, type Tokens, type TokensEvent, type TranscriptEvent } from '../agents/transcript.ts';
import { bodyDigest } from './body-digest.ts';
import type { Transcript } from './find-transcripts.ts';
import { readLines } from './read-lines.ts';
import { readTables } from './sqlite.ts';

export interface UserRequest {
  readonly agent: string;
  /** Empty for loads before the first request, such as those of a subagent, and for a command. */
  readonly text: string;
  readonly id?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly cwd?: string;
  readonly loads: readonly Load[];
  readonly usage: readonly ModelUsage[];
}

interface Load {
  readonly id: string;
  readonly skill: string;
  readonly byUser: boolean;
  /** Of the text that the model got, if the transcript has it. */
  digest?: string;
}

export type ModelUsage = Pick<TokensEvent, 'model' | 'usd'> & Tokens;

/** What was read, for the report; nothing is skipped silently. */
export interface ReadCounts {
  files: number;
  bytes: number;
  lines: number;
  /** Of a shape that the agent's file does not know. */
  unknown: number;
  /** Not JSON. */
  damaged: number;
  tooLong: number;
  /** Of the agent, as its transcripts name them. */
  readonly versions: Set<string>;
  readonly problems: string[];
}

interface ReadOptions {
  readonly counts: ReadCounts;
  readonly signal: AbortSignal;
  readonly onPiece: (bytes: number) => Promise<void>;
  readonly onRequest: (request: UserRequest) => void;
}

export async function readTranscript(agent: Agent, file: Transcript, options: ReadOptions): Promise<void> {
  const { counts, signal, onPiece } = options;
  const { tables, open } = agent.transcript;
  const read = open();
  const state = openState(agent.id, file, options);
  const take = (row: Row): void => {
    counts.lines += 1;
    const events = read(row);
    if (events === undefined) counts.unknown += 1;
    else for (const event of events) state.take(event);
  };
  counts.files += 1;
  try {
    if (tables === undefined)
      await readLines(file.path, {
        signal,
        onPiece,
        onSkipped: () => (counts.tooLong += 1),
        onLine(line) {
          if (line.trim() === '') return;
          const value = parseJson(line);
          if (isObject(value)) return take(value);
          counts.lines += 1;
          counts.damaged += 1;
        },
      });
    else {
      const problem = await readTables(file.path, { tables, signal, onPiece, onRow: take });
      if (problem !== undefined) counts.problems.push(`${file.path} ${problem}`);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    counts.problems.push(`${file.path} cannot be read (${error.code})`);
  }
  state.end();
}

interface OpenSession {
  cwd?: string;
  request: OpenRequest;
  readonly calls: Map<string, string>;
}

interface OpenRequest extends Omit<UserRequest, 'usage' | 'loads'> {
  readonly loads: Map<string, Load>;
  readonly usage: Map<string, ModelUsage>;
}

/** Calls that never get a result must not fill the memory. */
const MAX_OPEN_CALLS = 1000;

function openState(agent: string, file: Transcript, { counts, onRequest }: ReadOptions) {
  const sessions = new Map<string, OpenSession>();
  const start = (): OpenRequest => ({ agent, text: '', at: Number.NaN, loads: new Map(), usage: new Map() });
  const close = ({ request, cwd = file.cwd }: OpenSession): void => {
    const { loads, usage, ...rest } = request;
    if (rest.text === '' && loads.size === 0) return;
    onRequest({
      ...rest,
      cwd,
      loads: [...loads.values()],
      usage: [...usage.values()],
    });
  };
  const load = ({ request }: OpenSession, id: string, { text, ...one }: Omit<Load, 'id'> & { text?: string }): void => {
    // A model may read the file of a skill that it has loaded, and a long file in parts.
    if ([...request.loads.values()].some((other) => other.skill === one.skill && other.id !== id)) return;
    // A session writes a load again when it is saved again.
    const before = request.loads.get(id);
    const digest = text === undefined ? before?.digest : bodyDigest(text);
    request.loads.set(id, { id, ...one, digest });
  };
  return {
    take(event: TranscriptEvent): void {
      const key = event.session ?? '';
      const session = sessions.get(key) ?? { request: start(), calls: new Map<string, string>() };
      sessions.set(key, session);
      const { request, calls } = session;
      switch (event.type) {
        case 'session':
          session.cwd = event.cwd ?? session.cwd;
          if (event.version !== undefined) counts.versions.add(event.version);
          break;
        case 'request':
          close(session);
          session.request = {
            ...start(),
            text: event.text,
            at: event.at,
            id: event.id,
          };
          break;
        case 'call':
          if (calls.size >= MAX_OPEN_CALLS) calls.clear();
          calls.set(event.id, event.skill);
          break;
        case 'result': {
          const skill = calls.get(event.id);
          calls.delete(event.id);
          if (skill !== undefined && event.ok) load(session, event.id, { skill, byUser: false, text: event.text });
          break;
        }
        case 'text': {
          const loaded = request.loads.get(event.id);
          if (loaded !== undefined) loaded.digest = bodyDigest(event.text);
          break;
        }
        case 'load':
          load(session, event.id, event);
          break;
        case 'tokens': {
          const { model, input, output, cached, written, usd } = event;
          const id = event.id ?? `step ${String(request.usage.size)}`;
          request.usage.set(id, { model: textIn(model), input, output, cached, written, usd });
        }
      }
    },
    end(): void {
      for (const session of sessions.values()) close(session);
    },
  };
}
