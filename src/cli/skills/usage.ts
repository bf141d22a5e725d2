import path from 'node:path';

import { AGENT_IDS, explainSkills, findCaseRequests, readUsage } from '#activation';
import { countText, printable } from '#core';
import { draftFromRequests, priceTokens } from '#evals';
import { fitText, isPresent, padText, textWidth } from '#platform';
import { defineCommand, list, option, type GlobalInvocation } from '../command.ts';
import { printDrafts } from '../evals/print-drafts.ts';
import { EXIT, usageError } from '../exit.ts';
import { openProgress } from '../terminal/progress.ts';
import { bytesText, milliseconds } from '../terminal/quantities.ts';
import { configFor } from '../surroundings.ts';
import type { Terminal } from '../terminal/terminal.ts';

const DAY_MS = 86_400_000;
const DEFAULT_AGE = 30 * DAY_MS;

export const command = defineCommand({
  usage: 'usage [--agent ID] [--since AGE] [--project DIR] [--cases SKILL]',
  details: [
    'Shows which skills your agents loaded, how often, at what cost, and which requests needed a skill that was not loaded. Lists the skills that nothing loaded, with the tokens that their entries cost in each session.',
    'Reads the transcripts that the agents keep, in place. Nothing is sent, and nothing is stored.',
    'Missed and off topic are estimates: they compare the words of a request with the descriptions that are installed now. Requests from before a SKILL.md was last changed are not compared with it.',
    '--cases writes requests of yours to evals/ of the skill as drafts of cases: those that loaded or clearly needed it, and those for which it should stay quiet. Secrets, addresses, hosts, paths, and names that can be recognized are removed. Read each draft before you confirm it: the rest of your words stays.',
    'Exit code 1: no transcripts found, or no request for --cases.',
  ].join('\n'),
  flags: {
    agent: list('ID', 'agents whose transcripts are read (default: all)', { choices: AGENT_IDS }),
    since: option('AGE', 'how far back to read, such as 12h, 30d or 8w (default: 30d)'),
    project: option('DIR', 'only sessions in DIR and below (default: all projects)'),
    cases: option('SKILL', 'write drafts of evaluation cases for this skill, a name or a folder, from your requests'),
  },
  examples: [
    ['skillwright usage', 'show what your agents did with skills in the last 30 days'],
    ['skillwright usage --agent codex --since 8w --project .', 'look at one agent and this project'],
    ['skillwright usage --cases csv-report', 'draft evaluation cases from your requests, for you to confirm'],
    ['skillwright usage --json | jq ".skills[] | select(.missed > 0)"', 'print the skills that were missed'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags, terminal, surroundings, signal } = invocation;
    const age = milliseconds(flags.since, '--since') ?? DEFAULT_AGE;
    const prices = (await configFor(invocation)).config.evals?.prices;
    const dates = new Set<string>();
    const progress = openProgress(terminal, { isLogged: true });
    const options = {
      surroundings,
      agents: flags.agent ?? [],
      since: Date.now() - age,
      project: flags.project && path.resolve(surroundings.cwd, flags.project),
      signal,
      price(model: string, { input, output, cached, written }: Tokens) {
        const tokens = { inputTokens: input, outputTokens: output, cachedTokens: cached, cacheWriteTokens: written };
        const price = priceTokens(model, tokens, prices);
        if (price !== undefined) dates.add(price.date);
        return price?.usd;
      },
      onProgress: ({ bytes, of, agent }: ReadProgress) =>
        progress.show(`${agent}: ${bytesText(bytes)} of ${bytesText(of)} read`),
    };
    if (flags.cases !== undefined) {
      const skill = await findSkill(flags.cases, invocation);
      const found = await findCaseRequests({ ...options, names: skill.names }).finally(() => progress.end());
      return writeCases(skill.folder, found, invocation);
    }
    const usage = await readUsage(options).finally(() => progress.end());
    const code = usage.agents.length > 0 ? EXIT.done : EXIT.failed;
    if (terminal.printJson({ ...usage, prices: [...dates].toSorted() })) return code;
    if (usage.agents.length === 0)
      terminal.err('no transcripts found; the agents that are read: skillwright help usage');
    else terminal.out(usageLines(usage, [...dates], terminal));
    return code;
  },
});

type Usage = Awaited<ReturnType<typeof readUsage>>;
type ReadProgress = Parameters<NonNullable<Parameters<typeof readUsage>[0]['onProgress']>>[0];
type Tokens = Parameters<Parameters<typeof readUsage>[0]['price']>[1];

/** The folder of a skill, and the names by which agents call it. */
async function findSkill(
  written: string,
  { surroundings }: GlobalInvocation,
): Promise<{ readonly folder: string; readonly names: ReadonlySet<string> }> {
  const folder = path.resolve(surroundings.cwd, written);
  const name = path.basename(folder);
  const why = await explainSkills({ surroundings, agents: AGENT_IDS, skill: name });
  const views = why.skill?.flatMap(({ skill }) => skill ?? []) ?? [];
  const isFolder = isPresent(path.join(folder, 'SKILL.md'));
  const [first] = views;
  if (!isFolder && (first === undefined || written !== name))
    throw usageError(`no skill ${printable(written)} found`, 'name a skill that an agent lists, or its folder');
  return {
    folder: isFolder || first === undefined ? folder : path.dirname(first.path),
    names: new Set([name, ...views.map((view) => view.name)]),
  };
}

