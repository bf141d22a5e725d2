/** Commands that Claude Code runs while loading a skill: inline `` !`command` `` and code blocks opened with ```` ```! ````. */
import { fenceAfter } from '#core';

export interface DynamicCommand {
  readonly start: number;
  readonly end: number;
  readonly command: string;
}

/** Finds dynamic commands in order. Other code only shows the syntax and is skipped. */
export function findDynamicCommands(body: string): readonly DynamicCommand[] {
  // Fast path: most bodies contain neither form.
  if (!body.includes('!`') && !body.includes('`!')) return [];
  const found: DynamicCommand[] = [];
  let fence: string | undefined;
  let block: { readonly start: number; readonly from: number } | undefined;
  let start = 0;
  while (start < body.length) {
    const feed = body.indexOf('\n', start);
    const end = feed === -1 ? body.length : feed;
    const line = body.slice(start, end);
    if (fence === undefined) {
      fence = fenceAfter(line);
      if (fence === undefined) findInLine(line, start, found);
      else if (line.trimStart().startsWith(`${fence}!`) && fence.startsWith('`')) block = { start, from: end + 1 };
    } else if (fenceAfter(line, fence) === undefined) {
      if (block !== undefined) found.push({ start: block.start, end, command: body.slice(block.from, start).trim() });
      fence = undefined;
      block = undefined;
    }
    start = end + 1;
  }
  if (block !== undefined) found.push({ start: block.start, end: body.length, command: body.slice(block.from).trim() });
  return found;
}

/** Turns dynamic commands into plain code with a note, and lists them. */
export function refuseDynamicCommands(
  body: string,
  reason: string,
): { readonly text: string; readonly commands: readonly string[] } {
  const found = findDynamicCommands(body);
  const note = `[not run: ${reason}]`;
  let text = '';
  let from = 0;
  for (const { start, end } of found) {
    const written = body.slice(start, end);
    text += body.slice(from, start);
    text += written.startsWith('!') ? `${written.slice(1)} ${note}` : plainBlock(written, note);
    from = end;
  }
  return { text: text + body.slice(from), commands: found.map(({ command }) => command) };
}

function plainBlock(written: string, note: string): string {
  const fence = fenceAfter(written.split('\n', 1)[0] ?? '') ?? '';
  const indent = written.slice(0, written.indexOf(fence));
  const rest = written.slice(indent.length + fence.length).replace(MARKS, '');
  const lastLine = rest.slice(rest.lastIndexOf('\n') + 1);
  const isClosed = rest.includes('\n') && fenceAfter(lastLine, fence) === undefined;
  const ending = isClosed ? '' : `${rest.endsWith('\n') ? '' : '\n'}${indent}${fence}`;
  return `${indent}${fence}${rest}${ending}\n${indent}${note}`;
}

/** Removes all marks; a remaining one would form a command again. */
const MARKS = /^!+/;

interface Ticks {
  readonly start: number;
  readonly end: number;
}

/** Inline code ends with the next run of backticks of the same length. A `!` before it makes it a command. */
function findInLine(line: string, offset: number, found: DynamicCommand[]): void {
  if (!line.includes('!`')) return;
  const runs = tickRuns(line);
  const closers = closingRuns(runs);
  let index = 0;
  while (index < runs.length) {
    const open = runs[index];
    const closeIndex = closers[index];
    const close = closeIndex === undefined ? undefined : runs[closeIndex];
    if (open === undefined) return;
    if (close === undefined || closeIndex === undefined) {
      index += 1;
      continue;
    }
    const command = line.slice(open.end, close.start).trim();
    const mark = open.start - 1;
    if (line.charAt(mark) === '!' && (mark === 0 || WHITE_SPACE.test(line.charAt(mark - 1))) && command !== '') {
      found.push({ start: offset + mark, end: offset + close.end, command });
    }
    index = closeIndex + 1;
  }
}

const WHITE_SPACE = /\s/;
const TICKS = /`+/g;

function tickRuns(line: string): readonly Ticks[] {
  return Array.from(line.matchAll(TICKS), ({ index, 0: ticks }) => ({ start: index, end: index + ticks.length }));
}

/** For each run, the next one of the same length. Computed backwards, so that the work stays linear. */
function closingRuns(runs: readonly Ticks[]): readonly (number | undefined)[] {
  const next = new Map<number, number>();
  const closers: (number | undefined)[] = [];
  for (const [fromEnd, { start, end }] of runs.toReversed().entries()) {
    const length = end - start;
    closers.push(next.get(length));
    next.set(length, runs.length - 1 - fromEnd);
  }
  return closers.reverse();
}
