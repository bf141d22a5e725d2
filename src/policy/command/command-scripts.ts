/** Whether inline sed and awk programs only read and print text. */

import type { CommandWord } from '../../core/command.ts';

const ADDRESS = String.raw`(?:\d+|\$|\/(?:[^/\\]|\\.)*\/I?)`;
const ADDRESSES = String.raw`(?:${ADDRESS}(?:\s*,\s*(?:${ADDRESS}|[+~]\d+))?\s*!?\s*)?`;
/** A simple delimiter, two parts without it, and harmless flags. */
const SUBSTITUTE = ['/', '|', '#', ',', ':', '@', '%', '_']
  .map((mark) => {
    const sign = mark === '|' || mark === '/' ? `\\${mark}` : mark;
    const half = String.raw`(?:[^${sign}\\]|\\.)*`;
    return `s${sign}${half}${sign}${half}${sign}[gpIi0-9]*`;
  })
  .join('|');
const SED_COMMAND = new RegExp(String.raw`\s*${ADDRESSES}(?:[pdqDPN=]|${SUBSTITUTE})\s*(?:;|$)|\s*(?:;|$)`, 'sy');

/** Accepts substitution and printing only: `e` runs commands, `w` and `r` open files. */
export function isPlainSed(script: string): boolean {
  let at = 0;
  while (at < script.length) {
    SED_COMMAND.lastIndex = at;
    const found = SED_COMMAND.exec(script)?.[0] ?? '';
    if (found === '') return false;
    at += found.length;
  }
  return true;
}

/** No pipes, files, commands or included code. */
export function isPlainAwk(program: string): boolean {
  return !/system|getline|extension|[|@]|>(?!=)|\bclose\b/.test(program.replaceAll('||', ' '));
}

const SED_FLAGS =
  /^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug|sandbox))$/;
const SED_SCRIPT_NEXT = /^(?:-[nErsuz]*e|--expression)$/;
const SED_SCRIPT_INSIDE = /^(?:-[nErsuz]*e|--expression=)(.+)$/s;

/** Indexes of sed words that do more than print. */
export function sedHazards(words: readonly CommandWord[]): readonly number[] {
  const hazards: number[] = [];
  let hasScript = words.some(({ text }) => SED_SCRIPT_NEXT.test(text) || SED_SCRIPT_INSIDE.test(text));
  let isScript = false;
  for (const [at, { text, glob }] of words.entries()) {
    if (at === 0) continue;
    const isOption = !isScript && (text.startsWith('-') || glob === 'start');
    if (isScript || (!isOption && !hasScript)) {
      if (glob !== 'none' || !isPlainSed(text)) hazards.push(at);
      isScript = false;
      hasScript = true;
    } else if (isOption && glob === 'none' && SED_SCRIPT_NEXT.test(text)) isScript = true;
    else if (isOption && !isPlainSedOption(text, glob)) hazards.push(at);
  }
  return hazards;
}

function isPlainSedOption(text: string, glob: CommandWord['glob']): boolean {
  const script = SED_SCRIPT_INSIDE.exec(text)?.[1];
  return glob === 'none' && (SED_FLAGS.test(text) || (script !== undefined && isPlainSed(script)));
}

const AWK_VALUED = /^(?:-[Fv]|--(?:field-separator|assign))$/;
const AWK_SAFE =
  /^(?:-[Fv].+|--(?:field-separator|assign)=.*|--(?:csv|posix|traditional|re-interval|sandbox|non-decimal-data)|--)$/s;

/** Indexes of awk words that do more than print. */
export function awkHazards(words: readonly CommandWord[]): readonly number[] {
  const hazards: number[] = [];
  let at = 1;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    if (!word.text.startsWith('-') && word.glob !== 'start') break;
    const isValued = AWK_VALUED.test(word.text);
    if (word.glob !== 'none' || !(isValued || AWK_SAFE.test(word.text))) hazards.push(at);
    at += isValued ? 2 : 1;
  }
  const program = words[at];
  if (program !== undefined && (program.glob !== 'none' || !isPlainAwk(program.text))) hazards.push(at);
  // Some awk implementations accept options after the program.
  words.slice(at + 1).forEach(({ text, glob }, index) => {
    if (text.startsWith('-') || glob === 'start') hazards.push(at + 1 + index);
  });
  return hazards;
}
