/**
 * Keeping a request inside its room (AGT-6), by rule: first old outputs become references, then old exchanges become lines, then what
 * is left is cut shorter and shorter. What is dropped stays reachable: outputs by their reference, skills by loading them again.
 */
import { conversationOf, shortExchange, shortMessage, withExchanges } from './conversation.ts';
import type { Conversation, Exchange } from './conversation.ts';
import type { KeptOutputs } from './outputs.ts';

export interface Room {
  /** Estimated tokens that the messages may cost. */
  readonly tokens: number;
  /** Of these, what is said about plan and budget. */
  readonly stateTokens: number;
  readonly outputs: KeptOutputs;
  /** The skills that are in use, within so many tokens; those that do not fit count as not loaded from then on. */
  readonly carrySkills: (tokens: number) => string;
}

export interface Shortened {
  readonly conversation: Conversation;
  readonly before: number;
  readonly after: number;
  /** What was done, in words. */
  readonly dropped: readonly string[];
}

/** A request is shortened when it fills more than this share of its room, and then to less than the other: not in every turn. */
const FULL = 0.8;
const ROOMY = 0.5;
/** Of the room, for skills that are carried over. */
const SKILL_SHARE = 0.25;
/** Exchanges that stay as they are as long as anything else can be shortened. */
const RECENT = 2;
const OLD_OUTPUT = 600;
/** Of what was said before, in a line. */
const SAID_LINE = 200;
const SMALL_REQUEST = 2_000;
const EARLIER_LINES = 60;

type Step = (conversation: Conversation, room: Room) => readonly [Conversation, string];

const STEPS: readonly Step[] = [
  (conversation, { outputs }) => {
    const old = conversation.exchanges.slice(0, -RECENT).map((exchange) => shortened(exchange, OLD_OUTPUT, outputs));
    return [withExchanges(conversation, [...old, ...conversation.exchanges.slice(-RECENT)]), 'old outputs'];
  },
  (conversation, room) => [withoutOld(conversation, RECENT, room, SKILL_SHARE), 'old exchanges'],
  (conversation, { outputs }) => [cut(conversation, 4_000, outputs), 'long outputs'],
  (conversation, room) => [withoutOld(cut(conversation, 1_000, room.outputs), 1, room, SKILL_SHARE / 2), 'exchanges'],
  (conversation, { outputs }) => [
    withEarlier(cut(conversation, 300, outputs), conversation.earlier.slice(-EARLIER_LINES / 4)),
    'outputs',
  ],
  (conversation, room) => [
    withShortRequests(withoutOld(conversation, 1, room, 0), room.outputs),
    'the end of the request',
  ],
];

/** The conversation as it fits, or as short as it gets; nothing where there is room enough. `before`: what it costs now. */
export function shortenConversation(conversation: Conversation, before: number, room: Room): Shortened | undefined {
  if (before <= room.tokens * FULL) return undefined;
  let shorter = conversation;
  let after = before;
  const dropped: string[] = [];
  for (const step of STEPS) {
    const [next, what] = step(shorter, room);
    const tokens = next.whole.tokens + room.stateTokens;
    if (tokens < after) {
      dropped.push(what);
      shorter = next;
      after = tokens;
    }
    if (after <= room.tokens * ROOMY) break;
  }
  return dropped.length === 0 ? undefined : { conversation: shorter, before, after, dropped };
}

function cut(conversation: Conversation, limit: number, outputs: KeptOutputs): Conversation {
  return withExchanges(
    conversation,
    conversation.exchanges.map((exchange) => shortened(exchange, limit, outputs)),
  );
}

function shortened(exchange: Exchange, limit: number, outputs: KeptOutputs): Exchange {
  return shortExchange(exchange, { answer: limit, result: limit, message: Number.POSITIVE_INFINITY }, outputs);
}

/** What a person said is cut last of all. */
function withShortRequests(conversation: Conversation, outputs: KeptOutputs): Conversation {
  const limits = { answer: SMALL_REQUEST, result: SMALL_REQUEST, message: SMALL_REQUEST };
  return conversationOf(
    { ...conversation, request: shortMessage(conversation.request, SMALL_REQUEST, outputs, 'request') },
    conversation.exchanges.map((exchange) => shortExchange(exchange, limits, outputs)),
  );
}

function withEarlier(conversation: Conversation, earlier: readonly string[]): Conversation {
  return conversationOf({ ...conversation, earlier }, conversation.exchanges);
}

/**
 * All but the last exchanges become lines; the skills that they loaded are carried over. Where the person spoke in what is dropped, their
 * last message takes the place of the request: it is the one that is worked on.
 */
function withoutOld(conversation: Conversation, recent: number, room: Room, share: number): Conversation {
  const { exchanges, earlier } = conversation;
  const old = exchanges.slice(0, -recent);
  if (old.length === 0 && share > 0) return conversation;
  let { request } = conversation;
  const lines: string[] = [];
  for (const exchange of old) {
    lines.push(...resultLines(exchange, room));
    if (exchange.message === undefined) continue;
    lines.push(`the person said: ${saidLine(request, room)}`, `you answered: ${saidLine(exchange.text, room)}`);
    request = exchange.message;
  }
  return conversationOf(
    {
      request,
      skills: room.carrySkills(Math.floor(room.tokens * share)),
      earlier: [...earlier, ...lines].slice(-EARLIER_LINES),
    },
    exchanges.slice(-recent),
  );
}

function resultLines({ turn, results }: Exchange, { outputs }: Room): readonly string[] {
  return results.map(({ line, text, reference }) => {
    const where = reference ?? (text.length > OLD_OUTPUT ? outputs.keep(text) : undefined);
    return `turn ${String(turn)}: ${line}${where === undefined ? '' : ` (${where})`}`;
  });
}

function saidLine(text: string, { outputs }: Room): string {
  return shortMessage(text, SAID_LINE, outputs).replaceAll(/\s+/g, ' ');
}
