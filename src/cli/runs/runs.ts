import path from 'node:path';

import { toAtif } from '../../journal/export/atif.ts';
import { followRun, readRun } from '../../journal/journal-reader.ts';
import type { ReadRun } from '../../journal/journal-reader.ts';
import { pruneRuns } from '../../journal/prune.ts';
import { findRun, listRuns, runsDirectory } from '../../journal/run-folder.ts';
import { verifyRun } from '../../journal/verify.ts';
import type { Verification } from '../../journal/verify.ts';
import type { JournalLine } from '../../core/run-events.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { visibleJson } from '../../core/json/visible-json.ts';
import { readSealKey } from '../../platform/fs/seal-key.ts';
import { loadConfig, surroundingsOf } from '../../runtime/config/config.ts';
import { openApprover } from '../agent/approval.ts';
import { wholeNumber } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import type { Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { byteCount, milliseconds } from '../terminal/quantities.ts';
import { parseSettings } from '../arguments.ts';
import { RESUME_FLAGS } from './resume-flags.ts';
import { replayLines, replaySummary } from './show-replay.ts';
import { eventLine, infoLines, runLines, standing, verificationLines } from './show-run.ts';

/** What a run can be exported as: its journal a line at a time, or one trajectory that other tools read. */
const FORMATS: Readonly<Record<string, (run: ReadRun) => Iterable<string>>> = {
  jsonl: ({ lines }) => mapLines(lines, (line) => visibleJson(JSON.stringify(line))),
  atif: ({ info, lines }) => [visibleJson(JSON.stringify(toAtif({ run: info.run }, lines), undefined, 2))],
};

const TAIL_LINES = 10;

const flags = {
  follow: { type: 'boolean', short: 'f', about: 'tail: go on as long as the run does' },
  lines: { type: 'string', short: 'n', value: 'N', about: `tail: begin with the last N events; ${String(TAIL_LINES)}` },
  all: { type: 'boolean', about: 'verify: every run of the project' },
  'require-seal': { type: 'boolean', about: 'verify: exit 1 unless the seal is there and good' },
  format: { type: 'string', value: 'NAME', choices: Object.keys(FORMATS), about: 'export: as what; jsonl' },
  'older-than': { type: 'string', value: 'TIME', about: 'prune: runs that began longer ago, as in 12h, 30d, 8w' },
  'max-size': {
    type: 'string',
    value: 'SIZE',
    about: 'prune: the oldest, until the rest takes no more; as in 500M, 1G',
  },
  keep: { type: 'string', value: 'N', about: 'prune: never the newest N' },
  'dry-run': { type: 'boolean', about: 'prune: only say what would be removed' },
  writes: { type: 'boolean', about: 'replay: write and delete files again' },
  network: { type: 'boolean', about: 'replay: ask servers again' },
  record: { type: 'boolean', about: 'replay: keep a record of it as well' },
  ...RESUME_FLAGS,
} as const;

type RunsInvocation = Invocation<typeof flags>;

/** By the first word; `list` where there is none. */
const ACTS: Readonly<Record<string, (invocation: RunsInvocation) => Promise<number>>> = {
  list,
  show,
  tail,
  verify,
  export: exportRun,
  prune,
  replay,
  resume,
};

export const command = defineCommand({
  usage: 'runs list|show|tail|verify|export|prune|replay|resume [ID]',
  details: [
    'Works with the records of runs of this project: those in .agent/runs, or where runs.directory of the configuration says.',
    'ID is the id of a run, a start of it that only one has, `last`, or the path of a run folder.',
    'verify finds what was changed, cut, moved or added in a record: exit 1 where anything was.',
    'prune removes nothing that may still be running. replay does what was recorded again and compares: exit 1 where something is not as',
    'it was, 4 where a skill of the record is gone or has changed. Files and servers are left alone unless you say otherwise.',
    'resume goes on with a run that was killed, waited for an answer or used up a budget, in a new record; what was done is not done again.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright runs list', 'what ran here, the newest first'],
    ['skillwright runs show last', 'skills with digests, approvals, every event'],
    ['skillwright runs tail last -f', 'watch a run'],
    ['skillwright runs verify --all', 'look for changes in every record'],
    ['skillwright runs export last > run.jsonl', 'all events with their whole content'],
    ['skillwright runs export last --format atif > run.json', 'the same as a trajectory (ATIF)'],
    ['skillwright runs prune --older-than 30d --max-size 1G --dry-run', 'what would go'],
    ['skillwright runs replay last', 'does it still do the same?'],
    ['skillwright runs resume last --budget turns=30', 'go on with a run that used up its turns'],
  ],
  positionals: [0, 2],
  async run(invocation) {
    const [word = 'list'] = invocation.positionals;
    const act = Object.hasOwn(ACTS, word) ? ACTS[word] : undefined;
    if (act === undefined)
      throw new UsageError(`runs does not know ${quoted(word, 200)}`, `it knows ${Object.keys(ACTS).join(', ')}`);
    return act(invocation);
  },
});

