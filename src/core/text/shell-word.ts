/** A word as a shell takes it for itself. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The same as a person would type it: in quotes only where it needs them. */
export function typedWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellWord(word);
}
