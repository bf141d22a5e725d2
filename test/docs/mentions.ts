/** What pages mention: commands with their flags, settings, events, codes, variables. Each mention has its page and line. */

export interface Mention {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

interface CodeLine extends Mention {
  /** A span in a sentence, or a line of a code block. */
  readonly isInline: boolean;
}

/** Lines of code blocks and spans of inline code. */
export function codeOf(page: string, text: string): readonly CodeLine[] {
  const found: CodeLine[] = [];
  let fence: string | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    const mark = /^ *(`{3,})/.exec(line)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (fence !== undefined && line.trim() === fence) fence = undefined;
    else if (fence !== undefined || /^ {4}\S/.test(line))
      found.push({ page, line: at + 1, text: line.trim(), isInline: false });
    else
      for (const [, , span = ''] of line.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g))
        found.push({ page, line: at + 1, text: span.trim(), isInline: true });
  }
  return found;
}

/** A command of skillwright as a page shows it. */
export interface ShownCommand extends Mention {
  readonly name: string;
  readonly words: readonly string[];
}

/**
 * Commands in code: `skillwright NAME ...` anywhere, and `NAME ...` with a flag in inline code, where `NAME` is a known command. A comment,
 * a pipe, a separator or `--` ends a command.
 */
export function commandsOf(code: readonly CodeLine[], isCommand: (name: string) => boolean): readonly ShownCommand[] {
  return code.flatMap((line) => {
    const texts = [
      ...line.text.matchAll(/(?:^|\$ |npx |&& |[|;] |run: |with: |[<$]\()skillwright(?= )([^#|;&()<>`]*)/g),
    ].map(([, rest = '']) => rest);
    if (line.isInline && texts.length === 0 && isCommand(line.text.split(' ')[0] ?? '') && / -/.test(line.text))
      texts.push(line.text);
    return texts.flatMap((text) => {
      const words = unquoted(text);
      const name = words.find((word) => !word.startsWith('-')) ?? '';
      if (!/^[a-z]+$/.test(name)) return [];
      const end = words.indexOf('--');
      return [{ ...line, name, words: end === -1 ? words : words.slice(0, end) }];
    });
  });
}

/** The words of a command line; a quoted text is one word. */
function unquoted(text: string): readonly string[] {
  return (text.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? []).map((word) => (/^['"]/.test(word) ? 'TEXT' : word));
}

/** The long flags and short flags of words, without values. */
export function flagsIn(words: readonly string[]): readonly string[] {
  return words
    .filter((word) => /^--[a-z]|^-[a-zA-Z]$/.test(word))
    .map((word) => /^--?[a-zA-Z][a-z-]*/.exec(word)?.[0] ?? word);
}

export const shown = ({ page, line, text }: Mention): string => `${page}:${String(line)}: ${text}`;
