/** The conversation of an agent with its model, turn by turn, and the messages that represent it (AGT-6). */
import {
  defined,
  estimateTokens,
  startOfText,
  type ModelToolCall,
  type OfType,
  type Observation,
  type ModelRequest,
} from '#core';
import { sha256 } from '#platform';
import type { KeptOutputs } from './outputs.ts';

type ModelMessage = ModelRequest['messages'][number];
type UserImages = Extract<ModelMessage, { readonly role: 'user' }>['images'];

export interface ExchangeResult {
  readonly callId: string;
  readonly tool: string;
  readonly text: string;
  /** The text as the model sees it, enclosed in marks if it is data without its own delimiters. */
  readonly shown: string;
  readonly isData: boolean;
  readonly isError: boolean;
  /** The summary line that remains when the exchange is dropped. */
  readonly line: string;
  /** The reference of the whole text, if `text` is truncated. */
  readonly reference?: string;
  /** Images of the result; absent if there are none. */
  readonly images?: OfType<Observation, 'tool-called'>['images'];
}

export interface Exchange {
  readonly turn: number;
  readonly text: string;
  /** Empty for structured actions. */
  readonly toolCalls: readonly ModelToolCall[];
  readonly results: readonly ExchangeResult[];
  /** A message of the agent itself about the answer, for example that it is invalid. */
  readonly remark?: string;
  /** The next message of the user, if the answer was a final one. */
  readonly message?: string;
  /** Of that message. */
  readonly messageImages?: UserImages;
  readonly passage: MeasuredMessages;
}

type ExchangeParts = Omit<Exchange, 'passage'>;

export interface Conversation extends ConversationStart {
  readonly opening: MeasuredMessages;
  readonly exchanges: readonly Exchange[];
  /** All messages in order. A request only appends to them, so that providers can cache the prefix. */
  readonly whole: MeasuredConversation;
}

interface ConversationStart {
  /** The request with the given files and the proposed skills. */
  readonly request: string;
  readonly images?: UserImages;
  /** Skills that were loaded before the first turn, or carried over when exchanges were dropped; may be empty. */
  readonly skills: string;
  /** One summary line per dropped result, oldest first. */
  readonly earlier: readonly string[];
}

/** Longer answers and inputs are truncated: the model wrote them itself. */
const LONGEST_ANSWER = 20_000;
/** The model cannot produce these again: guides and files come whole. What does not fit the window of the model is shortened in `reduce-chat.ts`. */
const LONGEST_GIVEN = 200_000;

export function toExchangeResult(parts: Omit<ExchangeResult, 'shown'>): ExchangeResult {
  const { tool, text, isData } = parts;
  return { ...parts, shown: isData ? markedData(tool, text) : text };
}

const HASH_LENGTH = 16;

/** Encloses the output of a tool in marks that carry its hash: the text cannot contain its own hash, and so cannot end the marks. */
function markedData(tool: string, text: string): string {
  const name = sha256(`${tool}\n${text}`).slice(0, HASH_LENGTH);
  return `[data ${name} from ${tool}]\n${text}\n[end of data ${name}]`;
}

export function startConversation({
  request,
  skills = '',
  images,
}: Pick<ConversationStart, 'request' | 'images'> & Partial<Pick<ConversationStart, 'skills'>>): Conversation {
  return buildConversation({ request, skills, images, earlier: [] }, []);
}

export function buildConversation(start: ConversationStart, exchanges: readonly Exchange[]): Conversation {
  const { request, images, skills, earlier } = start;
  const messages = [
    user(request, images),
    ...(skills === '' ? [] : [user(skillsInUse(skills))]),
    ...(earlier.length === 0 ? [] : [user(['[earlier, shortened]', ...earlier].join('\n'))]),
  ];
  return withExchanges({ request, images, skills, earlier, opening: measureMessages(messages) }, exchanges);
}

export function skillsInUse(skills: string): string {
  return `[skills in use]\n${skills}`;
}

export function withExchanges(
  { request, images, skills, earlier, opening }: Omit<Conversation, 'exchanges' | 'whole'>,
  exchanges: readonly Exchange[],
): Conversation {
  const whole = exchanges.reduce((before, { passage }) => appendMeasured(before, passage), startMeasured(opening));
  return { request, images, skills, earlier, opening, exchanges, whole };
}

export function withExchange(conversation: Conversation, exchange: ExchangeParts, outputs: KeptOutputs): Conversation {
  const bounded = shortExchange(
    exchange,
    { answer: LONGEST_ANSWER, result: LONGEST_GIVEN, message: LONGEST_GIVEN },
    outputs,
  );
  const { exchanges, whole } = conversation;
  return { ...conversation, exchanges: [...exchanges, bounded], whole: appendMeasured(whole, bounded.passage) };
}

