import path from 'node:path';

import { isValidName, printable } from '#core';
import { wholeNumber } from '../arguments.ts';
import { defineCommand, option, toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { trustRemarks, type Distrust, type Runtime } from '#runtime';
import { readQueries, scoreQueries, type Query } from './queries.ts';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';
import { fitText, padText, textWidth } from '#platform';

const flags = {
  limit: option('N', 'print at most N results (default: 5)', { short: 'n' }),
  deep: toggle('also search the instructions; they are indexed locally and shown to no model'),
  queries: option('FILE', 'answer every query in FILE; if queries have "relevant", score the results'),
} as const;

export const command = defineCommand({
  usage: 'search WORDS... [-n N] [--deep] | search --queries FILE',
  details: [
    'Finds skills by name and description. Matches whole words, parts of words and typos, in English, Chinese and Japanese.',
    'Skills of your sources (see skillwright source) that are not installed come last, with the command that installs them. Searching uses no network.',
    'FILE holds one query per line, or JSON: ["..."] or [{"id", "query", "relevant": ["skill", ...]}], or one such value per line.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright search fill in a pdf form', 'show the five best skills'],
    ['skillwright search 数据分析 -n 3', 'search in Chinese'],
    ['skillwright search --queries queries.json --json', 'answer many queries in one process'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: options, positionals, terminal, surroundings } = invocation;
    const limit = wholeNumber(options.limit, '--limit', { least: 1, most: 10_000 }) ?? 5;
    if (options.queries !== undefined && positionals.length > 0)
      throw usageError('WORDS and --queries cannot be combined', 'use skillwright search WORDS... or --queries FILE');
    if (options.queries !== undefined)
      return answerFile(invocation, path.resolve(surroundings.cwd, options.queries), limit);
    const query = positionals.join(' ');
    if (query.trim() === '')
      throw usageError('the query is empty', 'use skillwright search WORDS... or --queries FILE');

    const runtime = await openRuntime(invocation);
    const results = await runtime.searchSkills(query, limit, searchOptions(invocation));
    const untrusted = await untrustedNames(runtime, results);
    // A search of one root or one kind of root is not about what could be installed.
    const isNarrow = options.source !== undefined || options['only-root'] === true;
    const available = await searchAvailable(runtime, { home: surroundings.home, query, limit: isNarrow ? 0 : limit });
    const answer = {
      results: results.map((result) => resultJson(result, untrusted)),
      available: available.results.map(availableJson),
      emptyReason: results.length > 0 ? undefined : await nothingFound(runtime, options.deep === true),
    };
    if (!terminal.printJson(answer)) {
      if (results.length > 0) {
        terminal.out(resultLines(results, untrusted, terminal));
        terminal.remark(trustRemarks(untrusted));
      } else if (available.results.length > 0) terminal.remark('no installed skill matches');
      else terminal.remark(answer.emptyReason ?? []);
      terminal.out(availableLines(available.results, terminal));
    }
    for (const problem of available.problems) reportWarning(terminal, problem);
    const count = results.length + available.results.length;
    return count > 0 || options.json === true ? EXIT.done : EXIT.failed;
  },
});

type SearchInvocation = Invocation<typeof flags>;

function searchOptions({ flags: options, signal }: SearchInvocation): Parameters<Runtime['searchSkills']>[2] {
  return { deep: options.deep === true, signal, source: options.source };
}

async function answerFile(invocation: SearchInvocation, file: string, limit: number): Promise<number> {
  const { terminal } = invocation;
  const queries = readQueries(file);
  const runtime = await openRuntime(invocation);
  const isScored = queries.some(({ relevant }) => relevant.length > 0);
  // nDCG needs ten results, however many are printed.
  const places = isScored ? Math.max(10, limit) : limit;
  const options = searchOptions(invocation);
  const answers: { readonly query: Query; readonly results: Results }[] = [];
  for (const query of queries)
    answers.push({ query, results: await runtime.searchSkills(query.query, places, options) });
  const scores = isScored ? scoreQueries(answers, runtime.index) : undefined;

  const shown = answers.map(({ query, results }) => ({ ...query, results: results.slice(0, limit) }));
  if (terminal.printJson({ queries: shown, scores })) return EXIT.done;
  for (const { query, results } of shown) {
    const names = results.map(({ name }) => printable(name)).join(', ');
    terminal.out(`${terminal.style('bold', printable(query))}\n  ${names}`);
  }
  if (scores !== undefined)
    for (const [name, value] of Object.entries(scores)) terminal.out(`${name.padEnd(12)} ${value.toFixed(4)}`);
  return EXIT.done;
}

