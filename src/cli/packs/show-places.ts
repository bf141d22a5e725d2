/** What an install does in the folders of agents, for the user who confirms it. */
import path from 'node:path';

import { countText } from '../../core/text/line-text.ts';
import type { PlannedPlace } from '../../packs/agents/place-targets.ts';
import { printable } from '../../core/text/text.ts';
import type { Terminal } from '../terminal/terminal.ts';

const MAX_NAMES = 5;

/** One line per folder: `for claude-code  .claude/skills: 18 links`. */
export function placeLines(places: readonly PlannedPlace[], root: string, { style }: Terminal): readonly string[] {
  return places.flatMap((place) => {
    const { agents, folder, isRoot, kind, add, same, taken, problem } = place;
    const start = `for ${agents.length === 0 ? printable(folder) : `${agents.join(', ')}  ${printable(shortPath(folder, root))}`}`;
    if (problem !== undefined) return [`${start}: ${style('red', 'not possible')}: ${problem}`];
    if (isRoot) return [`${start}: ${style('dim', 'reads the root itself')}`];
    const counts = [
      ...(add.length === 0 ? [] : [countText(add.length, kind, kind === 'copy' ? 'copies' : 'links')]),
      ...(same.length === 0 ? [] : [`${String(same.length)} already there`]),
    ];
    return [
      `${start}: ${counts.join(', ') || 'nothing'}`,
      ...(taken.length === 0
        ? []
        : [`    ${style('yellow', 'not touched')}, made by others: ${listed(taken.map((name) => printable(name)))}`]),
    ];
  });
}

/** The path as seen from the folder that contains `.agents/skills`. */
function shortPath(folder: string, root: string): string {
  const below = path.relative(path.resolve(root, '../..'), folder);
  return below.startsWith('..') ? folder : below;
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}
