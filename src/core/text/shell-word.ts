/** Quotes a word for a POSIX shell. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Quotes a word only if necessary, for commands shown to people. */
export function typedWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellWord(word);
}

/**
 * Finds an absolute folder in the text of a command, in any quotes or with `\` before special characters. Neither a part of a longer name
 * nor the end of a relative path matches. Returns undefined where the command does not name the folder.
 */
export function folderPattern(folder: string, command: string): RegExp | undefined {
  const spellings = [...new Set([folder, escapeWord(folder)])].filter((text) => command.includes(text));
  if (spellings.length === 0) return undefined;
  const literal = spellings.map((text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)).join('|');
  return new RegExp(String.raw`(?:(?<![\p{L}\p{N}_.~}*?\]-])|(?<=\s-\w))(?:${literal})(?![\p{L}\p{N}_.-])`, 'gu');
}

function escapeWord(word: string): string {
  return word.replaceAll(/[^\w@%+=:,./\u{80}-\u{10FFFF}-]/gu, String.raw`\$&`);
}

/** The command with `folder` replaced by another folder. One that could end quotes or be expanded in them replaces nothing. */
export function replaceFolder(command: string, folder: string, by: string): string {
  const pattern = folderPattern(folder, command);
  if (pattern === undefined || /["'$`\\\p{Cc}]/u.test(by)) return command;
  return command.replaceAll(pattern, (_, at: number) => (isQuoted(command.slice(0, at)) ? by : escapeWord(by)));
}

/** Whether text after this start of a command is in quotes. */
function isQuoted(start: string): boolean {
  const open = start.replaceAll(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, '');
  return /["']/.test(open);
}
