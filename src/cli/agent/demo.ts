import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { runAgent, type AgentResult } from '#agent';
import { EVENTS_FILE, verifyRun } from '#journal';
import {
  cleanText,
  countText,
  eventText,
  EXECUTOR_NAMES,
  isWeaker,
  isSkillError,
  buildLedger,
  printable,
  quoted,
  SkillError,
  type Action,
  type RunEvent,
  type ExecutorName,
  type RunResult,
} from '#core';
import { openRules } from '#model';
import { cacheDirectory, isSystemError, readSealKey } from '#platform';
import { createRuntime, readSurroundings, type Runtime } from '#runtime';
import { defineCommand, option, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { wrapWords } from '../terminal/wrap.ts';
import type { Terminal } from '../terminal/terminal.ts';

const flags = {
  plain: toggle('print only what is the same in every run: no colors, times, ids and paths'),
  keep: toggle('keep the folder of the demo with its record'),
  executor: option(
    'NAME',
    'run the script with this executor; none runs no script (default: auto, the first that isolates)',
    { choices: ['auto', 'none', 'bubblewrap', 'namespaces', 'container', 'macos', 'landlock'] },
  ),
} as const;

export const command = defineCommand({
  usage: 'demo [--plain] [--keep] [--executor NAME]',
  details: [
    'Runs one request on a small table with the built-in skills, in a temporary folder. Shows what the model saw, what ran and where, the answer, and the verified record. Asks nothing, reads none of your files, and uses no network.',
    'The model is the rule model, which is not a language model. If no executor isolates programs on this machine, no script runs and the demo says so.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright demo', 'run the tour'],
    ['skillwright demo --keep', 'run the tour and keep its folder'],
  ],
  positionals: [0, 0],
  async run({ flags: options, terminal, signal }) {
    const folder = makeFolder();
    try {
      if (terminal.isInteractive) terminal.overwrite('preparing a sandbox and running …');
      const run = await demonstrate(folder, options.executor ?? 'auto', signal);
      if (terminal.isInteractive) terminal.overwrite('');
      if (!terminal.printJson({ ...run, events: undefined }))
        terminal.out(demoText(run, { isPlain: options.plain === true, terminal }));
      if (options.keep === true) terminal.remark(`folder: ${folder}`);
      if (run.result.outcome === 'cancelled') return EXIT.interrupted;
      return run.result.outcome === 'done' && run.verified === 'intact' ? EXIT.done : EXIT.failed;
    } finally {
      if (options.keep !== true) rmSync(folder, { recursive: true, force: true });
    }
  },
});

function makeFolder(): string {
  const place = os.tmpdir();
  try {
    return mkdtempSync(path.join(place, 'skillwright-demo-'));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const { code: cause } = error;
    throw new SkillError({
      code: 'io/failed',
      message: `cannot create a folder in ${quoted(place)}: ${cause}`,
      hint: 'set TMPDIR to a writable folder',
      data: { path: place, cause },
    });
  }
}

async function demonstrate(folder: string, executor: string, signal: AbortSignal): Promise<DemoRun> {
  writeFileSync(path.join(folder, DEMO_FILE), DEMO_TABLE);
  const home = path.join(folder, 'home');
  const runtime = await openBuiltIn(folder, home);
  const events: RunEvent[] = [];
  const work = (name: string): Promise<AgentResult> =>
    runAgent({
      runtime,
      model: openRules(),
      request: DEMO_REQUEST,
      files: [name === 'none' ? DEMO_FILE : path.join(folder, DEMO_FILE)],
      signal,
      run: {
        sinks: [({ event }) => void events.push(event)],
        // Only this built-in script runs without approval.
        policy: { opens: ['run_script(csv-report)'] },
        ...(name === 'none'
          ? {}
          : { execution: { executor: toExecutorName(name), opens: false, artifacts: false, runsBuiltIn: true } }),
      },
    });
  const { result, refusal } = await withOrWithout(work, executor);
  const key = readSealKey(home);
  const check = (place: string): string => verifyRun(place, key === undefined ? {} : { sealKey: key }).status;
  const { path: record = '' } = result;
  return {
    result,
    events,
    refusal,
    skills: runtime.index.skills.map(({ name }) => name),
    verified: check(record),
    verifiedAfterChange: check(changedCopy(record, folder)),
  };
}

