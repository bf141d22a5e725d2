/** Messages that go into one request after the other as they are: what they cost, and which they are, is worked out once. */
import type { ModelMessage } from '../core/model.ts';
import { estimateTokens } from '../core/tokens.ts';
import { sha256 } from '../platform/hash.ts';

export interface Passage {
  readonly messages: readonly ModelMessage[];
  /** Estimated. */
  readonly tokens: number;
  readonly digest: string;
}

/** What a message costs beside its text. */
const MESSAGE_TOKENS = 8;

export function passageOf(messages: readonly ModelMessage[]): Passage {
  const tokens = messages.reduce((sum, message) => sum + messageTokens(message), 0);
  return { messages, tokens, digest: sha256(JSON.stringify(messages)) };
}

/** Passages one after the other, as a request says them. */
export interface Passages {
  readonly messages: readonly ModelMessage[];
  readonly tokens: number;
  /** Theirs in order, a line each. */
  readonly digests: string;
}

export function firstPassage({ messages, tokens, digest }: Passage): Passages {
  return { messages, tokens, digests: digest };
}

/** With one more: a turn adds to what was said, and does not gather it again. */
export function nextPassage(before: Passages, { messages, tokens, digest }: Passage): Passages {
  return {
    messages: [...before.messages, ...messages],
    tokens: before.tokens + tokens,
    digests: `${before.digests}\n${digest}`,
  };
}

function messageTokens(message: ModelMessage): number {
  const calls = message.role === 'assistant' ? message.toolCalls : [];
  return calls.reduce(
    (sum, { id, name, input }) => sum + MESSAGE_TOKENS + estimateTokens(`${id} ${name} ${input}`),
    MESSAGE_TOKENS + estimateTokens(message.content),
  );
}

/** What somebody says to the model, where there is something to say. */
export function user(content: string): ModelMessage {
  return { role: 'user', content };
}