type Results = Awaited<ReturnType<Runtime['searchSkills']>>;

/** Results that are hidden from models because their folder is untrusted, by name. */
async function untrustedNames(runtime: Runtime, results: Results): Promise<ReadonlyMap<string, Distrust>> {
  const names = new Set(results.map(({ name }) => name));
  const found = runtime.index.skills.filter(({ name }) => names.has(name));
  const byFolder = await runtime.distrust(found);
  return new Map(
    found.flatMap(({ name, dir }) => {
      const reason = byFolder.get(dir);
      return reason === undefined ? [] : [[name, reason] as const];
    }),
  );
}

function resultJson(result: Results[number], untrusted: ReadonlyMap<string, Distrust>): object {
  const distrust = untrusted.get(result.name);
  return distrust === undefined ? result : { ...result, trusted: false, distrust };
}

function resultLines(
  results: Results,
  untrusted: ReadonlyMap<string, Distrust>,
  terminal: Terminal,
): readonly string[] {
  return skillRows(
    results.map(({ name, source, description, score }) => {
      const from = untrusted.has(name) ? `${source}, untrusted` : source;
      return { start: score.toFixed(1).padStart(6), name, from, description };
    }),
    terminal,
  );
}

interface SkillRow {
  readonly start: string;
  readonly name: string;
  readonly from: string;
  readonly description: string;
}

function skillRows(rows: readonly SkillRow[], { style, width, isAnswerOnTerminal }: Terminal): readonly string[] {
  const nameWidth = Math.min(40, Math.max(...rows.map(({ name }) => textWidth(printable(name)))));
  return rows.map(({ start, name, from, description }) => {
    const room = width - nameWidth - textWidth(printable(from)) - 12;
    const about = printable(description);
    return [
      start,
      style('bold', padText(printable(name), nameWidth)),
      style('dim', printable(from)),
      isAnswerOnTerminal ? fitText(about, Math.max(20, room)) : about,
    ].join('  ');
  });
}

async function nothingFound(runtime: Runtime, isDeep: boolean): Promise<string> {
  const count = runtime.index.skills.length;
  if (count === 0) return `no skills to search: ${(await runtime.explainEmpty()) ?? ''}`;
  return `no match in ${String(count)} skills; try other words${isDeep ? '' : ' or --deep to search the instructions'}`;
}

interface SearchAvailable {
  readonly home: string | undefined;
  readonly query: string;
  readonly limit: number;
}

async function searchAvailable(runtime: Runtime, { home, query, limit }: SearchAvailable) {
  if (limit === 0) return { results: [], problems: [] };
  const { openSourceStore } = await import('#packs/source-store');
  const store = openSourceStore({ home });
  if (store.files().length === 0) return { results: [], problems: [] };
  const { searchSources } = await import('#packs/search-sources');
  const installed = new Set(runtime.index.skills.map(({ name }) => name));
  return searchSources(query, { store, limit, installed, cacheDir: runtime.cacheDir });
}

type AvailableResult = Awaited<ReturnType<typeof searchAvailable>>['results'][number];

function availableJson({ name, description, from, source, digest, path, score }: AvailableResult): object {
  return {
    name,
    description,
    score,
    from,
    source,
    path: path ?? null,
    digest: digest ?? null,
    install: installCommand({ name, source }),
  };
}

function availableLines(results: readonly AvailableResult[], terminal: Terminal): readonly string[] {
  if (results.length === 0) return [];
  const rows = skillRows(
    results.map((result) => ({ ...result, start: ' '.repeat(6) })),
    terminal,
  );
  const command = (result: AvailableResult): string => terminal.style('dim', installCommand(result));
  return [
    terminal.style('dim', 'not installed:'),
    ...results.flatMap((result, at) => [rows[at] ?? '', `          ${command(result)}`]),
  ];
}

/** Both parts come from outside, so whatever a shell would interpret is quoted, and what cannot be shown is replaced. */
function installCommand({ name, source }: Pick<AvailableResult, 'name' | 'source'>): string {
  return `skillwright install ${shellWord(source)}${isValidName(name) ? ` ${shellWord(name)}` : ''}`;
}

function shellWord(text: string): string {
  const shown = printable(text);
  return /^[\w@%+=:,./#-]+$/.test(shown) && !shown.startsWith('#')
    ? shown
    : `'${shown.replaceAll("'", String.raw`'\''`)}'`;
}
