#!/usr/bin/env node
// Compares two text files or two folders and shows what changed.
import { InputError, listPairs, readPair } from './lib/files.mjs';
import { differences, matchLists, numberKeys } from './lib/match.mjs';
import { compareWords, pairLines } from './lib/words.mjs';

const HELP = `usage: diff.mjs OLD NEW [--words] [--context N] [--json] [--ignore-eol]

Compares two text files, or two folders, and prints the changes as a unified diff.

  --words        show changed lines once, as [-old-]{+new+}; for reading, not for patch
  --json         print counts, hunks and changed words as JSON
  --context N    lines of context around a change (0 to 1000, default 3)
  --ignore-eol   treat lines that differ only in CRLF or LF as equal
  --help         print this text

The summary goes to stderr. Exit codes: 0 compared (with or without changes),
1 an input cannot be read, 2 wrong usage.
`;
const NO_NEWLINE = '\\ No newline at end of file\n';
const MAX_LISTED = 500;

class UsageError extends Error {}

const utf8 = (line) => Buffer.from(line, 'latin1').toString('utf8');
const bytes = (text) => Buffer.from(text, 'utf8').toString('latin1');
const printable = (text) =>
  text.replaceAll('\r', '␍').replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\uFFFD');

function shorten(text) {
  const points = Array.from(text.slice(0, 1_002));
  return points.length > 500 ? `${points.slice(0, 500).join('')}…` : text;
}

function keysOf(side, ignoreEol) {
  const keys = side.lines.map((line) => (ignoreEol && line.endsWith('\r') ? line.slice(0, -1) : line));
  // A NUL cannot be part of a text line, so this key is equal only to another open last line.
  if (side.openEnd) keys[keys.length - 1] += '\0';
  return keys;
}

/** One entry for each difference in a block: kind, line numbers from 1, and the texts. */
function changesOf(block, oldSide, newSide) {
  const [oldStart, oldEnd, newStart, newEnd] = block;
  const oldTexts = oldSide.lines.slice(oldStart, oldEnd).map(utf8);
  const newTexts = newSide.lines.slice(newStart, newEnd).map(utf8);
  const changes = [];
  const takeUntil = (oldStop, newStop) => {
    for (; oldAt < oldStop; oldAt += 1) {
      changes.push({ kind: 'removed', oldLine: oldStart + oldAt + 1, old: oldTexts[oldAt] });
    }
    for (; newAt < newStop; newAt += 1) {
      changes.push({ kind: 'added', newLine: newStart + newAt + 1, new: newTexts[newAt] });
    }
  };
  let [oldAt, newAt] = [0, 0];
  for (const [x, y] of pairLines(oldTexts, newTexts)) {
    takeUntil(x, y);
    const [before, after] = [oldTexts[x], newTexts[y]];
    const eolOnly = before !== after && before.replace(/\r$/, '') === after.replace(/\r$/, '');
    const lines = { oldLine: oldStart + x + 1, newLine: newStart + y + 1 };
    changes.push({ kind: 'changed', ...lines, old: before, new: after, eolOnly });
    [oldAt, newAt] = [x + 1, y + 1];
  }
  takeUntil(oldTexts.length, newTexts.length);
  return changes;
}

/** Blocks that lie close together share one hunk. */
function hunksOf(blocks, context, oldLength) {
  const hunks = [];
  for (const block of blocks) {
    const last = hunks.at(-1);
    if (last !== undefined && block[0] - last.blocks.at(-1)[1] <= 2 * context) last.blocks.push(block);
    else hunks.push({ blocks: [block] });
  }
  for (const hunk of hunks) {
    const [first, last] = [hunk.blocks[0], hunk.blocks.at(-1)];
    const lead = Math.min(context, first[0]);
    const tail = Math.min(context, oldLength - last[1]);
    Object.assign(hunk, { oldStart: first[0] - lead, oldEnd: last[1] + tail });
    Object.assign(hunk, { newStart: first[2] - lead, newEnd: last[3] + tail });
  }
  return hunks;
}

function countKinds(changes) {
  const counts = { added: 0, removed: 0, changed: 0 };
  for (const change of changes) counts[change.kind] += 1;
  return counts;
}

