import { sliceEnd, quoted } from '#core';

/** A program seems to wait for input. This is a guess from its last output and only a hint for the model. */
export interface ExpectedInput {
  readonly needsInput: boolean;
  readonly kind: 'prompt' | 'selection';
  readonly hint: string;
}

/** Number of lines that are examined. */
export const PROMPT_LINES = 16;
/** Only the end of a line is examined. */
const MAX_LINE = 300;
const MAX_QUOTED = 200;

/** End of an unfinished line that waits for an answer. */
const OPEN_END = /[:?>»❯›\])]\s*$|[$#%]\s$/u;
/** A question, in a finished or unfinished line. */
const QUESTION =
  /\?\s*$|[([]\s*y(?:es)?\s*[/|]\s*n(?:o)?\b[^)\]]{0,20}[)\]]\s*[:?]?\s*$|\bpress (?:enter|return|any key)\b|\btype your\b|\b(?:please )?(?:enter|input|type|provide|specify) (?:a|an|the|your)\b[^.]*:?\s*$/i;
const SECRET = /\b(?:pass(?:word|phrase|code)|pin|secret|token)\b[^:?]{0,60}[:?]?\s*$/i;
const CHOICE =
  /\b(?:choose|select|pick)\b|\b(?:enter|type|input)\b.{0,20}\b(?:number|choice|option|selection)\b|\byour choice\b|^\s*#\?\s*$/i;
const NUMBERED = /^\s*(?:[❯>*-]\s*)?[[(]?\d{1,3}[\])]?\s*[.):\]-]?\s+\S/u;

/** Examines the last lines; the final element is the unfinished line. */
export function expectedInput(lines: readonly string[]): ExpectedInput | undefined {
  const cut = lines.slice(-PROMPT_LINES).map((line) => sliceEnd(line, MAX_LINE));
  const open = cut.at(-1) ?? '';
  const isOpen = open.trim() !== '';
  const last = isOpen ? open : (cut.slice(0, -1).findLast((line) => line.trim() !== '') ?? '');
  const isSecret = SECRET.test(last) && (isOpen || last.trimEnd().endsWith(':'));
  const isAsking = (isOpen && OPEN_END.test(last)) || QUESTION.test(last) || isSecret;
  const isChoice = CHOICE.test(last);
  if (!isAsking && !isChoice) return undefined;
  const numbered = cut.filter((line) => NUMBERED.test(line)).length;
  const text = quoted(last.trim(), MAX_QUOTED);
  if (isSecret) return { needsInput: true, kind: 'prompt', hint: `asks for a secret: ${text}` };
  if (numbered >= 2 || isChoice) {
    return { needsInput: true, kind: 'selection', hint: `waits for one of the listed choices: ${text}` };
  }
  return { needsInput: true, kind: 'prompt', hint: `waits for input: ${text}` };
}