async function list(invocation: RunsInvocation): Promise<number> {
  const { flags: given, terminal } = invocation;
  const directory = await directoryOf(invocation);
  const runs = listRuns(directory);
  if (given.json === true) {
    const rows = runs.map(({ id, path: place, reading }) => ({
      id,
      path: place,
      standing: standing(reading),
      ...(reading.type === 'run' ? { run: reading.info } : {}),
    }));
    terminal.out(visibleJson(jsonText({ directory, runs: rows })));
    return EXIT.done;
  }
  for (const line of runLines(runs, terminal)) terminal.out(line);
  if (runs.length === 0) terminal.remark(`no runs in ${printable(directory)}`);
  return EXIT.done;
}

async function show(invocation: RunsInvocation): Promise<number> {
  const { flags: given, terminal } = invocation;
  const run = readRun(await placeOf(invocation), { content: 'start' });
  if (given.json === true) {
    const { info, torn, problems, lines } = run;
    terminal.out(visibleJson(jsonText({ run: info, torn, problems, events: [...lines] })));
    return EXIT.done;
  }
  for (const line of infoLines(run.info, terminal)) terminal.out(line);
  terminal.out(`\n${terminal.style('bold', 'Events')}`);
  for (const line of run.lines) terminal.out(eventLine(line, terminal));
  for (const problem of run.problems) terminal.remark(problem);
  if (run.torn) terminal.remark('the last line is not whole: the run goes on, or was killed while it was written');
  return EXIT.done;
}

async function tail(invocation: RunsInvocation): Promise<number> {
  const { flags: given, terminal, signal } = invocation;
  const place = await placeOf(invocation);
  const wanted = wholeNumber(given.lines, '--lines', { least: 0, most: 1_000_000 }) ?? TAIL_LINES;
  const tell = (line: JournalLine): void =>
    terminal.out(given.json === true ? visibleJson(JSON.stringify(line)) : eventLine(line, terminal));
  const recent: JournalLine[] = [];
  let last = 0;
  for (const line of readRun(place, { content: 'start' }).lines) {
    recent.push(line);
    if (recent.length > wanted) recent.shift();
    last = line.seq;
  }
  recent.forEach(tell);
  if (given.follow !== true) return EXIT.done;
  for await (const line of followRun(place, { signal, content: 'start' })) if (line.seq > last) tell(line);
  return signal.aborted ? EXIT.interrupted : EXIT.done;
}

async function verify(invocation: RunsInvocation): Promise<number> {
  const { flags: given, positionals, terminal } = invocation;
  if (given.all === true && positionals.length > 1)
    throw new UsageError('--all and an id are given', 'give one of them');
  const { home } = surroundings(invocation);
  const sealKey = home === undefined ? undefined : readSealKey(home);
  const places =
    given.all === true
      ? listRuns(await directoryOf(invocation)).map(({ path: place }) => place)
      : [await placeOf(invocation)];
  const checked = places.map((place) => ({
    id: path.basename(place),
    path: place,
    ...verifyRun(place, sealKey === undefined ? {} : { sealKey }),
  }));
  if (given.json === true) terminal.out(visibleJson(jsonText({ runs: checked })));
  else for (const run of checked) for (const line of verificationLines(run.id, run, terminal)) terminal.out(line);
  return checked.every((run) => isAccepted(run, given['require-seal'] === true)) ? EXIT.done : EXIT.failed;
}

