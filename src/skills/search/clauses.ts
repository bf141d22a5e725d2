/** Splits a description into what the skill is for and what it is not for. */
export interface Clauses {
  readonly use: string;
  readonly avoid: string;
}

/**
 * A sentence that refers the reader to another skill contains exactly the words of that skill. Counting it as a match would rank the
 * wrong skill first.
 */
const NEGATION = new RegExp(
  [
    // Do not use for charts. Never trigger on jokes.
    String.raw`\b(?:do(?:es)? not|don['’]t|never|must not|should not) (?:use|trigger|activate|invoke|apply|call|load|fire)`,
    // Not for charts. Not intended for beginners.
    String.raw`\bnot (?:for|intended|to be used|suitable|meant|applicable|when|use)\b`,
    String.raw`\b(?:skip|avoid using|avoid this|exclud(?:es|ing)|out of scope|unsuitable)\b`,
    // Use pdf-forms instead. For cold email, see cold-email.
    String.raw`\b(?:use|prefer|see|try)\b[^.;]{1,60}\binstead\b`,
    String.raw`^\s*for\b[^.]{3,160}[,:]?\s(?:see|use|prefer|→)\s`,
    '不要(?:用|在|触发|调用|使用)|不适[用合]|不用于|不触发|不应触发|请勿|勿用|不负责|不处理|而不是',
    '使わない|使用しない',
  ].join('|'),
  'i',
);

const SENTENCE_END = /(?<=[.!?;](?=\s)|[。！？；\n])/;

/** Splits a description into sentences and classifies them. */
export function splitClauses(description: string): Clauses {
  const use: string[] = [];
  const avoid: string[] = [];
  for (const sentence of description.split(SENTENCE_END)) {
    const at = sentence.search(NEGATION);
    if (at < 0) use.push(sentence);
    else {
      // The text before still describes the skill: "Builds decks, not for editing photos".
      use.push(sentence.slice(0, at));
      avoid.push(sentence.slice(at));
    }
  }
  return { use: use.join(' '), avoid: avoid.join(' ') };
}
