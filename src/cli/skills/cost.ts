import path from 'node:path';

import {
  jsonSchema,
  checkJson,
  countText,
  docsPage,
  estimateTokens,
  invalidInput,
  isForModel,
  isObject,
  buildLedger,
  parseJson,
  printable,
  SHOWN_REASONS,
  SkillError,
  toolTokens,
  type ShownContent,
  type ToolServers,
  VOCABULARY_NAMES,
} from '#core';
import { requestCost } from '#agent';
import { readTextFile } from '#platform';
import { buildSkillTools, type Runtime, type Session, type SkillTools } from '#runtime';
import { serversFor } from '../agent/mcp-servers.ts';
import { defineCommand, option, toggle, type Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Ledger = ReturnType<typeof buildLedger>;

const MAX_EVENTS_BYTES = 256 * 1024 * 1024;
const SHOWN_SKILLS = 20;

const flags = {
  vocabulary: option('NAME', 'count a run with this vocabulary (default: that of the configuration)', {
    choices: VOCABULARY_NAMES,
  }),
  search: toggle('assume that skills are found by search instead of listed in the catalog'),
  events: option('FILE', 'count what a recorded run showed, from its events.jsonl'),
} as const;

export const command = defineCommand({
  usage: 'cost [NAME...] [--vocabulary NAME] [--search] | cost --events FILE',
  details: [
    'Without a name: the tokens that every request of a run carries before a skill is loaded: rules of the agent, guidance, catalog and tools, those of MCP servers included, with and without programs and project files. With names: also the tokens of loading those skills with all their documents. With --events: the tokens a recorded run spent on skills, file by file.',
    `Token counts are estimates; ${docsPage('catalog')} states their error.`,
  ].join('\n'),
  flags,
  examples: [
    ['skillwright cost', 'show the cost of every request'],
    ['skillwright cost csv-report', 'add the cost of loading a skill'],
    ['skillwright cost --events .agent/runs/1/events.jsonl --json', 'show what a run spent on skills'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: options, positionals, terminal, surroundings } = invocation;
    if (options.events !== undefined) {
      const ledger = ledgerFromLines(eventsText(path.resolve(surroundings.cwd, options.events)));
      if (!terminal.printJson({ ledger })) terminal.out(ledgerLines(ledger, terminal));
      return EXIT.done;
    }
    const runtime = await openRuntime(invocation);
    const servers = await serversFor(runtime, terminal);
    const skills = await openTools(invocation, runtime, servers);
    for (const name of positionals) await load(skills, name, options.source);
    const standing = standingCost(skills);
    await servers?.close();
    const { ledger } = skills.session;
    if (terminal.printJson({ vocabulary: skills.session.vocabulary.name, standing, ledger })) return EXIT.done;
    terminal.out(standingLines(standing, terminal));
    if (positionals.length > 0) terminal.out(['', ...ledgerLines(ledger, terminal)]);
    return EXIT.done;
  },
});

async function openTools(
  { flags: options, positionals }: Invocation<typeof flags>,
  runtime: Runtime,
  servers: ToolServers | undefined,
): Promise<SkillTools> {
  const session = await runtime.startSession({
    servers,
    maxLoaded: Math.max(1, positionals.length),
    ...(options.search === true ? { catalog: 'search' } : {}),
  });
  return buildSkillTools(session, runtime);
}

async function load({ session, runtime }: SkillTools, name: string, source: string | undefined): Promise<void> {
  const { id } = runtime.find(name, source);
  const observation = await session.perform({ type: 'load_skill', skill: id, documents: '*' }, { askedBy: 'program' });
  if (observation.type !== 'failed') return;
  const { message, hint } = observation;
  throw new SkillError({ code: 'skill/invalid', message, hint, data: { path: name } });
}

/** A run as `run` starts it, by part; `variants` are the totals of other runs. */
interface StandingCost extends ReturnType<typeof requestCost> {
  /** Tokens of the name and description; the catalog may show less. */
  readonly skills: readonly { readonly name: string; readonly source: string; readonly tokens: number }[];
  /** Tools of MCP servers, which are part of `tools`. */
  readonly servers: readonly { readonly name: string; readonly tools: number; readonly tokens: number }[];
}

function standingCost({ session }: SkillTools): StandingCost {
  const skills = session.index.skills
    .filter(({ state }) => isForModel(state))
    .map(({ name, source, description }) => ({ name, source, tokens: estimateTokens(`${name} ${description}`) }))
    .sort((a, b) => b.tokens - a.tokens);
  return { ...requestCost(session), skills, servers: serverCost(session) };
}

function serverCost({ vocabulary }: Session): StandingCost['servers'] {
  const tools = vocabulary.tools.flatMap(({ name, description, foreignSchema }) =>
    foreignSchema === undefined ? [] : [{ name, description, inputSchema: foreignSchema }],
  );
  const names = new Set(tools.map(({ name }) => name.split('__')[1] ?? name));
  return [...names].map((name) => {
    const own = tools.filter((tool) => tool.name.startsWith(`mcp__${name}__`));
    return { name, tools: own.length, tokens: toolTokens(own) };
  });
}

function standingLines(cost: StandingCost, { style }: Terminal): readonly string[] {
  const more = cost.skills.length - SHOWN_SKILLS;
  return [
    `${style('bold', 'Every request of a run')}: about ${String(cost.total)} tokens`,
    `  rules ${String(cost.rules)}, guidance ${String(cost.guidance)}, catalog ${String(cost.catalog)}, tools ${String(cost.tools)}`,
    ...cost.variants.map(
      ({ execution, host, tokens }) => `  ${String(tokens).padStart(6)}  ${featuresText(execution, host)}`,
    ),
    ...(cost.servers.length === 0 ? [] : [style('bold', 'Tools of MCP servers, counted above')]),
    ...cost.servers.map(
      ({ name, tools, tokens }) => `  ${String(tokens).padStart(6)}  ${printable(name)}, ${countText(tools, 'tool')}`,
    ),
    style('bold', 'Skills in the catalog'),
    ...cost.skills
      .slice(0, SHOWN_SKILLS)
      .map(({ name, source, tokens }) => `  ${String(tokens).padStart(6)}  ${printable(`${source}/${name}`)}`),
    ...(more > 0 ? [`          and ${String(more)} more (listed by --json)`] : []),
  ];
}

function featuresText(execution: boolean, host: boolean): string {
  const features = [...(execution ? ['programs'] : []), ...(host ? ['project files'] : [])];
  return features.length === 0 ? 'without programs and project files' : `with ${features.join(' and ')}`;
}

function ledgerLines({ rows, tokens, totalTokens }: Ledger, { style }: Terminal): readonly string[] {
  return [
    style('bold', 'tokens  times  content'),
    ...rows.map(
      (row) =>
        `${String(row.totalTokens).padStart(6)}  ${String(row.times).padStart(5)}  ${printable(row.skill || 'catalog')}` +
        `${row.path === '' ? '' : ` ${printable(row.path)}`} ${style('dim', `${row.reason} ${row.digest.slice(0, 15)}`)}`,
    ),
    `${String(totalTokens).padStart(6)}         in total (estimated); distinct content: ${String(tokens)}`,
  ];
}

function eventsText(file: string): string {
  const read = readTextFile(file, MAX_EVENTS_BYTES);
  if (read.type === 'read') return read.text;
  const cause = read.type === 'absent' ? 'file not found' : read.reason;
  throw new SkillError({
    code: 'io/failed',
    message: `cannot read the events file: ${cause}`,
    hint: 'name the events.jsonl of a run',
    data: { path: file, cause },
  });
}

const count = { type: 'integer', description: 'A count.', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const words = jsonSchema.text('Text.');
const SHOWN = jsonSchema.section(
  'Skill content that was shown to the model.',
  {
    skill: words,
    path: words,
    digest: words,
    characters: count,
    tokens: count,
    reason: jsonSchema.choice('Why.', SHOWN_REASONS),
  },
  ['skill', 'path', 'digest', 'characters', 'tokens', 'reason'],
);

/** The ledger of a run from its events, one JSON value a line. Events of other kinds are passed over. */
export function ledgerFromLines(lines: string): Ledger {
  const events = lines.split('\n').flatMap((line, place) => (line.trim() === '' ? [] : shownOn(line, place + 1)));
  return buildLedger(events.map((shown) => ({ type: 'content-show', shown })));
}

function shownOn(line: string, number: number): readonly ShownContent[] {
  const event = parsed(line, number);
  if (event['type'] === 'content-show') return [checked(event['shown'], number)];
  if (event['type'] !== 'request-start') return [];
  const shown = event['shown'];
  if (!Array.isArray(shown)) throw invalid(number, 'expected a list named "shown"');
  return shown.map((item: unknown) => checked(item, number));
}

function parsed(line: string, number: number): Readonly<Record<string, unknown>> {
  const value = parseJson(line);
  if (value === undefined) throw invalid(number, 'it is not JSON');
  if (!isObject(value) || typeof value['type'] !== 'string') throw invalid(number, 'expected an object with a "type"');
  return value;
}

function checked(value: unknown, number: number): ShownContent {
  if (isShown(value)) return value;
  const [problem] = checkJson(value, SHOWN);
  throw invalid(number, `${problem?.path.join('.') ?? 'it'}: expected ${problem?.expected ?? 'shown content'}`);
}

function isShown(value: unknown): value is ShownContent {
  return checkJson(value, SHOWN).length === 0;
}

function invalid(line: number, why: string): SkillError {
  return invalidInput(
    `line ${String(line)} is not a session event: ${why}`,
    'one JSON event per line',
    'pass the events.jsonl of a run',
  );
}