function comparePair(pair, options) {
  const sides = readPair(pair);
  const status = pair.oldPath === undefined ? 'added' : pair.newPath === undefined ? 'removed' : 'changed';
  const result = { path: pair.path, status, notes: [], hunks: [], added: 0, removed: 0, changed: 0 };
  if (sides.same) return { ...result, status: 'same' };
  if (sides.kind !== 'text') {
    const note = sides.kind === 'binary' ? 'a binary file' : 'too large to compare line by line';
    return { ...result, kind: sides.kind, notes: [`${note}; only said to differ`] };
  }
  const [a, b] = numberKeys(keysOf(sides.old, options.ignoreEol), keysOf(sides.new, options.ignoreEol));
  const { match, exact } = matchLists(a, b);
  const blocks = differences(match, b.length);
  const hunks = hunksOf(blocks, options.context, a.length);
  for (const hunk of hunks) {
    hunk.changes = hunk.blocks.flatMap((block) => changesOf(block, sides.old, sides.new));
    hunk.counts = countKinds(hunk.changes);
  }
  const changes = hunks.flatMap((hunk) => hunk.changes);
  const eolOnly = changes.filter((change) => change.eolOnly).length;
  if (eolOnly > 0) result.notes.push(`lines that differ only in CRLF or LF: ${eolOnly} (--ignore-eol hides them)`);
  if (!exact)
    result.notes.push('the files differ too much for the shortest diff; it is correct but longer than needed');
  if (sides.old.openEnd !== sides.new.openEnd && a.length > 0 && b.length > 0) {
    result.notes.push(`no newline at the end of the ${sides.old.openEnd ? 'old' : 'new'} file`);
  }
  if (blocks.length === 0 && status === 'changed')
    return { ...result, status: 'same', notes: ['only line ends differ'] };
  return { ...result, ...countKinds(changes), kind: 'text', exact, sides, hunks };
}