/** A runtime with the built-in skills only; it reads no files of the user. */
function openBuiltIn(cwd: string, home: string): Promise<Runtime> {
  const surroundings = readSurroundings({});
  const kept = ['PATH', 'TMPDIR', 'DOCKER_HOST'].map((name) => [name, surroundings.env[name]]);
  // Reuses the cached sandbox probes, which take seconds.
  kept.push(['SKILLWRIGHT_CACHE_DIR', cacheDirectory(surroundings)]);
  return createRuntime({ cwd, home, env: Object.fromEntries(kept), config: { use_default_roots: false } });
}

function toExecutorName(name: string): 'auto' | ExecutorName {
  return EXECUTOR_NAMES.find((known) => known === name) ?? 'auto';
}

/** Falls back to a run without programs if no executor isolates them. */
async function withOrWithout(
  work: (executor: string) => Promise<AgentResult>,
  executor: string,
): Promise<Pick<DemoRun, 'result' | 'refusal'>> {
  if (executor === 'none')
    return {
      result: await work(executor),
      refusal: { message: '--executor none', hint: 'see skillwright doctor' },
    };
  try {
    return { result: await work(executor), refusal: undefined };
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'executor/unavailable') throw error;
    return { result: await work('none'), refusal: { message: error.message, hint: error.hint } };
  }
}

function changedCopy(record: string, folder: string): string {
  const copy = path.join(folder, 'changed', path.basename(record));
  cpSync(record, copy, { recursive: true });
  const file = path.join(copy, EVENTS_FILE);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"turn":1', '"turn":2'));
  return copy;
}

const DEMO_FILE = 'orders.csv';
const DEMO_REQUEST = 'What is in this CSV file? Are there missing values?';
const DEMO_TABLE = `order,day,customer,country,units,price
1001,2025-01-03,Ana Ruiz,ES,2,19.90
1002,2025-01-03,Li Wei,CN,1,249.00
1003,2025-01-05,Jonas Berg,SE,12,4.25
1004,2025-01-07,Ana Ruiz,ES,3,19.90
1005,2025-01-08,Mara Stein,DE,,18.50
1006,2025-01-08,王芳,CN,2,21.00
1006,2025-01-08,王芳,CN,2,21.00
1007,2025-01-14,Olu Ade,NG,1,1990.00
`;

interface DemoRun {
  readonly result: AgentResult;
  readonly events: readonly RunEvent[];
  /** Why no program could run; undefined if one ran. */
  readonly refusal: { readonly message: string; readonly hint: string } | undefined;
  readonly skills: readonly string[];
  /** The verification of the record, and of a copy with one changed number. */
  readonly verified: string;
  readonly verifiedAfterChange: string;
}

interface DemoTextOptions {
  readonly isPlain: boolean;
  readonly terminal: Pick<Terminal, 'style' | 'width'>;
}

function demoText(run: DemoRun, { isPlain, terminal }: DemoTextOptions): readonly string[] {
  const title = (text: string): string => (isPlain ? text : terminal.style('bold', text));
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['The request', requestLines(run)],
    ['What the model saw', seenLines(run)],
    ['What ran, and where', ranLines(run)],
    ['The answer', answerLines(run)],
    ['The record', recordLines(run, isPlain)],
    ['Next steps', nextLines()],
  ];
  return sections.flatMap(([name, lines], place) => [
    ...(place === 0 ? [] : ['']),
    title(`${String(place + 1)}. ${name}`),
    ...lines.map((line) => (line === '' ? '' : wrapWords(`   ${line}`, { width: terminal.width, indent: 3 }))),
  ]);
}

function requestLines({ skills }: DemoRun): readonly string[] {
  return [
    `${DEMO_FILE}, a table with ${String(DEMO_TABLE.trim().split('\n').length - 1)} rows, and the question: "${DEMO_REQUEST}"`,
    `Skills: ${skills.join(', ')} (built in). No key, no network.`,
    'Model: the rule model, which follows the quickstart of a skill by fixed rules. It is not a language model.',
  ];
}

const SHOWN_AS = {
  catalog: 'names and descriptions of all skills',
  search: 'results of a search',
  load: 'instructions of the chosen skill',
  list: 'names of its files',
} as const;

