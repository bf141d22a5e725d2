import path from 'node:path';

import {
  findRun,
  followRun,
  listRuns,
  pruneRuns,
  readRun,
  verifyChain,
  verifyRun,
  type ChainKeys,
  type ChainVerification,
  type Verification,
} from '#journal';
import {
  countText,
  defined,
  describeAction,
  printable,
  quoted,
  visibleJson,
  VOCABULARY_NAMES,
  type JournalLine,
} from '#core';
import { readSealKey } from '#platform';
import { RESUME_FLAGS } from '../agent/agent-flags.ts';
import { openApprover } from '../agent/approval.ts';
import { wholeNumber } from '../arguments.ts';
import { defineCommand, option, toggle, type Flags, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { resolveRunsDirectory } from './runs-directory.ts';
import { openRuntime } from '../open-runtime.ts';
import { byteCount, milliseconds } from '../terminal/quantities.ts';
import { eventIndex } from './event-index.ts';
import { chainLines, eventLine, infoLines, runLines, verificationLines } from './show-run.ts';
import type { replayRun } from '#runtime';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';

const TAIL_LINES = 10;

const REPLAY_FLAGS = {
  writes: toggle('replay: repeat writes and deletes of files'),
  network: toggle('replay: repeat network requests'),
  record: toggle('replay: record the replay as a run'),
} as const satisfies Flags;

const flags = {
  follow: toggle('tail: keep printing events until the run ends', { short: 'f' }),
  lines: option('N', `tail: start with the last N events (default: ${String(TAIL_LINES)})`, { short: 'n' }),
  all: toggle('verify: check every run of the project (default: without an ID)'),
  'require-seal': toggle('verify: exit with 1 unless the seal is present and valid'),
  format: option(
    'NAME',
    'export: write jsonl, or index: short rows of all runs for SQL and spreadsheets (default: jsonl)',
    { choices: ['jsonl', 'index'] },
  ),
  'older-than': option('TIME', 'prune: remove runs older than TIME, e.g. 12h, 30d, 8w'),
  'max-size': option('SIZE', 'prune: remove the oldest runs until the rest fits SIZE, e.g. 500M, 1G'),
  missing: toggle(
    'prune: record deleted runs as removed, and breaks of the chain and the runs of a lost chain as known',
  ),
  keep: option('N', 'prune: never remove the newest N runs'),
  'dry-run': toggle('prune, undo: print what would be done'),
  ...REPLAY_FLAGS,
  ...RESUME_FLAGS,
} as const;

type RunsInvocation = Invocation<typeof flags>;

/** Subcommands; the default is `list`. */
const SUBCOMMANDS: Readonly<Record<string, (invocation: RunsInvocation) => Promise<number>>> = {
  list,
  show,
  tail,
  verify,
  export: exportRun,
  prune,
  replay,
  resume,
  undo,
  files,
};

export const command = defineCommand({
  usage: 'runs list|show|tail|verify|export|prune|replay|resume|undo|files [ID]',
  details: [
    'Manages the recorded runs of this project, in .agent/runs or the folder of the setting runs.directory. ID is the id of a run, a unique prefix, `last`, or the path of a run folder.',
    'verify detects changed, truncated, moved and added data in a record, and runs that were deleted or exchanged, for good. It lists runs that were resumed more than once. Without an ID it checks all runs. Exit code 1: it found a change; 4: a run has no seal or no end, or the chain of runs has no seal, so a change cannot be excluded.',
    'prune records what it removes, so that verify does not miss it. A run and its subagents are kept or removed together. It never removes a run that may still be running.',
    'replay repeats the recorded actions and compares the results, without writes and network requests unless you pass --writes or --network. Exit code 1: a result differs; 4: a skill of the record is gone or has changed.',
    'resume continues a run that was killed, waits for an approval or exhausted a budget, in a new record. It does not repeat completed actions. A run that was already resumed is only resumed with --again, which lists what may be repeated.',
    'undo restores the files of the project that the file tools of a run and its subagents wrote, edited or deleted, with their permissions. A file that someone else changed after the run, or between two of its changes, is left alone, and both versions are shown; exit code 1: there is one, or the record of the run or of a subagent was changed or is gone, and no file was changed; 4: the project of the run is unknown. What programs wrote into folders opened with --project write or --mount is not undone.',
    'files lists the files that programs of a run left and that were not copied; --out DIR copies them, all or none, and replaces no file with other content.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright runs list', 'list the runs, newest first'],
    ['skillwright runs show last', 'show skills with digests, approvals and every event'],
    ['skillwright runs tail last -f', 'follow a run'],
    ['skillwright runs verify', 'verify every record, and that none is missing'],
    ['skillwright runs export last > run.jsonl', 'export all events with their whole content'],
    ['skillwright runs export --format index > events.jsonl', 'export one short row for each event of all runs'],
    ['skillwright runs prune --older-than 30d --max-size 1G --dry-run', 'print what would be removed'],
    ['skillwright runs replay last', 'check whether the actions still give the same results'],
    ['skillwright runs undo last', 'restore the files that the last run changed'],
    ['skillwright runs files last --out results', 'copy the files that the last run left'],
    ['skillwright runs resume last --budget turns=30', 'continue a run that exhausted its turns'],
  ],
  positionals: [0, 2],
  async run(invocation) {
    const [word = 'list'] = invocation.positionals;
    const subcommand = Object.hasOwn(SUBCOMMANDS, word) ? SUBCOMMANDS[word] : undefined;
    if (subcommand === undefined)
      throw usageError(
        `unknown subcommand of runs: ${quoted(word, 200)}`,
        `known subcommands: ${Object.keys(SUBCOMMANDS).join(', ')}`,
      );
    if (invocation.flags.source !== undefined && subcommand !== replay && subcommand !== resume)
      throw usageError(`runs ${word} has no use for --source`, 'only replay and resume use skills');
    return subcommand(invocation);
  },
});

