/** Filters keys on their way to a single-line editor, so that pasted text with several lines becomes one message. */

/** Visible stand-ins for line breaks and tabs while the user edits a message. */
export const LINE_END = '␤';
const TAB = '␉';

const MARKS = /(\u001B\[20[01]~)/;
/** The start of an incomplete paste marker. Outside of a paste, a lone escape is a key press and passes. */
const HALF_MARK = /\u001B\[2(?:0[01]?)?$/;
const HALF_MARK_IN_PASTE = /\u001B(?:\[(?:2(?:0[01]?)?)?)?$/;
const CTRL_C = '\u0003';
const LINE_ENDS = /\r\n|\r|\n/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001F\u007F]/g;

/**
 * Returns a function that translates raw keys, in chunks of any size, into keys for the editor. `mention` replaces a paste that is nothing
 * but the path of a file.
 */
export function openPasteFilter(
  mention: (pasted: string) => string | undefined = () => undefined,
): (typed: string) => string {
  let half = '';
  let isPasting = false;
  const pass = (piece: string, isWholePaste: boolean): string => {
    if (MARKS.test(piece)) {
      isPasting = piece.endsWith('200~');
      return '';
    }
    if (!isPasting) return typedText(piece);
    return (isWholePaste ? mention(piece) : undefined) ?? onOneLine(piece);
  };
  return (typed) => {
    // Ctrl-C leaves a paste whose end marker never arrives.
    if (typed === CTRL_C) isPasting = false;
    const pieces = (half + typed).split(MARKS);
    const last = pieces.pop() ?? '';
    const before = pieces.map((piece, at) => pass(piece, at > 0)).join('');
    half = (isPasting ? HALF_MARK_IN_PASTE : HALF_MARK).exec(last)?.[0] ?? '';
    return before + pass(last.slice(0, last.length - half.length), false);
  };
}

export function toMessage(line: string): string {
  return line.replaceAll(LINE_END, '\n').replaceAll(TAB, '\t');
}

export function toLine(message: string): string {
  return onOneLine(message);
}

/** A terminal without paste markers sends all lines in one chunk, which no user types that fast. */
function typedText(text: string): string {
  const [end = ''] = /(?:\r\n|\r|\n)$/.exec(text) ?? [];
  const before = text.slice(0, text.length - end.length);
  if (/[\r\n]/.test(before)) return `${onOneLine(before)}\r`;
  // Ctrl-Z would suspend the process with the terminal in raw mode.
  return text.replaceAll('\u001A', '');
}

/** Removes control characters, so that no key in pasted text acts on the editor. */
function onOneLine(text: string): string {
  return text.replaceAll(LINE_ENDS, LINE_END).replaceAll('\t', TAB).replaceAll(CONTROLS, '');
}
