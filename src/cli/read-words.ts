import type { Flags } from './command.ts';

/** A flag on the command line, whether there is such a flag or not. */
export interface WrittenFlag {
  /** Its long name; the letter where no flag has it. */
  readonly name: string;
  /** `--root` or `-C`, as it was written, without its value. */
  readonly written: string;
  readonly value: string | undefined;
  /** The value is part of the same word. */
  readonly isInline: boolean;
}

export interface WordsRead {
  readonly options: readonly WrittenFlag[];
  readonly positionals: readonly string[];
}

/**
 * Tells flags, their values and other words apart, as `util.parseArgs` does; loading that takes a millisecond, as long as everything
 * that `list` does with its files. `--flag value`, `--flag=value`, `-f value`, `-fvalue`, `-abc`; after `--` nothing is a flag.
 */
export function readWords(words: readonly string[], flags: Flags): WordsRead {
  const options: WrittenFlag[] = [];
  const positionals: string[] = [];
  const takesValue = (name: string): boolean => Object.hasOwn(flags, name) && flags[name]?.type === 'string';
  const nameOf = (letter: string): string => Object.keys(flags).find((name) => flags[name]?.short === letter) ?? letter;
  const left = [...words];
  const add = (name: string, written: string): void => {
    // Whatever it looks like: the caller knows which values it doubts.
    const value = takesValue(name) ? left.shift() : undefined;
    options.push({ name, written, value, isInline: false });
  };
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const letter = word.charAt(1);
    if (word === '--') {
      positionals.push(...left.splice(0));
    } else if (word.startsWith('--')) {
      const equals = word.includes('=', 3) ? word.indexOf('=') : -1;
      const written = equals === -1 ? word : word.slice(0, equals);
      if (equals === -1) add(word.slice(2), word);
      else options.push({ name: written.slice(2), written, value: word.slice(equals + 1), isInline: true });
    } else if (!word.startsWith('-') || letter === '') {
      positionals.push(word);
    } else if (word.length === 2) {
      add(nameOf(letter), word);
    } else if (takesValue(nameOf(letter))) {
      options.push({ name: nameOf(letter), written: `-${letter}`, value: word.slice(2), isInline: true });
    } else {
      left.unshift(...lettersOf(word, (each) => takesValue(nameOf(each))));
    }
  }
  return { options, positionals };
}

/** `-abc` is `-a -b -c`; what follows a letter that takes a value is its value. */
function lettersOf(word: string, takesValue: (letter: string) => boolean): readonly string[] {
  const apart: string[] = [];
  for (let at = 1; at < word.length; at += 1) {
    if (takesValue(word.charAt(at))) return [...apart, `-${word.slice(at)}`];
    apart.push(`-${word.charAt(at)}`);
  }
  return apart;
}
