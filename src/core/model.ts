/** A language model behind one function, or what stands in for one. Who makes them is in `model/`; who asks them is in `agent/`. */
import type { JsonSchema } from './json/json-schema.ts';

export interface Model {
  /** `anthropic/claude-sonnet-4-5`, `ollama/qwen3`, `rules`, `scripted`. */
  readonly id: string;
  /** Tokens that a request and its answer may have together; absent where nobody knows. */
  readonly contextWindow?: number;
  /** One answer to one request. Throws `SkillError`: `model/unavailable`, `model/failed`; or the reason of the signal. */
  call(request: ModelRequest, options: ModelCallOptions): Promise<ModelAnswer>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** Empty where the model answers with structured actions. */
  readonly tools: readonly ModelTool[];
  /** The answer must be one JSON object of this shape, where the model can be held to it. */
  readonly answerSchema?: JsonSchema;
  readonly maxOutputTokens?: number;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly ModelToolCall[] }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly toolName: string;
      readonly content: string;
      readonly isError: boolean;
    };

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it; it may be none. */
  readonly input: string;
}

export const FINISHES = ['stop', 'tool-calls', 'length', 'filtered', 'other'] as const;
export type Finish = (typeof FINISHES)[number];

export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly finish: Finish;
  readonly usage: ModelUsage;
  /** Attempts before this answer came. */
  readonly retries: number;
}

/** Absent where the model does not say. */
export interface ModelUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
}

export interface ModelCallOptions {
  readonly signal: AbortSignal;
  /** Told of the answer while it grows. Deltas add up to the answer; nothing may be done before that is complete. */
  readonly onDelta?: (delta: ModelDelta) => void;
}

export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-input'; readonly id: string; readonly name: string; readonly text: string };