function writeCases(
  skill: string,
  { requests, agents }: Awaited<ReturnType<typeof findCaseRequests>>,
  { terminal, surroundings, signal }: GlobalInvocation,
): number {
  const { file, drafts, dropped } = draftFromRequests({ cwd: surroundings.cwd, skill, requests, signal });
  if (file !== undefined) {
    printDrafts({ file, drafts, dropped }, { terminal, surroundings });
    return EXIT.done;
  }
  if (!terminal.printJson({ drafts, dropped }))
    terminal.err(
      agents.length === 0
        ? 'no transcripts found; the agents that are read: skillwright help usage'
        : `no request can become a case: ${String(dropped.length)} dropped; try a longer time, such as --since 26w`,
    );
  return EXIT.failed;
}

const COLUMNS = ['fired', 'hinted', 'missed', 'off topic', 'tokens', 'cost', 'last used'] as const;
const WIDTHS = [5, 6, 6, 9, 6, 7, 10];
const MOST_UNUSED = 8;

function usageLines(usage: Usage, dates: readonly string[], terminal: Terminal): readonly string[] {
  const { style, wrap, width } = terminal;
  const taken = WIDTHS.reduce((sum, column) => sum + column + 2, 0);
  const names = usage.skills.map(({ name }) => textWidth(printable(name)));
  const nameWidth = Math.max(8, Math.min(width - taken, Math.max(5, ...names)));
  const row = (name: string, cells: readonly string[]): string =>
    `${padText(fitText(printable(name), nameWidth), nameWidth)}${cells.map((cell, at) => `  ${cell.padStart(WIDTHS[at] ?? 0)}`).join('')}`;
  const since = usage.since.slice(0, 10);
  return [
    ...usage.agents.flatMap((agent) => agentLines(agent, terminal)),
    '',
    ...(usage.skills.length === 0
      ? [`no skill was loaded or missed since ${since}`]
      : [style('bold', row('skill', COLUMNS)), ...usage.skills.map((skill) => row(skill.name, cellsOf(skill)))]),
    ...(usage.skills.some(({ hinted }) => hinted > 0) ? ['hinted: loaded after a hint / hinted'] : []),
    ...(dates.length === 0 ? [] : [`cost of the requests that loaded the skill, at prices of ${dates.join(', ')}`]),
    ...(usage.unused.length === 0 ? [] : ['', ...unusedLines(usage, since, wrap)]),
  ];
}

function agentLines(
  { agent, requests, files, lines, unknown, damaged, tooLong, versions, problems }: Usage['agents'][number],
  { style, wrap }: Terminal,
): readonly string[] {
  const left = [
    [unknown, 'of unknown shape'],
    [damaged, 'damaged'],
    [tooLong, 'too long'],
  ].flatMap(([count, why]) => (count === 0 ? [] : [`${String(count)} ${String(why)}`]));
  const version = left.length === 0 ? '' : ` (version ${versions.map(printable).join(', ') || 'unknown'})`;
  return [
    `${style('bold', agent)}: ${countText(requests, 'request')} in ${countText(files, 'transcript')}`,
    ...(left.length === 0 ? [] : [wrap(`  of ${String(lines)} lines skipped: ${left.join(', ')}${version}`, 2)]),
    ...problems.map((problem) => wrap(`  ${printable(problem)}`, 2)),
  ];
}

function cellsOf(skill: Usage['skills'][number]): readonly string[] {
  const { fired, started, hinted, hintIgnored, missed, unrelated, tokens, usd, lastUsed } = skill;
  return [
    String(fired + started),
    hinted === 0 ? '' : `${String(hinted - hintIgnored)}/${String(hinted)}`,
    missed === 0 ? '' : String(missed),
    unrelated === 0 ? '' : String(unrelated),
    shortNumber(tokens.input + tokens.output),
    usd === undefined ? '' : `$${usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`,
    lastUsed?.slice(0, 10) ?? 'never',
  ];
}

function shortNumber(count: number): string {
  if (count < 10_000) return count === 0 ? '' : String(count);
  return count < 1_000_000 ? `${String(Math.round(count / 1000))}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

function unusedLines({ unused, agents }: Usage, since: string, wrap: Terminal['wrap']): readonly string[] {
  return agents.flatMap(({ agent }) => {
    const own = unused.filter((skill) => skill.agent === agent);
    if (own.length === 0) return [];
    const sum = own.reduce((all, { tokens }) => all + tokens, 0);
    const named = own.slice(0, MOST_UNUSED).map(({ name, tokens }) => `${printable(name)} (${String(tokens)})`);
    const more = own.length > MOST_UNUSED ? `, and ${String(own.length - MOST_UNUSED)} more: --json` : '';
    return [
      `${agent}: ${countText(own.length, 'skill')} not used since ${since}, ${String(sum)} tokens in each session`,
      wrap(`  ${named.join(', ')}${more}`, 2),
    ];
  });
}
