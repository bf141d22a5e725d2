/** The facts of a run of another agent, collected while its transcript arrives. */
import { isObject, type ModelAnswer } from '#core';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface TranscriptCall {
  readonly name: string;
  readonly input: unknown;
  /** False until the transcript reports success. */
  readonly ok: boolean;
  readonly output: string;
  /** The skill that the call asked a tool for skills to load. */
  readonly skill?: string;
}

export type Transcript = ReturnType<typeof openTranscript>;

export function openTranscript() {
  const calls = new Map<string, TranscriptCall>();
  const turns = new Set<string>();
  const open = new Set<string>();
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  let ended: TranscriptCall[] = [];
  let hasUsage = false;
  const end = (id: string, { ok, output }: Pick<TranscriptCall, 'ok' | 'output'>): void => {
    const call = calls.get(id);
    if (call !== undefined && open.delete(id)) ended.push({ ...call, ok, output });
  };
  return {
    answer: '',
    model: '',
    usd: undefined as number | undefined,
    /** Why the agent failed, in its own words. */
    error: undefined as string | undefined,
    /** Whether the event that ends every transcript of this agent was seen. */
    isComplete: false,
    /** The skills that the agent offered to the model, if the transcript names them. */
    offered: undefined as readonly string[] | undefined,
    get calls(): number {
      return calls.size;
    },
    /** Requests to the model, as far as the transcript shows them. */
    get turns(): number {
      return turns.size;
    },
    get usage(): ModelAnswer['usage'] | undefined {
      return hasUsage ? usage : undefined;
    },
    /** Counts each id once; without an id, every call counts. */
    turn: (id = `#${String(turns.size)}`) => void turns.add(id),
    start(id: string, call: Pick<TranscriptCall, 'name' | 'input' | 'skill'>): void {
      if (calls.has(id)) return;
      calls.set(id, { ...call, ok: false, output: '' });
      open.add(id);
    },
    end,
    /** The calls that ended since the last time. */
    takeEnded(): readonly TranscriptCall[] {
      const last = ended;
      ended = [];
      return last;
    },
    /** Ends the calls without a result as failed. */
    endOpen(): void {
      for (const id of open) end(id, { ok: false, output: '' });
    },
    /** `input` includes cached tokens. */
    addUsage(input: number, output: number, cached = 0): void {
      hasUsage = true;
      usage.inputTokens += input;
      usage.outputTokens += output;
      usage.cachedInputTokens += cached;
    },
  };
}

/** A field of untrusted JSON; each function has a default for a field of another type. */
export function textIn(value: unknown, name: string): string {
  const field = fieldIn(value, name);
  return typeof field === 'string' ? field : '';
}

export function numberIn(value: unknown, name: string): number {
  const field = fieldIn(value, name);
  return typeof field === 'number' && Number.isFinite(field) ? field : 0;
}

export function objectIn(value: unknown, name: string): JsonObject {
  const field = fieldIn(value, name);
  return isObject(field) ? field : {};
}

export function listIn(value: unknown, name: string): readonly unknown[] {
  const field = fieldIn(value, name);
  return Array.isArray(field) ? field : [];
}

function fieldIn(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => textIn(part, 'text')).join('\n') : '';
}
