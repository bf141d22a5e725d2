/** Where shells, interpreters and databases take their code from. */

import { hazard, isOperand, RUNS, whole } from './command-hazard.ts';
import type { Hazard, Words } from './command-hazard.ts';
import { hazardEntryOf } from './command-hazard-table.ts';
import { tableHazards } from './command-table-hazards.ts';

const SHELL_FLAGS = /^(?:[-+][euxvnfhBEm]+|--(?:norc|noprofile|posix|verbose))$/;

export function shellHazards(words: Words): readonly Hazard[] {
  let at = 1;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { text, glob } = word;
    if (glob === 'start') return [hazard(words, at, RUNS)];
    if (/^\/(?:.*\/)?(?:dev|proc)\//.test(text)) break;
    if (!text.startsWith('-') && !text.startsWith('+')) return [];
    const isPipefail = /^-[eux]*o$/.test(text) && words[at + 1]?.text === 'pipefail';
    if (glob !== 'none' || (!SHELL_FLAGS.test(text) && !isPipefail)) return [hazard(words, at, RUNS)];
    at += isPipefail ? 2 : 1;
  }
  return [{ ...whole(words[0]?.text ?? '', 'reads its commands from stdin', 'hidden'), at: words.length }];
}

/** Interpreter options that do not load code. */
const INTERPRETER_FLAGS =
  /^(?:-[uBEsSIOqbvw]+|--(?:no-warnings|trace-warnings|enable-source-maps|version|help)|-V|-h)$/;

/** Words before the script belong to the interpreter, words after it to the script. */
export function interpreterHazards(words: Words): readonly Hazard[] {
  const hazards: Hazard[] = [];
  for (const [at, { text, glob }] of words.entries()) {
    if (at === 0) continue;
    const isOption = text.startsWith('-') || glob === 'start';
    if (!isOption) return hazards;
    if (glob === 'none' && INTERPRETER_FLAGS.test(text)) continue;
    const isModule = text === '-m' && (words[0]?.text ?? '').includes('py');
    hazards.push({ ...hazard(words, at, RUNS, 'program'), ...(isModule ? { runs: 'nothing' } : {}) });
    if (isModule || text === '-c') return hazards;
  }
  const isQuestion = words.some(({ text }) => /^(?:-V|-v|-h|--version|--help)$/.test(text));
  if (!isQuestion)
    hazards.push({ ...hazard(words, words.length, 'reads its program from stdin', 'program'), runs: 'hidden' });
  return hazards;
}

/** Databases read shell commands from stdin, unless the line gives them a statement. */
export function databaseHazards(
  program: string,
  isGiven: (words: Words) => boolean,
): (words: Words) => readonly Hazard[] {
  return (words) => {
    const entry = hazardEntryOf(program);
    const found = entry === undefined ? [] : tableHazards(words, entry);
    if (isGiven(words)) return found;
    return [...found, { ...hazard(words, words.length, 'reads its commands from stdin'), runs: 'hidden' }];
  };
}

const QUESTION = /^(?:-V|--?version|--?help|-\?|-l|--list)$/;

/** Whether an option occurs where it cannot be the value of another option. */
export function hasOption(option: RegExp, flags: RegExp): (words: Words) => boolean {
  return (words) =>
    words.some(
      ({ text }, at) => at > 0 && (option.test(text) || QUESTION.test(text)) && isAfterNothing(words, at, flags),
    );
}

function isAfterNothing(words: Words, at: number, flags: RegExp): boolean {
  const before = words[at - 1]?.text ?? '';
  return !before.startsWith('-') || flags.test(before);
}

const SQLITE_FLAGS =
  /^--?(?:batch|csv|line|json|readonly|header|noheader|column|html|list|box|table|markdown|tabs|quote|bail|safe|ascii|stats)$/;

/** A database and a statement for it. */
export function hasStatement(words: Words): boolean {
  const operands = words.filter((word, at) => at > 0 && isOperand(word) && isAfterNothing(words, at, SQLITE_FLAGS));
  return operands.length > 1 || (words.length === 2 && /^--?version$/.test(words[1]?.text ?? ''));
}