/** A file name for a diff header; unusual ones are quoted the way git and GNU patch read them. */
function headerName(prefix, path) {
  const name = bytes(`${prefix}/${path}`);
  if (!/[\u0000-\u001f"\\\u007f]/.test(name)) return name;
  const escape = (char) => (/["\\]/.test(char) ? `\\${char}` : `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return `"${name.replace(/[\u0000-\u001f"\\\u007f]/g, escape)}"`;
}

function* unifiedLines(result) {
  const [oldName, newName] = [headerName('a', result.path), headerName('b', result.path)];
  if (result.kind !== 'text') {
    const what = result.kind === 'binary' ? 'Binary' : 'Large';
    yield `${what} files ${oldName} and ${newName} differ\n`;
    return;
  }
  yield `diff --git ${oldName} ${newName}\n`;
  if (result.status === 'added') yield 'new file mode 100644\n';
  if (result.status === 'removed') yield 'deleted file mode 100644\n';
  if (result.hunks.length === 0) return;
  const tab = result.path.includes(' ') ? '\t' : '';
  yield `--- ${result.status === 'added' ? '/dev/null' : oldName + tab}\n`;
  yield `+++ ${result.status === 'removed' ? '/dev/null' : newName + tab}\n`;
  const line = (sign, side, at) =>
    `${sign}${side.lines[at]}\n${side.openEnd && at === side.lines.length - 1 ? NO_NEWLINE : ''}`;
  const range = (start, end) => `${end === start ? start : start + 1},${end - start}`;
  for (const hunk of result.hunks) {
    yield `@@ -${range(hunk.oldStart, hunk.oldEnd)} +${range(hunk.newStart, hunk.newEnd)} @@\n`;
    let at = hunk.oldStart;
    for (const [oldStart, oldEnd, newStart, newEnd] of hunk.blocks) {
      for (; at < oldStart; at += 1) yield line(' ', result.sides.old, at);
      for (; at < oldEnd; at += 1) yield line('-', result.sides.old, at);
      for (let place = newStart; place < newEnd; place += 1) yield line('+', result.sides.new, place);
    }
    for (; at < hunk.oldEnd; at += 1) yield line(' ', result.sides.old, at);
  }
}

const MARKS = { same: ['', ''], removed: ['[-', '-]'], added: ['{+', '+}'] };

function* wordLines(result) {
  yield bytes(`${result.path} (${result.status})\n`);
  for (const note of result.notes) yield bytes(`note: ${note}\n`);
  for (const hunk of result.hunks) {
    yield `@@ old line ${hunk.oldStart + 1}, new line ${hunk.newStart + 1} @@\n`;
    let at = hunk.oldStart;
    const before = function* (stop) {
      for (; at < stop; at += 1) yield bytes(`  ${printable(utf8(result.sides.old.lines[at]))}\n`);
    };
    for (const block of hunk.blocks) {
      yield* before(block[0]);
      for (const change of changesOf(block, result.sides.old, result.sides.new)) {
        if (change.kind === 'removed') yield bytes(`- ${printable(change.old)}\n`);
        else if (change.kind === 'added') yield bytes(`+ ${printable(change.new)}\n`);
        else {
          const parts = compareWords(change.old, change.new);
          const text = parts.map((part) => MARKS[part.op].join(printable(part.text))).join('');
          yield bytes(`~ ${text}\n`);
        }
      }
      at = block[1];
    }
    yield* before(hunk.oldEnd);
  }
}

function jsonFile(result) {
  const { path, status, kind = 'text', exact = true, added, removed, changed, notes } = result;
  let room = MAX_LISTED;
  const hunks = result.hunks.map((hunk) => {
    const listed = hunk.changes.slice(0, room);
    room -= listed.length;
    const changes = listed.map((change) => ({
      kind: change.kind,
      old_line: change.oldLine ?? null,
      new_line: change.newLine ?? null,
      ...(change.old === undefined ? {} : { old: shorten(change.old) }),
      ...(change.new === undefined ? {} : { new: shorten(change.new) }),
      ...(change.kind === 'changed' ? { words: compareWords(change.old, change.new) } : {}),
    }));
    const size = { old_lines: hunk.oldEnd - hunk.oldStart, new_lines: hunk.newEnd - hunk.newStart };
    const start = { old_start: hunk.oldStart + 1, new_start: hunk.newStart + 1 };
    return { ...start, ...size, ...hunk.counts, changes, changes_left_out: hunk.changes.length - listed.length };
  });
  return { path, status, kind, exact, added, removed, changed, notes, hunks };
}

function totalsOf(results) {
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  const files = results.filter((result) => result.status !== 'same').length;
  return { files, added: sum('added'), removed: sum('removed'), changed: sum('changed') };
}

function parseArguments(list) {
  const options = { context: '3', words: false, json: false, ignoreEol: false, help: false };
  const [rest, paths] = [[...list], []];
  while (rest.length > 0) {
    const word = rest.shift();
    if (word === '--') paths.push(...rest.splice(0));
    else if (word === '--help' || word === '-h') options.help = true;
    else if (word === '--words') options.words = true;
    else if (word === '--json') options.json = true;
    else if (word === '--ignore-eol') options.ignoreEol = true;
    else if (word === '--context') options.context = rest.shift() ?? '';
    else if (word.startsWith('--context=')) options.context = word.slice('--context='.length);
    else if (word.startsWith('-')) throw new UsageError(`unknown option ${word}`);
    else paths.push(word);
  }
  if (options.help) return options;
  if (paths.length !== 2) throw new UsageError('give exactly two files or two folders');
  if (options.words && options.json) throw new UsageError('--words and --json exclude each other');
  if (!/^(0|[1-9][0-9]{0,2}|1000)$/.test(options.context)) {
    throw new UsageError('--context is a whole number from 0 to 1000');
  }
  return { ...options, paths, context: Number(options.context) };
}

function run(list, print) {
  const options = parseArguments(list);
  if (options.help) {
    print(HELP);
    return;
  }
  const [oldRoot, newRoot] = options.paths;
  const { pairs, skipped } = listPairs(oldRoot, newRoot);
  const [results, pending] = [[], []];
  for (const pair of pairs) {
    const result = comparePair(pair, options);
    if (!options.json && result.status !== 'same') {
      for (const line of options.words ? wordLines(result) : unifiedLines(result)) pending.push(line);
      print(pending.splice(0).join(''));
    }
    // Only the counts stay in memory from file to file, and for JSON the listed changes.
    results.push(jsonFile(options.json ? result : { ...result, hunks: [] }));
  }
  const totals = totalsOf(results);
  const notes = skipped.map((path) => `${path}: not a regular file, skipped`);
  if (options.json) {
    const files = results.filter(({ status, notes: own }) => status !== 'same' || own.length > 0);
    print(`${bytes(JSON.stringify({ same: totals.files === 0, totals, notes, files }, null, 2))}\n`);
  }
  const counts = `lines added: ${totals.added}, removed: ${totals.removed}, changed: ${totals.changed}`;
  const first = totals.files === 0 ? 'no differences' : `files that differ: ${totals.files}; ${counts}`;
  const details = results.flatMap((result) => result.notes.map((note) => `${result.path}: ${note}`));
  for (const text of [first, ...details, ...notes]) process.stderr.write(`${printable(text)}\n`);
}

process.stdout.on('error', () => process.exit(1));
try {
  run(process.argv.slice(2), (text) => process.stdout.write(Buffer.from(text, 'latin1')));
} catch (error) {
  if (!(error instanceof InputError || error instanceof UsageError)) throw error;
  process.stderr.write(`diff: ${printable(error.message)}${error instanceof UsageError ? ' (see --help)' : ''}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