async function list(invocation: RunsInvocation): Promise<number> {
  const { terminal } = invocation;
  const directory = await resolveRunsDirectory(invocation);
  const runs = listRuns(directory);
  const rows = runs.map(({ id, path: place, reading, state }) => ({
    id,
    path: place,
    standing: state,
    run: reading.type === 'run' ? reading.info : undefined,
  }));
  if (terminal.printJson({ directory, runs: rows })) return EXIT.done;
  terminal.out(runLines(runs, terminal));
  if (runs.length === 0) terminal.remark(`no runs in ${printable(directory)}`);
  return EXIT.done;
}

async function show(invocation: RunsInvocation): Promise<number> {
  const { terminal } = invocation;
  const run = readRun(await resolveRunFolder(invocation), { content: 'start' });
  if (terminal.isJson) {
    const { info, torn, problems, lines } = run;
    terminal.printJson({ run: info, torn, problems, events: [...lines] });
    return EXIT.done;
  }
  terminal.out(infoLines(run, terminal));
  terminal.out(`\n${terminal.style('bold', 'Events')}`);
  for (const line of run.lines) terminal.out(eventLine(line, terminal));
  terminal.remark(run.problems);
  if (run.torn) terminal.remark('the last line is incomplete: the run is still running, or was killed while writing');
  return EXIT.done;
}

async function tail(invocation: RunsInvocation): Promise<number> {
  const { flags: options, terminal, signal } = invocation;
  const place = await resolveRunFolder(invocation);
  const count = wholeNumber(options.lines, '--lines', { least: 0, most: 1_000_000 }) ?? TAIL_LINES;
  const tell = (line: JournalLine): void =>
    terminal.out(options.json === true ? visibleJson(JSON.stringify(line)) : eventLine(line, terminal));
  const recent: JournalLine[] = [];
  let last = 0;
  for (const line of readRun(place, { content: 'start' }).lines) {
    recent.push(line);
    if (recent.length > count) recent.shift();
    last = line.seq;
  }
  recent.forEach(tell);
  if (options.follow !== true) return EXIT.done;
  for await (const line of followRun(place, { signal, content: 'start' })) if (line.seq > last) tell(line);
  return signal.aborted ? EXIT.interrupted : EXIT.done;
}

