/** Keys on their way to a line editor that knows one line only: what is pasted is one message, however many lines it has. */

/** Stand for line ends and tabs while a message is edited; a person sees them. */
const LINE_END = '␤';
const TAB = '␉';

const MARKS = /(\u001B\[20[01]~)/;
/** The start of a mark whose end has not come yet. Outside of a paste the escape key is a key, and passes. */
const HALF_MARK = /\u001B\[2(?:0[01]?)?$/;
const HALF_MARK_IN_PASTE = /\u001B(?:\[(?:2(?:0[01]?)?)?)?$/;
const CTRL_C = '\u0003';
const LINE_ENDS = /\r\n|\r|\n/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001F\u007F]/g;

/** Terminals put marks around what is pasted once they are asked to. */
export const MARK_PASTES = { on: '\u001B[?2004h', off: '\u001B[?2004l' } as const;

/** Gives the keys as the editor may have them, for keys as they come, in pieces of any size. */
export function openPasteFilter(): (typed: string) => string {
  let half = '';
  let isPasting = false;
  const pass = (piece: string): string => {
    if (MARKS.test(piece)) {
      isPasting = piece.endsWith('200~');
      return '';
    }
    return isPasting ? onOneLine(piece) : typedText(piece);
  };
  return (typed) => {
    // A paste whose end never comes must not keep anybody in.
    if (typed === CTRL_C) isPasting = false;
    const pieces = (half + typed).split(MARKS);
    const last = pieces.pop() ?? '';
    const before = pieces.map(pass).join('');
    half = (isPasting ? HALF_MARK_IN_PASTE : HALF_MARK).exec(last)?.[0] ?? '';
    return before + pass(last.slice(0, last.length - half.length));
  };
}

/** The message that was meant, from the line of the editor. */
export function messageOf(line: string): string {
  return line.replaceAll(LINE_END, '\n').replaceAll(TAB, '\t');
}

export function lineOf(message: string): string {
  return onOneLine(message);
}

/** A terminal without marks sends all lines at once, and nobody types that fast. */
function typedText(text: string): string {
  const [end = ''] = /(?:\r\n|\r|\n)$/.exec(text) ?? [];
  const before = text.slice(0, text.length - end.length);
  if (/[\r\n]/.test(before)) return `${onOneLine(before)}\r`;
  // Ctrl-Z would leave a terminal behind that the shell does not know.
  return text.replaceAll('\u001A', '');
}

/** No key of a paste does anything. */
function onOneLine(text: string): string {
  return text.replaceAll(LINE_ENDS, LINE_END).replaceAll('\t', TAB).replaceAll(CONTROLS, '');
}