function isAccepted({ status, seal }: Verification, requiresSeal: boolean): boolean {
  return status !== 'tampered' && status !== 'unreadable' && (!requiresSeal || seal === 'good');
}

async function exportRun(invocation: RunsInvocation): Promise<number> {
  const { flags: given, terminal } = invocation;
  const run = readRun(await placeOf(invocation));
  for (const line of FORMATS[given.format ?? 'jsonl']?.(run) ?? []) terminal.out(line);
  return EXIT.done;
}

async function prune(invocation: RunsInvocation): Promise<number> {
  const { flags: given, terminal } = invocation;
  const olderThanMs = milliseconds(given['older-than'], '--older-than');
  const maxBytes = byteCount(given['max-size'], '--max-size');
  const keep = wholeNumber(given.keep, '--keep', { least: 0, most: 1_000_000_000 });
  if (olderThanMs === undefined && maxBytes === undefined)
    throw new UsageError('nothing says which runs go', 'give --older-than, --max-size or both');
  const dryRun = given['dry-run'] === true;
  const pruned = await pruneRuns({
    directory: await directoryOf(invocation),
    dryRun,
    ...(olderThanMs === undefined ? {} : { olderThanMs }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(keep === undefined ? {} : { keep }),
  });
  if (given.json === true) {
    terminal.out(jsonText({ dryRun, ...pruned }));
    return EXIT.done;
  }
  for (const { id, bytes, reason } of pruned.removed) terminal.out(`${id}  ${String(bytes)} bytes  ${reason}`);
  terminal.remark(
    `${String(pruned.removed.length)} ${dryRun ? 'would be removed' : 'removed'}, ${String(pruned.kept)} kept (${String(pruned.keptBytes)} bytes), ${String(pruned.running)} of them may be running`,
  );
  return EXIT.done;
}

async function resume(invocation: RunsInvocation): Promise<number> {
  const place = await placeOf(invocation);
  const { resumeRun } = await import('./resume-run.ts');
  return resumeRun(invocation, place);
}

async function replay(invocation: RunsInvocation): Promise<number> {
  const { flags: given, terminal, signal } = invocation;
  const place = await placeOf(invocation);
  const { home } = surroundings(invocation);
  const sealKey = home === undefined ? undefined : readSealKey(home);
  const { replayRun } = await import('../../runtime/replay/replay-run.ts');
  const replayed = await replayRun({
    runtime: await openRuntime(invocation),
    path: place,
    writes: given.writes === true,
    network: given.network === true,
    record: given.record === true,
    approve: openApprover({}, terminal),
    signal,
    ...(sealKey === undefined ? {} : { sealKey }),
  });
  if (given.json === true) terminal.out(visibleJson(jsonText({ path: place, ...replayed })));
  else {
    for (const line of replayLines(replayed, terminal)) terminal.out(line);
    terminal.remark(replaySummary(replayed));
  }
  return REPLAY_EXITS[replayed.status];
}

const REPLAY_EXITS = { same: EXIT.done, different: EXIT.failed, impossible: EXIT.impossible } as const;

function surroundings({ flags: given }: RunsInvocation): ReturnType<typeof surroundingsOf> {
  return surroundingsOf(given.cwd === undefined ? {} : { cwd: given.cwd });
}

/** Where the configuration has runs recorded. */
async function directoryOf(invocation: RunsInvocation): Promise<string> {
  const around = surroundings(invocation);
  const given = await parseSettings(invocation.flags.set);
  const { config } = await loadConfig(
    around,
    invocation.flags.config,
    given === undefined ? undefined : { config: given, where: '--set' },
  );
  return runsDirectory(around.cwd, config.runs?.directory);
}

/** The folder of the run that is named. A name with a slash in it is a path. */
async function placeOf(invocation: RunsInvocation): Promise<string> {
  const [word = '', name] = invocation.positionals;
  if (name === undefined) throw new UsageError('which run?', `skillwright runs ${word} ID; see skillwright runs list`);
  if (/[/\\]|^\.{1,2}$/.test(name)) return path.resolve(surroundings(invocation).cwd, name);
  return findRun(await directoryOf(invocation), name);
}

function* mapLines(lines: Iterable<JournalLine>, text: (line: JournalLine) => string): Generator<string> {
  for (const line of lines) yield text(line);
}