function seenLines({ events, result }: DemoRun): readonly string[] {
  const ledger = buildLedger(events.flatMap((event) => (event.type === 'session' ? [event.event] : [])));
  const rows = Object.entries(SHOWN_AS).flatMap(([reason, about]) => {
    const tokens = ledger.rows.filter((row) => row.reason === reason).reduce((sum, row) => sum + row.tokens, 0);
    return tokens === 0 ? [] : [`${aboutTokens(tokens).padStart(7)}  ${about}`];
  });
  const bodies = ledger.rows.filter(({ reason }) => reason === 'load').map(({ skill, path }) => `${skill}: ${path}`);
  return [
    'tokens (estimated)',
    ...rows,
    `Skill files read: ${bodies.map((body) => printable(body)).join(', ') || 'none'}. Of the other skills, nothing.`,
    `${countText(result.used.turns, 'request')} to the model, about ${aboutTokens(result.used.tokens)} tokens in total.`,
  ];
}

/** Two significant digits; the others change with every word of a skill. */
function aboutTokens(tokens: number): string {
  const unit = 10 ** Math.max(1, Math.floor(Math.log10(Math.max(1, tokens))) - 1);
  return (Math.round(tokens / unit) * unit).toLocaleString('en');
}

function ranLines({ events, refusal }: DemoRun): readonly string[] {
  const actions = new Map<number, Action>();
  const lines = events.flatMap((event) => {
    if (event.type === 'action') actions.set(event.call, event.action);
    if (event.type !== 'observation' || event.observation.action === 'final_answer') return [];
    const action = actions.get(event.call);
    return eventText(event, 'normal', action === undefined ? {} : { action }).map(({ text }) => text);
  });
  const start = events.find((event) => event.type === 'run-start');
  const where = start?.type === 'run-start' ? start.executor : undefined;
  if (where === undefined)
    return [
      ...lines,
      `No script ran: ${printable(refusal?.message ?? 'no executor is available')}.`,
      `To fix this: ${printable(refusal?.hint ?? 'see skillwright doctor')}`,
    ];
  return [...lines, whereItRan(where.isolation), 'The demo allows this one script. `skillwright run` asks you first.'];
}

function whereItRan(isolation: RunResult['isolation']): string {
  if (isolation === 'none')
    return 'The script ran WITHOUT ISOLATION, because nothing isolates programs on this machine. Only built-in scripts run like this: they are as trusted as skillwright itself. To run others, see skillwright doctor.';
  if (isWeaker(isolation))
    return `The script ran under landlock, which is weaker than a sandbox: no network, no home folder, and of your files only the content of ${DEMO_FILE}. Scripts of others need your consent for it, see skillwright doctor.`;
  return `The script ran in a sandbox (${isolation}): no network, no home folder, and of your files only ${DEMO_FILE}.`;
}

const SHOWN_LINES = 23;

function answerLines({ result }: DemoRun): readonly string[] {
  const lines = cleanText(result.answer).trimEnd().split('\n');
  const more = lines.length - SHOWN_LINES;
  return more <= 0 ? lines : [...lines.slice(0, SHOWN_LINES), `(${countText(more, 'line')} more)`];
}

function recordLines({ events, result, verified, verifiedAfterChange }: DemoRun, isPlain: boolean): readonly string[] {
  const decisions = events.filter(({ type }) => type === 'decision').length;
  const name = isPlain ? 'The run' : `The run ${result.run ?? ''}`;
  return [
    `${name} ended as ${result.outcome}. Every event is recorded, including ${countText(decisions, 'policy decision')}. Each line includes the hash of the line before it.`,
    `skillwright runs verify: ${verified}.`,
    `The same for a copy with one changed number: ${verifiedAfterChange}.`,
  ];
}

function nextLines(): readonly string[] {
  return [
    'skillwright run "What is in this CSV file?" --in YOUR.csv --yes',
    '    run the same request on your table',
    'ANTHROPIC_API_KEY=... skillwright run "..."',
    '    use a language model; OpenAI, Google and Ollama work as well',
    'skillwright list          list the skills on this machine',
    'skillwright new my-skill  create a skill',
    'skillwright doctor        diagnose problems on this machine',
  ];
}
