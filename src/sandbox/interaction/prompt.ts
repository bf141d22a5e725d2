import { quoted } from '../../core/text/text.ts';

/** A program seems to wait for somebody. A guess from what it wrote last: nothing depends on it but what a model is told. */
export interface ExpectedInput {
  readonly needsInput: boolean;
  readonly kind: 'prompt' | 'selection';
  readonly hint: string;
}

/** Lines that are looked at. */
export const PROMPT_LINES = 16;
/** Of a line: prompts stand at its end. */
const MAX_LINE = 300;
const MAX_QUOTED = 200;

/** How a line ends that is not finished because the answer belongs there. */
const OPEN_END = /[:?>»❯›\])]\s*$|[$#%]\s$/u;
/** Finished or not. */
const QUESTION =
  /\?\s*$|[([]\s*y(?:es)?\s*[/|]\s*n(?:o)?\b[^)\]]{0,20}[)\]]\s*[:?]?\s*$|\bpress (?:enter|return|any key)\b|\btype your\b|\b(?:please )?(?:enter|input|type|provide|specify) (?:a|an|the|your)\b[^.]*:?\s*$/i;
const SECRET = /\b(?:pass(?:word|phrase|code)|pin|secret|token)\b[^:?]{0,60}[:?]?\s*$/i;
const CHOICE =
  /\b(?:choose|select|pick)\b|\b(?:enter|type|input)\b.{0,20}\b(?:number|choice|option|selection)\b|\byour choice\b|^\s*#\?\s*$/i;
const NUMBERED = /^\s*(?:[❯>*-]\s*)?[[(]?\d{1,3}[\])]?\s*[.):\]-]?\s+\S/u;

/** From the last lines, the one still being written at the end. */
export function expectedInput(lines: readonly string[]): ExpectedInput | undefined {
  const cut = lines.slice(-PROMPT_LINES).map((line) => line.slice(-MAX_LINE));
  const open = cut.at(-1) ?? '';
  const isOpen = open.trim() !== '';
  const last = isOpen ? open : (cut.slice(0, -1).findLast((line) => line.trim() !== '') ?? '');
  const isSecret = SECRET.test(last) && (isOpen || last.trimEnd().endsWith(':'));
  const isAsking = (isOpen && OPEN_END.test(last)) || QUESTION.test(last) || isSecret;
  const isChoice = CHOICE.test(last);
  if (!isAsking && !isChoice) return undefined;
  const numbered = cut.filter((line) => NUMBERED.test(line)).length;
  const said = quoted(last.trim(), MAX_QUOTED);
  if (isSecret) return { needsInput: true, kind: 'prompt', hint: `asks for a secret: ${said}` };
  if (numbered >= 2 || isChoice) {
    return { needsInput: true, kind: 'selection', hint: `waits for one of the listed choices: ${said}` };
  }
  return { needsInput: true, kind: 'prompt', hint: `waits for input: ${said}` };
}