async function verify(invocation: RunsInvocation): Promise<number> {
  const { flags: options, positionals, terminal } = invocation;
  if (options.all === true && positionals.length > 1)
    throw usageError('--all cannot be combined with an ID', 'give one of them');
  const keys = keysFor(invocation);
  const isAll = options.all === true || positionals.length < 2;
  const directory = await resolveRunsDirectory(invocation);
  const only = isAll ? undefined : await resolveRunFolder(invocation);
  const places = only === undefined ? listRuns(directory).map(({ path: place }) => place) : [only];
  const checked = places.map((place) => ({
    id: path.basename(place),
    path: place,
    ...verifyRun(place, { sealKey: keys.sealKey, expectsSeal: true }),
  }));
  const chain = verifyChain(directory, keys, only);
  if (!terminal.printJson({ runs: checked, chain })) {
    for (const run of checked) terminal.out(verificationLines(run.id, run, terminal));
    terminal.out(chainLines(chain, isAll, terminal));
    if (checked.length === 0 && chain.status === 'absent') terminal.remark(`no runs in ${printable(directory)}`);
  }
  return verifyExit(checked, chain, options['require-seal'] === true);
}

/** 1: something was changed. 4: nothing shows a change, but a run has no seal or no end, so that cannot be excluded. */
function verifyExit(
  checked: readonly Verification[],
  { problems, status: chain }: ChainVerification,
  requiresSeal: boolean,
): number {
  const isBad = ({ status, seal }: Verification): boolean =>
    status === 'tampered' || status === 'unreadable' || (requiresSeal && seal !== 'good');
  if (problems.length > 0 || checked.some(isBad)) return EXIT.failed;
  const isOpen = chain === 'unsealed' || checked.some(({ status }) => status === 'unsealed' || status === 'torn');
  return isOpen ? EXIT.impossible : EXIT.done;
}

function keysFor({ surroundings: { home } }: RunsInvocation): ChainKeys {
  return home === undefined ? {} : { home, sealKey: readSealKey(home) };
}

async function exportRun(invocation: RunsInvocation): Promise<number> {
  const { flags: options, terminal } = invocation;
  if (options.format === 'index') {
    const id = invocation.positionals[1] === undefined ? undefined : path.basename(await resolveRunFolder(invocation));
    const rows = [...eventIndex(await resolveRunsDirectory(invocation))].filter(
      ({ run }) => id === undefined || run === id,
    );
    terminal.out(rows.map((row) => visibleJson(JSON.stringify(row))));
    return EXIT.done;
  }
  const { lines } = readRun(await resolveRunFolder(invocation));
  terminal.out(mapLines(lines, (line) => visibleJson(JSON.stringify(line))));
  return EXIT.done;
}

async function prune(invocation: RunsInvocation): Promise<number> {
  const { flags: options, terminal } = invocation;
  const olderThanMs = milliseconds(options['older-than'], '--older-than');
  const maxBytes = byteCount(options['max-size'], '--max-size');
  const keep = wholeNumber(options.keep, '--keep', { least: 0, most: 1_000_000_000 });
  const directory = await resolveRunsDirectory(invocation);
  const [, name] = invocation.positionals;
  const run = name === undefined ? undefined : path.basename(findRun(directory, name));
  const missing = options.missing === true;
  if (olderThanMs === undefined && maxBytes === undefined && run === undefined && !missing)
    throw usageError(
      'missing argument: ID, --older-than, --max-size or --missing',
      'e.g. skillwright runs prune --older-than 30d',
    );
  const dryRun = options['dry-run'] === true;
  const { sealKey, home } = keysFor(invocation);
  const pruned = await pruneRuns({
    directory,
    dryRun,
    missing,
    ...defined({ run, sealKey, home, olderThanMs, maxBytes, keep }),
    onWarning: (message) => reportWarning(terminal, printable(message)),
  });
  if (terminal.printJson({ dryRun, ...pruned })) return EXIT.done;
  for (const { id, bytes, reason } of pruned.removed) terminal.out(`${id}  ${String(bytes)} bytes  ${reason}`);
  for (const fact of pruned.acknowledged)
    terminal.out(`${dryRun ? 'would be acknowledged' : 'acknowledged'}: ${printable(fact)}`);
  terminal.remark(
    `${countText(pruned.removed.length, 'run')} ${dryRun ? 'would be removed' : 'removed'}, ${String(pruned.kept)} kept (${String(pruned.keptBytes)} bytes), ${String(pruned.running)} of them possibly running`,
  );
  return EXIT.done;
}

async function resume(invocation: RunsInvocation): Promise<number> {
  const place = await resolveRunFolder(invocation);
  const { resumeRun } = await import('./resume-run.ts');
  return resumeRun(invocation, place, await resolveRunsDirectory(invocation));
}