/** Adds a message of the agent itself at the end, or before the last exchange, so that the model reads it before those results. */
export function withRemark(
  conversation: Conversation,
  remark: string,
  { isBeforeLast = false }: { readonly isBeforeLast?: boolean } = {},
): Conversation {
  const { exchanges, request } = conversation;
  const at = exchanges.length - (isBeforeLast ? 2 : 1);
  const last = exchanges[at];
  if (last === undefined) return buildConversation({ ...conversation, request: `${request}\n\n${remark}` }, exchanges);
  const joined = last.remark === undefined ? remark : `${last.remark}\n\n${remark}`;
  return withExchanges(conversation, exchanges.with(at, withMeasure({ ...last, remark: joined })));
}

export function shortExchange(
  exchange: ExchangeParts,
  limits: { readonly answer: number; readonly result: number; readonly message: number },
  outputs: KeptOutputs,
): Exchange {
  const { remark, message } = exchange;
  const short: ExchangeParts = {
    ...exchange,
    text: shortText(exchange.text, limits.answer),
    toolCalls: exchange.toolCalls.map((call) => shortCall(call, limits.answer)),
    results: exchange.results.map((result) => shortResult(result, limits.result, outputs)),
    remark: remark === undefined ? undefined : shortText(remark, limits.answer),
    message: message === undefined ? undefined : shortMessage(message, limits.message, outputs),
  };
  return withMeasure(short);
}

function withMeasure(exchange: ExchangeParts): Exchange {
  return { ...exchange, passage: measureMessages(exchangeMessages(exchange)) };
}

function shortText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${startOfText(text, limit)}\n[${String(text.length - limit)} more characters left out]`;
}

/** Truncates a message and stores the whole of it, because the model cannot produce it again. */
export function shortMessage(text: string, limit: number, outputs: KeptOutputs, name = 'text'): string {
  if (text.length <= limit) return text;
  return `${startOfText(text, limit)}\n[cut: the whole ${name} is ${outputs.keep(text)}]`;
}

/** The replacement is JSON as well, because providers reject anything else. */
function shortCall(call: ModelToolCall, limit: number): ModelToolCall {
  if (call.input.length <= limit) return call;
  return { ...call, input: JSON.stringify({ left_out: `${String(call.input.length)} characters` }) };
}

/** Truncates a result and adds the reference of the whole. A result that was truncated before is truncated further. */
function shortResult(result: ExchangeResult, limit: number, outputs: KeptOutputs): ExchangeResult {
  const { text } = result;
  if (text.length <= limit) return result;
  const reference = result.reference ?? outputs.keep(text);
  const note = `[cut: the whole is ${reference}]`;
  const start = startOfText(text, Math.max(0, limit - note.length));
  // A truncated JSON text no longer delimits itself.
  return toExchangeResult({ ...result, reference, isData: true, text: `${start}\n${note}` });
}

function exchangeMessages({
  text,
  toolCalls,
  results,
  remark,
  message,
  messageImages,
}: ExchangeParts): readonly ModelMessage[] {
  const isNative = toolCalls.length > 0;
  return [
    // Providers reject empty messages.
    { role: 'assistant', content: text === '' && !isNative ? '[no answer]' : text, toolCalls },
    ...results.map(({ callId, tool, shown: content, isError, images }): ModelMessage =>
      isNative ? { role: 'tool', callId, toolName: tool, content, isError, ...defined({ images }) } : user(content),
    ),
    ...(remark === undefined ? [] : [user(remark)]),
    ...(message === undefined ? [] : [user(message, messageImages)]),
  ];
}

/** Messages with their token count and digest, so that each message is measured once and not in every request. */
interface MeasuredMessages {
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

interface MeasuredConversation {
  readonly messages: readonly ModelMessage[];
  readonly tokens: number;
  readonly digests: string;
}

function startMeasured({ messages, tokens, digest }: MeasuredMessages): MeasuredConversation {
  return { messages, tokens, digests: digest };
}

function appendMeasured(
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
  const images = message.role === 'assistant' ? 0 : (message.images?.length ?? 0);
  return calls.reduce(
    (sum, { id, name, input }) => sum + MESSAGE_TOKENS + estimateTokens(`${id} ${name} ${input}`),
    MESSAGE_TOKENS + estimateTokens(message.content) + images * IMAGE_TOKENS,
  );
}

export function user(content: string, images?: UserImages): ModelMessage {
  return { role: 'user', content, ...defined({ images }) };
}
