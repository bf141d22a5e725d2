/** Messages with their token count and digest, so that each message is measured once and not in every request. */
import { estimateTokens, type ModelMessage } from '#core';
import { sha256 } from '#platform';

export interface MeasuredMessages {
  readonly messages: readonly ModelMessage[];
  readonly tokens: number;
  readonly digest: string;
}

const MESSAGE_TOKENS = 8;
/** Of one image: what providers count for the largest size that they do not scale down. */
const IMAGE_TOKENS = 1_600;

export function measureMessages(messages: readonly ModelMessage[]): MeasuredMessages {
  const tokens = messages.reduce((sum, message) => sum + messageTokens(message), 0);
  return { messages, tokens, digest: sha256(JSON.stringify(messages)) };
}

export interface MeasuredConversation {
  readonly messages: readonly ModelMessage[];
  readonly tokens: number;
  readonly digests: string;
}

export function startMeasured({ messages, tokens, digest }: MeasuredMessages): MeasuredConversation {
  return { messages, tokens, digests: digest };
}

export function appendMeasured(
  before: MeasuredConversation,
  { messages, tokens, digest }: MeasuredMessages,
): MeasuredConversation {
  return {
    messages: [...before.messages, ...messages],
    tokens: before.tokens + tokens,
    digests: `${before.digests}\n${digest}`,
  };
}

function messageTokens(message: ModelMessage): number {
  const calls = message.role === 'assistant' ? message.toolCalls : [];
  const images = message.role === 'tool' ? (message.images?.length ?? 0) : 0;
  return calls.reduce(
    (sum, { id, name, input }) => sum + MESSAGE_TOKENS + estimateTokens(`${id} ${name} ${input}`),
    MESSAGE_TOKENS + estimateTokens(message.content) + images * IMAGE_TOKENS,
  );
}

export function user(content: string): ModelMessage {
  return { role: 'user', content };
}
