/** Quotes a word for a POSIX shell. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Quotes a word only if necessary, for commands shown to people. */
export function typedWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellWord(word);
}
