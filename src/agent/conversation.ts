/** What was said between an agent and its model, turn by turn, and the messages it becomes (AGT-6). */
import { startOfText } from '../core/text/excerpt.ts';
import type { ModelMessage, ModelToolCall } from '../core/model.ts';
import { markedData } from './marked-data.ts';
import type { KeptOutputs } from './outputs.ts';
import { firstPassage, nextPassage, passageOf, user } from './measured-messages.ts';
import type { Passage, Passages } from './measured-messages.ts';

export interface ExchangeResult {
  readonly callId: string;
  readonly tool: string;
  readonly text: string;
  /** The text as the model sees it: between marks where it is data that has none of its own. */
  readonly shown: string;
  readonly isData: boolean;
  readonly isError: boolean;
  /** What remains of it when the exchange is dropped. */
  readonly line: string;
  /** Where the whole text is, once only its start is shown. */
  readonly reference?: string;
}

/** One answer of the model and what came of it. */
export interface Exchange {
  readonly turn: number;
  readonly text: string;
  /** Empty where the answer is a structured action. */
  readonly toolCalls: readonly ModelToolCall[];
  readonly results: readonly ExchangeResult[];
  /** What the loop itself has to say to the answer: that it cannot be read. */
  readonly remark?: string;
  /** What the person said next, where the answer was one to them. */
  readonly message?: string;
  readonly passage: Passage;
}

type ExchangeParts = Omit<Exchange, 'passage'>;

export interface Conversation extends ConversationStart {
  /** What comes before the exchanges. */
  readonly opening: Passage;
  readonly exchanges: readonly Exchange[];
  /** All of it in order. What comes after it in a request changes with each: so everything in it stays the same. */
  readonly whole: Passages;
}

interface ConversationStart {
  /** The request with what belongs to it: files, skills that are proposed. */
  readonly request: string;
  /** Skills that were loaded before the first turn, or carried over when exchanges were dropped; empty where there are none. */
  readonly skills: string;
  /** One line for each result that was dropped, the oldest first. */
  readonly earlier: readonly string[];
}

/** Longer answers and inputs are not sent back: the model wrote them. */
const LONGEST_ANSWER = 20_000;
/** Longer results are shown by their start. */
const LONGEST_RESULT = 24_000;
/** Of a message; the first one is never too long, for there is no run without it. */
const LONGEST_MESSAGE = 200_000;
// Here and below field by field: each field that is added to a spread takes a microsecond.
export function resultOf(parts: Omit<ExchangeResult, 'shown'>): ExchangeResult {
  const { callId, tool, text, isData, isError, line, reference } = parts;
  const shown = isData ? markedData(tool, text) : text;
  return { callId, tool, text, shown, isData, isError, line, ...(reference === undefined ? {} : { reference }) };
}

export function startConversation(request: string, skills = ''): Conversation {
  return conversationOf({ request, skills, earlier: [] }, []);
}

export function conversationOf(start: ConversationStart, exchanges: readonly Exchange[]): Conversation {
  const { request, skills, earlier } = start;
  const messages = [
    user(request),
    ...(skills === '' ? [] : [user(`[skills in use]\n${skills}`)]),
    ...(earlier.length === 0 ? [] : [user(['[earlier, shortened]', ...earlier].join('\n'))]),
  ];
  return withExchanges({ request, skills, earlier, opening: passageOf(messages) }, exchanges);
}

/** The same start with other exchanges. */
export function withExchanges(
  { request, skills, earlier, opening }: Omit<Conversation, 'exchanges' | 'whole'>,
  exchanges: readonly Exchange[],
): Conversation {
  const whole = exchanges.reduce((before, { passage }) => nextPassage(before, passage), firstPassage(opening));
  return { request, skills, earlier, opening, exchanges, whole };
}

export function withExchange(conversation: Conversation, exchange: ExchangeParts, outputs: KeptOutputs): Conversation {
  const bounded = shortExchange(
    exchange,
    { answer: LONGEST_ANSWER, result: LONGEST_RESULT, message: LONGEST_MESSAGE },
    outputs,
  );
  const { exchanges, whole } = conversation;
  return { ...conversation, exchanges: [...exchanges, bounded], whole: nextPassage(whole, bounded.passage) };
}

/** Something that the loop says after all that was said so far. */
export function withRemark(conversation: Conversation, remark: string): Conversation {
  const { exchanges, request } = conversation;
  const last = exchanges.at(-1);
  if (last === undefined) return conversationOf({ ...conversation, request: `${request}\n\n${remark}` }, []);
  const said = last.remark === undefined ? remark : `${last.remark}\n\n${remark}`;
  return withExchanges(conversation, [...exchanges.slice(0, -1), withPassage({ ...last, remark: said })]);
}

/** An exchange in which no text is longer than its limit. */
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
    ...(remark === undefined ? {} : { remark: shortText(remark, limits.answer) }),
    ...(message === undefined ? {} : { message: shortMessage(message, limits.message, outputs) }),
  };
  return withPassage(short);
}

function withPassage(exchange: ExchangeParts): Exchange {
  const { turn, text, toolCalls, results, remark, message } = exchange;
  return {
    turn,
    text,
    toolCalls,
    results,
    passage: passageOf(exchangeMessages(exchange)),
    ...(remark === undefined ? {} : { remark }),
    ...(message === undefined ? {} : { message }),
  };
}

function shortText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${startOfText(text, limit)}\n[${String(text.length - limit)} more characters left out]`;
}

/** Nobody but the person can say it again, so that the whole of it can be had. */
export function shortMessage(text: string, limit: number, outputs: KeptOutputs, name = 'text'): string {
  if (text.length <= limit) return text;
  return `${startOfText(text, limit)}\n[cut: the whole ${name} is ${outputs.keep(text)}]`;
}

/** An input stays JSON, for servers refuse to be sent anything else. */
function shortCall(call: ModelToolCall, limit: number): ModelToolCall {
  if (call.input.length <= limit) return call;
  return { ...call, input: JSON.stringify({ left_out: `${String(call.input.length)} characters` }) };
}

/** The start of a result with the reference of the whole. What was shortened before is shortened from its shorter text. */
function shortResult(result: ExchangeResult, limit: number, outputs: KeptOutputs): ExchangeResult {
  const { text } = result;
  if (text.length <= limit) return result;
  const reference = result.reference ?? outputs.keep(text);
  const note = `[cut: the whole is ${reference}]`;
  const start = startOfText(text, Math.max(0, limit - note.length));
  // What is cut is no longer the JSON that marked its own ends.
  return resultOf({ ...result, reference, isData: true, text: `${start}\n${note}` });
}

function exchangeMessages({ text, toolCalls, results, remark, message }: ExchangeParts): readonly ModelMessage[] {
  const isNative = toolCalls.length > 0;
  return [
    // Servers refuse a message with nothing in it.
    { role: 'assistant', content: text === '' && !isNative ? '[no answer]' : text, toolCalls },
    ...results.map(({ callId, tool, shown: content, isError }): ModelMessage =>
      isNative ? { role: 'tool', callId, toolName: tool, content, isError } : user(content),
    ),
    ...(remark === undefined ? [] : [user(remark)]),
    ...(message === undefined ? [] : [user(message)]),
  ];
}
