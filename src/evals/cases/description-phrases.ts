/** Extracts example requests from a skill description: those it should handle and those it excludes. */

export interface DescriptionPhrases {
  /** Requests that should load the skill. */
  readonly wanted: readonly string[];
  /** Requests that should not load it. */
  readonly unwanted: readonly string[];
}

const MAX_PHRASES = 8;
const MIN_CHARACTERS = 2;
const MAX_CHARACTERS = 200;

const QUOTED = /"([^"\n]{2,200})"|“([^”\n]{2,200})”|「([^」\n]{2,200})」|『([^』\n]{2,200})』|`([^`\n]{2,200})`/g;
const NOT_FOR =
  /^(?:not (?:for|meant for|intended for)|(?:do not|don't|never) use (?:it |this |this skill )?(?:for|when|to|if))\s+(.+)$/i;
const USE_WHEN = /^(?:use|useful|helpful|works|apply|invoke)\b.*?\b(?:when(?:ever)?|for|if|to)\s+(.+)$/i;
const SUCH_AS = /(?:such as|e\.g\.|for example|for requests like|触发词|例如|比如|如)[:：,，]?\s*(.+)$/i;
/** Introduces the request and is not part of it. */
const ASKER =
  /^(?:(?:the |a )?users? )?(?:asks?|asked|wants?|needs?|says?|requests?|gives?|mentions?)\s+(?:(?:you|me|for|to|about|help with)\s+)*/i;
const ASKER_AT_END = /\s*(?:\b(?:or|and)\s+)?\b(?:the user )?(?:asks?|says?|mentions?|types?)\s*$/i;
const ASKER_WITHIN = /\s+and\s+(?:asks?|wants?|says?)\s+/i;

export function phrasesOf(description: string): DescriptionPhrases {
  const sentences = description
    .split(/(?<=[.!?])\s+|[。！？]|\n+/)
    .map((sentence) => sentence.replace(/[.!?]+$/, '').trim());
  const unwanted = sentences.flatMap((sentence) => clausesOf(NOT_FOR.exec(sentence)?.[1] ?? ''));
  const others = sentences.filter((sentence) => sentence !== '' && !NOT_FOR.test(sentence));
  const quoted = others.flatMap((sentence) =>
    [...sentence.matchAll(QUOTED)].map((match) => match.slice(1).find(isText) ?? ''),
  );
  const listed = others.flatMap((sentence) => clausesOf(SUCH_AS.exec(sentence)?.[1] ?? ''));
  // Quoted texts are requests already.
  const unquoted = others.map((sentence) => sentence.replaceAll(QUOTED, '').trim());
  const clauses = unquoted.flatMap((sentence) =>
    SUCH_AS.test(sentence) ? [] : clausesOf(USE_WHEN.exec(sentence)?.[1] ?? ''),
  );
  const wanted = distinct([...quoted, ...listed, ...clauses]);
  return {
    // Without other phrases, the first sentence itself is the request.
    wanted:
      wanted.length > 0 ? wanted : distinct(others.slice(0, 1).map((sentence) => sentence.slice(0, MAX_CHARACTERS))),
    unwanted: distinct(unwanted),
  };
}

/** Splits `a, b or c` into three clauses. */
function clausesOf(text: string): readonly string[] {
  return text
    .split(/\s*[,;，、；]\s*(?:(?:and|or)\s+)?|\s+or\s+(?=(?:the user|wants|asks|needs|an? |\S+ing\b))/)
    .map((clause) =>
      clause
        .replaceAll(/^["“「`]|["”」`]$/g, '')
        .replace(ASKER, '')
        .replace(ASKER_AT_END, '')
        .replace(ASKER_WITHIN, ': ')
        .trim(),
    );
}

function isText(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function distinct(phrases: readonly string[]): readonly string[] {
  const fit = phrases.filter(({ length }) => length >= MIN_CHARACTERS && length <= MAX_CHARACTERS);
  return [...new Map(fit.map((phrase) => [phrase.toLowerCase(), phrase])).values()].slice(0, MAX_PHRASES);
}
