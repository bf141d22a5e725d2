import { defined, estimateTokens, printable } from '#core';
import type { Catalog } from '#skills';
import type { Runtime } from '#runtime';
import { wholeNumber } from '../arguments.ts';
import { defineCommand, option, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const command = defineCommand({
  usage: 'catalog [--budget TOKENS] [--format FORMAT] [--explain]',
  details: [
    'Prints what a model sees of all skills before it loads one: names, descriptions and sources, within a token budget.',
    'Each visible skill is in one state: full, shortened, name only or omitted. The text states what is left out.',
  ].join('\n'),
  flags: {
    budget: option('TOKENS', 'limit the text to this many estimated tokens (default: catalog.budget_tokens, or 4000)'),
    format: option(
      'FORMAT',
      'print as xml, markdown, lines, list or expertise (default: catalog.format, or that of the vocabulary)',
      {
        choices: ['xml', 'markdown', 'lines', 'list', 'expertise'],
      },
    ),
    explain: toggle('print the state and the cost of each skill instead of the text'),
  },
  examples: [
    ['skillwright catalog', 'print the catalog text'],
    ['skillwright catalog --budget 1000 --explain', 'show which skills are shortened or omitted at 1,000 tokens'],
    ['skillwright catalog --json | jq .omitted', 'list skills that a model finds only by search'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags, terminal } = invocation;
    const budget = wholeNumber(flags.budget, '--budget', { least: 1, most: 10_000_000 });
    const { format } = flags;
    const runtime = await openRuntime(invocation);
    // The catalog of a session is what a model gets in the configured vocabulary.
    const session = await runtime.startSession({ catalog: defined({ budget, format }) });
    const { catalog } = session;
    await session.close();
    const explain = flags.explain === true ? { explain: explained(runtime, catalog) } : {};
    if (!terminal.printJson({ ...catalog, ...explain }))
      terminal.out(flags.explain === true ? explainLines(runtime, catalog, terminal) : catalog.text.trimEnd());
    if (catalog.emptyReason !== undefined) terminal.remark(`no skill for a model: ${catalog.emptyReason}`);
    const limit = budget ?? runtime.config.catalog?.budget_tokens;
    if (limit !== undefined && catalog.tokens > limit) {
      terminal.remark(
        `about ${String(catalog.tokens)} tokens, over the budget of ${String(limit)}: pinned skills and the frame are never shortened`,
      );
    }
    return EXIT.done;
  },
});

interface ExplainedSkill {
  readonly name: string;
  readonly state: string;
  readonly visibility: string;
  readonly tokens: number;
  readonly reason: string;
}

function explained({ index }: Runtime, catalog: Catalog): readonly ExplainedSkill[] {
  const states = new Map<string, string>();
  for (const state of ['full', 'shortened', 'nameOnly', 'omitted'] as const)
    for (const name of catalog[state]) states.set(name, state);
  return index.skills.map(({ name, description, state: visibility }) => {
    const state = states.get(name) ?? 'hidden';
    return {
      name,
      state,
      visibility,
      tokens: estimateTokens(`${name} ${description}`),
      reason: explainState(state, visibility),
    };
  });
}

function explainState(state: string, visibility: string): string {
  if (visibility === 'pinned' || visibility === 'required') return `${visibility}: never shortened`;
  if (visibility === 'name-only') return 'configured as name-only';
  if (state === 'hidden') return visibility === 'disabled' ? 'disabled' : 'only the user may invoke it';
  if (state === 'full') return 'fits the budget';
  if (state === 'shortened') return 'shortened to fit the budget';
  return state === 'nameOnly' ? 'no budget left for the description' : 'no budget left; found by search';
}

function explainLines(runtime: Runtime, catalog: Catalog, { style }: Terminal): readonly string[] {
  const rows = explained(runtime, catalog);
  const width = Math.min(40, Math.max(4, ...rows.map(({ name }) => printable(name).length)));
  return [
    style('bold', `${'skill'.padEnd(width)}  state      tokens  reason`),
    ...rows.map(
      ({ name, state, tokens, reason }) =>
        `${printable(name).padEnd(width)}  ${state.padEnd(9)}  ${String(tokens).padStart(6)}  ${style('dim', reason)}`,
    ),
    '',
    `${String(catalog.tokens)} tokens in total (estimated): ${String(catalog.full.length)} full, ${String(catalog.shortened.length)} shortened, ` +
      `${String(catalog.nameOnly.length)} name only, ${String(catalog.omitted.length)} omitted`,
  ];
}
