/**
 * Words that make a command do more than its program name says: `git -c core.pager=sh log` runs a shell, `find . -delete` deletes. A rule
 * that allows the program covers them only if it spells them out.
 */

import { gitHazards } from './command-git.ts';
import { FIND_RUNS, hazard, isOperand, MAX_DEPTH, mayBe, RUNS, whole, WRITES } from './command-hazard.ts';
import type { Hazard, Words } from './command-hazard.ts';
import { hazardEntryOf, INTERACTIVE, NAMES_WHAT_RUNS, RUNNERS } from './command-hazard-table.ts';
import { databaseHazards, hasOption, hasStatement, interpreterHazards, shellHazards } from './command-interpreters.ts';
import type { SimpleCommand } from '../../core/command.ts';
import { namesIn } from './command-options.ts';
import { awkHazards, sedHazards } from './command-scripts.ts';
import { tableHazards } from './command-table-hazards.ts';
import { insideWrapper } from './command-wrappers.ts';

/** The program name without folder and version, as used in the tables. */
export function programName({ words }: SimpleCommand): string {
  const base = (words[0]?.text ?? '').replace(/^.*\//s, '');
  if (isKnown(base)) return base;
  const bare = base.replace(/(?<=[a-z])-?\d[\d.]*$/, '');
  return isKnown(bare) ? bare : (GNU_NAMES.get(bare) ?? base);
}

/** GNU programs are prefixed with `g` on other systems. */
const GNU_NAMES: ReadonlyMap<string, string> = new Map(
  namesIn('sed tar find xargs env timeout nice stdbuf nohup uniq tee split dd').map((name) => [`g${name}`, name]),
);

export function hazardsOf(command: SimpleCommand, depth = 0): readonly Hazard[] {
  const program = programName(command);
  const { words } = command;
  const inside = insideWrapper(program, command);
  if (inside !== undefined) {
    if (inside.type === 'nothing') return [];
    if (inside.type === 'unknown' || depth >= MAX_DEPTH) return [hazard(words, inside.at, RUNS)];
    const inner = hazardsOf(inside.command, depth + 1).map((found) => ({ ...found, at: found.at + inside.at }));
    return [hazard(words, inside.at, 'is run by this command'), ...inner];
  }
  const special = SPECIAL.get(program);
  if (special !== undefined) return special(words);
  if (INTERACTIVE.has(program)) return [whole(program, 'offers an interactive shell', 'nothing')];
  if (RUNNERS.has(program) || isLoader(program))
    return [whole(program, 'runs other programs as another user or in another environment', 'shown')];
  if (NAMES_WHAT_RUNS.has(program)) return namedHazards(words);
  const entry = hazardEntryOf(program);
  return entry === undefined ? [] : tableHazards(words, entry);
}

/** The dynamic loader runs any program it is given. */
export function isLoader(program: string): boolean {
  return /^ld(?:-[\w.-]+)?\.so/.test(program);
}

function isKnown(program: string): boolean {
  return (
    SPECIAL.has(program) ||
    INTERACTIVE.has(program) ||
    RUNNERS.has(program) ||
    NAMES_WHAT_RUNS.has(program) ||
    hazardEntryOf(program) !== undefined ||
    insideWrapper(program, { words: [] }) !== undefined
  );
}

/** Options before the first operand, except plain confirmations, and the operand itself. */
function namedHazards(words: Words): readonly Hazard[] {
  const hazards: Hazard[] = [];
  for (const [at, { text }] of words.entries()) {
    if (at === 0 || /^(?:-y|--yes|--no|-q|--quiet|--no-pager)$/.test(text)) continue;
    hazards.push(hazard(words, at, RUNS));
    if (!text.startsWith('-')) break;
  }
  return hazards;
}

function findHazards(words: Words): readonly Hazard[] {
  return words.flatMap((word, at): Hazard[] => {
    if (at === 0) return [];
    if (FIND_RUNS.some((name) => mayBe(word, name))) return [hazard(words, at, RUNS)];
    return FIND_WRITES.some((name) => mayBe(word, name)) ? [hazard(words, at, WRITES)] : [];
  });
}

const FIND_WRITES = ['-delete', '-fprint', '-fprint0', '-fprintf', '-fls', '-files0-from'];

/** All operands after the first `from` are written. A pattern may expand to several. */
function writesTo(from: number): (words: Words) => readonly Hazard[] {
  return (words) => {
    const operands = words.flatMap((word, at) => (at > 0 && isOperand(word) ? [at] : []));
    const several = from > 0 ? operands.filter((at) => words[at]?.glob !== 'none') : [];
    return [...new Set([...several, ...operands.slice(from)])].map((at) => hazard(words, at, WRITES));
  };
}

function numbered(find: (words: Words) => readonly number[]): (words: Words) => readonly Hazard[] {
  return (words) => find(words).map((at) => hazard(words, at, RUNS));
}

const each = (names: string, find: (words: Words) => readonly Hazard[]) =>
  namesIn(names).map((name) => [name, find] as const);

const SPECIAL: ReadonlyMap<string, (words: Words) => readonly Hazard[]> = new Map([
  ...each('git', (words) => gitHazards(words).map(({ at, hides }) => hazard(words, at, hides ? RUNS : WRITES))),
  ...each('find', findHazards),
  ...each('awk gawk mawk nawk original-awk goawk', numbered(awkHazards)),
  ...each('sed', numbered(sedHazards)),
  ...each('sh bash dash zsh ksh mksh fish ash rbash csh tcsh pwsh', shellHazards),
  ...each(
    'python pypy perl ruby node nodejs php lua luajit Rscript R osascript deno bun tsx ts-node julia octave gnuplot groovy scala swift guile sbcl ghci jshell elixir erl java jbang',
    interpreterHazards,
  ),
  ...each('tee', writesTo(0)),
  ...each('uniq xxd', writesTo(1)),
  ...each('psql', databaseHazards('psql', hasOption(/^(?:-[A-Za-z]*c|--command)/, /^(?:-[AtXqwWnsSxa1]+|--.*=.*)$/))),
  ...each(
    'mysql mariadb',
    databaseHazards('mysql', hasOption(/^(?:-[A-Za-z]*e|--execute)/, /^(?:-[NBsvtrfq]+|-[uphP].+|--.*=.*)$/)),
  ),
  ...each('sqlite3', databaseHazards('sqlite3', hasStatement)),
]);
