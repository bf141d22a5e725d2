import { CATALOG_FORMATS } from '../../core/catalog-layout.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { printable } from '../../core/text/text.ts';
import { estimateTokens } from '../../core/tokens.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { wholeNumber } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const command = defineCommand({
  usage: 'catalog [--budget TOKENS] [--format xml|markdown|lines] [--explain]',
  details: [
    'Prints what a model sees of all skills before it selects one: names, descriptions and sources, under a budget of tokens.',
    'Each visible skill is in exactly one state: full, shortened, name only, omitted. The text says what is missing from it.',
  ].join('\n'),
  flags: {
    budget: {
      type: 'string',
      value: 'TOKENS',
      about: 'estimated tokens the text may cost (4000, or catalog.budget_tokens)',
    },
    format: {
      type: 'string',
      value: 'FORMAT',
      choices: CATALOG_FORMATS,
      about: 'xml, markdown, or lines (name=... | source=... | description=...)',
    },
    explain: { type: 'boolean', about: 'show the state and the cost of each skill instead of the text' },
  },
  examples: [
    ['skillwright catalog', 'the text a model gets'],
    ['skillwright catalog --budget 1000 --explain', 'who is shortened or left out at 1,000 tokens'],
    ['skillwright catalog --json | jq .omitted', 'what the model can only find by searching'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags, terminal } = invocation;
    const budget = wholeNumber(flags.budget, '--budget', { least: 1, most: 10_000_000 });
    const format = CATALOG_FORMATS.find((name) => name === flags.format);
    const runtime = await openRuntime(invocation);
    const catalog = runtime.catalog({
      ...(budget === undefined ? {} : { budget }),
      ...(format === undefined ? {} : { format }),
      // As in a session: skills of a folder that nobody trusted are not shown.
      without: await runtime.distrust(runtime.index.skills),
    });
    if (flags.json === true)
      terminal.out(
        jsonText({ ...catalog, ...(flags.explain === true ? { explain: explained(runtime, catalog) } : {}) }),
      );
    else if (flags.explain === true) for (const line of explainLines(runtime, catalog, terminal)) terminal.out(line);
    else terminal.out(catalog.text.trimEnd());
    const limit = budget ?? runtime.config.catalog?.budget_tokens;
    if (limit !== undefined && catalog.tokens > limit) {
      terminal.remark(
        `about ${String(catalog.tokens)} tokens, over the budget of ${String(limit)}: pinned skills and the frame stay whole`,
      );
    }
    return EXIT.done;
  },
});

interface Explained {
  readonly name: string;
  readonly state: string;
  readonly visibility: string;
  readonly tokens: number;
  readonly reason: string;
}

function explained({ index }: Runtime, catalog: Catalog): readonly Explained[] {
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
      reason: reasonOf(state, visibility),
    };
  });
}

function reasonOf(state: string, visibility: string): string {
  if (visibility === 'pinned' || visibility === 'required') return `${visibility}: whole whatever the budget`;
  if (visibility === 'name-only') return 'the configuration shows its name only';
  if (state === 'hidden')
    return visibility === 'disabled' ? 'disabled' : 'for people only: the model may not choose it';
  if (state === 'full') return 'fits the budget';
  if (state === 'shortened') return 'cut so that all skills fit';
  return state === 'nameOnly' ? 'no room for its description' : 'no room; found by searching';
}

function explainLines(runtime: Runtime, catalog: Catalog, { style }: Terminal): readonly string[] {
  const rows = explained(runtime, catalog);
  const width = Math.min(40, Math.max(4, ...rows.map(({ name }) => printable(name).length)));
  return [
    style('bold', `${'skill'.padEnd(width)}  state      tokens  why`),
    ...rows.map(
      ({ name, state, tokens, reason }) =>
        `${printable(name).padEnd(width)}  ${state.padEnd(9)}  ${String(tokens).padStart(6)}  ${style('dim', reason)}`,
    ),
    '',
    `${String(catalog.tokens)} tokens in all (estimated): ${String(catalog.full.length)} full, ${String(catalog.shortened.length)} shortened, ` +
      `${String(catalog.nameOnly.length)} by name only, ${String(catalog.omitted.length)} omitted`,
  ];
}
