/** Hazards from the table: options, subcommands and operands. */

import { hazard, RUNS, WRITES } from './command-hazard.ts';
import type { Hazard, Words } from './command-hazard.ts';
import type { HazardEntry } from './command-hazard-table.ts';
import type { CommandWord } from '../../core/command.ts';
import { hasOptions, isOptionOf, isSubcommandOf, mayBecomeOption } from './command-options.ts';

export function tableHazards(words: Words, entry: HazardEntry): readonly Hazard[] {
  const lastName = entry.isNested ? words.length : endOfNames(words);
  const hazards: Hazard[] = [];
  for (const [at, word] of words.entries()) {
    if (at === 0) continue;
    const what = hazardousOption(words, at, entry);
    if (what !== undefined) hazards.push(hazard(words, at, what));
    else if (at <= lastName && (isSubcommandOf(entry.runs, completed(entry, word)) || isUnknown(entry, word))) {
      // A rule that allows running something also allows what follows, so there is no more to find.
      return [...hazards, { ...hazard(words, at, RUNS), runs: 'shown' }];
    }
  }
  return hazards;
}

/** `pnpm sh` runs a shell. */
function isUnknown({ known }: HazardEntry, { text, glob }: CommandWord): boolean {
  return known !== undefined && !text.startsWith('-') && (glob !== 'none' || !known.has(text));
}

function hazardousOption(words: Words, at: number, entry: HazardEntry): string | undefined {
  const word = words[at] ?? { text: '', glob: 'none' };
  if (mayBecomeOption(word)) {
    return hasOptions(entry.runs) || hasOptions(entry.writes)
      ? 'may expand to an option; write ./ before it'
      : undefined;
  }
  if (entry.safe.has(word.text.replace(/=.*$/s, ''))) return undefined;
  const option = isOldCluster(words, at) ? { ...word, text: `-${word.text}` } : word;
  if (isOptionOf(entry.runs, option, entry.valued)) return RUNS;
  if (isOptionOf(entry.writes, option, entry.valued)) return isToNothing(words, at) ? undefined : WRITES;
  if (entry.operand?.test(word.text) !== true) return undefined;
  return entry.isCode ? RUNS : WRITES;
}

/** `curl -o /dev/null` and `wget -qO-` write no file. */
function isToNothing(words: Words, at: number): boolean {
  const program = (words[0]?.text ?? '').replace(/^.*\//s, '');
  const option = words[at]?.text ?? '';
  const next = words[at + 1];
  if (program === 'wget' && /^-[a-zA-Z]*O-$/.test(option)) return /^-[qcN]*O-$/.test(option);
  const names =
    program === 'curl'
      ? /^(?:-[fsSLkiI]*o|--output)$/
      : program === 'wget'
        ? /^(?:-[qcN]*O|--output-document)$/
        : undefined;
  return names?.test(option) === true && next?.glob === 'none' && (next.text === '-' || next.text === '/dev/null');
}

/** Index of the first word that is neither an option nor possibly the value of one. */
function endOfNames(words: Words): number {
  for (const [at, { text }] of words.entries()) {
    if (at > 0 && !text.startsWith('-') && (at === 1 || !/^-[^=]*$/.test(words[at - 1]?.text ?? ''))) return at;
  }
  return words.length;
}

/** `tar xIf`: the first word of tar is a letter cluster even without a dash. */
function isOldCluster(words: Words, at: number): boolean {
  return at === 1 && /(?:^|\/)g?(?:bsd)?tar$/.test(words[0]?.text ?? '') && /^[A-Za-z]+$/.test(words[1]?.text ?? '');
}

/** npm accepts any prefix of a subcommand. */
function completed({ runs, isAbbreviated }: HazardEntry, word: CommandWord): CommandWord {
  if (!isAbbreviated || word.text.length < 2) return word;
  return { ...word, text: runs.subcommands.find((name) => name.startsWith(word.text)) ?? word.text };
}