async function undo(invocation: RunsInvocation): Promise<number> {
  const place = await resolveRunFolder(invocation);
  const { undoRun } = await import('./undo-run.ts');
  return undoRun(invocation, place, await resolveRunsDirectory(invocation));
}

async function files(invocation: RunsInvocation): Promise<number> {
  const place = await resolveRunFolder(invocation);
  const { runFiles } = await import('./run-files.ts');
  return runFiles(invocation, place);
}

async function replay(invocation: RunsInvocation): Promise<number> {
  const { flags: options, terminal, signal } = invocation;
  const place = await resolveRunFolder(invocation);
  const { info } = readRun(place, { content: 'start' });
  const { replayRun } = await import('#runtime/replay');
  const replayed = await replayRun({
    runtime: await openRuntime(invocation, {
      recordedVocabulary: VOCABULARY_NAMES.find((name) => name === info.vocabulary),
    }),
    path: place,
    writes: options.writes === true,
    network: options.network === true,
    record: options.record === true,
    approve: openApprover({ ...invocation, flags: {} }),
    signal,
    sealKey: keysFor(invocation).sealKey,
  });
  if (!terminal.printJson({ path: place, ...replayed })) {
    terminal.out(replayLines(replayed, terminal));
    terminal.remark(replaySummary(replayed));
  }
  return REPLAY_EXITS[replayed.status];
}

const REPLAY_EXITS = { same: EXIT.done, different: EXIT.failed, impossible: EXIT.impossible } as const;

/** The folder of recorded runs, from the configuration. */
/** The folder of the named run. A name with a slash is a path. */
async function resolveRunFolder(invocation: RunsInvocation): Promise<string> {
  const [word = '', name] = invocation.positionals;
  if (name === undefined)
    throw usageError('missing argument: ID', `usage: skillwright runs ${word} ID; see skillwright runs list`);
  if (/[/\\]|^\.{1,2}$/.test(name)) return path.resolve(invocation.surroundings.cwd, name);
  return findRun(await resolveRunsDirectory(invocation), name);
}

function* mapLines(lines: Iterable<JournalLine>, text: (line: JournalLine) => string): Generator<string> {
  for (const line of lines) yield text(line);
}

type Replay = Awaited<ReturnType<typeof replayRun>>;
type ReplayStep = Replay['steps'][number];

/** One line per step, with the differences below it. */
function replayLines({ steps, problems, remarks }: Replay, { style }: Terminal): readonly string[] {
  return [
    ...problems.map((problem) => `${style('red', 'impossible')}: ${printable(problem)}`),
    ...remarks.map((remark) => `${style('yellow', 'note')}: ${printable(remark)}`),
    ...steps.flatMap((step) => {
      const verdict = step.same ? style('green', 'same') : style('red', 'different');
      const note = step.notRepeated === undefined ? '' : style('dim', ` (not repeated: ${step.notRepeated})`);
      const head = `#${String(step.call)} ${printable(describeAction(step.action, step.tool))}: ${verdict}${note}`;
      return [head, ...(step.same ? [] : differences(step).map((line) => `   ${printable(line)}`))];
    }),
  ];
}

/** A summary of all steps. */
function replaySummary({ status, steps, run }: Replay): string {
  const count = (isCounted: (step: ReplayStep) => boolean): string => String(steps.filter(isCounted).length);
  const counts = [
    `${count(({ same }) => same)} the same`,
    `${count(({ same }) => !same)} different`,
    `${count(({ notRepeated }) => notRepeated !== undefined)} not repeated`,
  ];
  const kept = run === undefined ? '' : `; recorded as ${run}`;
  return status === 'impossible' ? 'impossible: no action was repeated' : `${status}: ${counts.join(', ')}${kept}`;
}

function differences({ expected, got }: ReplayStep): readonly string[] {
  const [before, after] = [facts(expected), facts(got)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name) ?? 'nothing', after.get(name) ?? 'nothing'];
    return was === is ? [] : [`${name}: was ${was}, is ${is}`];
  });
}

function facts({ effect, came: result, shown }: ReplayStep['got']): ReadonlyMap<string, string> {
  return new Map([['decision', effect ?? 'none'], ['result', result ?? 'none'], ...Object.entries(shown)]);
}
