import {
  CONFIG_JSON_SCHEMA,
  isObject,
  nearest,
  printable,
  quoted,
  SETTINGS,
  type Config,
  type LoadedConfig,
} from '#core';
import { fitText, padText, textWidth } from '#platform';
import { isSteering } from '#runtime';
import { defineCommand, option, toggle, type Flags, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { configFor } from '../surroundings.ts';
import { plainJson } from '../json.ts';
import { diagnosticJson, diagnosticText } from '../skills/show-diagnostics.ts';
import { askStreams, confirm } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { planConfig, showPlan, SYSTEMS, writeConfig } from './config-init.ts';

type ExplainedValue = Awaited<ReturnType<LoadedConfig['explain']>>[number];

const CONFIG_FLAGS = {
  schema: toggle('print the JSON Schema of config.json'),
  from: option('SYSTEM', `init: the system of this project: ${SYSTEMS.join(', ')}`, { choices: SYSTEMS }),
  'dry-run': toggle('init: print the file without writing it'),
  yes: toggle('init: do not ask for confirmation', { short: 'y' }),
} as const satisfies Flags;

export const command = defineCommand({
  usage: 'config [explain [KEY]] [--schema] | config init --from SYSTEM [--dry-run] [--yes]',
  details: [
    'Prints the effective configuration. Later layers override earlier ones: built-in defaults, defaults of the vocabulary, ~/.agent/config.json, .agent/config.json of the project, SKILLWRIGHT_ variables, --set. A project file may tighten security settings of the user, never loosen them.',
    'explain shows each setting, its origin and what it overrides.',
    'init writes .agent/config.json for a project of another agent system: its vocabulary, and what its own configuration says (config.toml of skills-agent, DOCUMENT_ROOT or SKILLS_ROOT in .env). It shows the file first, names what it ignored, and overwrites nothing.',
    'Exit code 1: a file or a variable is invalid, or init wrote nothing.',
  ].join('\n'),
  flags: CONFIG_FLAGS,
  examples: [
    ['skillwright config', 'show the effective configuration and its files'],
    ['skillwright config explain catalog', 'show the origin of each catalog setting'],
    ['skillwright config --schema > config.schema.json', 'write the schema for an editor'],
    ['skillwright config init --from trpc', 'run a project of trpc-agent-go here'],
  ],
  positionals: [0, 2],
  async run(invocation) {
    const { flags, positionals, terminal } = invocation;
    const [word, key] = positionals;
    if (word === 'init') return initConfig(invocation);
    if (word !== undefined && word !== 'explain')
      throw usageError(`unknown argument ${quoted(word, 200)}`, 'usage: skillwright config [explain [KEY]] [--schema]');
    if (flags.from !== undefined) throw usageError('--from needs init', 'write skillwright config init --from SYSTEM');
    if (flags.schema === true) {
      terminal.out(plainJson(CONFIG_JSON_SCHEMA));
      return EXIT.done;
    }
    const loaded = await configFor(invocation);
    if (word === 'explain') showExplained(await explained(loaded, key), loaded, terminal);
    else showConfig(loaded, terminal);
    const isInvalid = loaded.diagnostics.some(({ severity }) => severity === 'error');
    return isInvalid ? EXIT.failed : EXIT.done;
  },
});

async function initConfig({
  flags,
  positionals,
  terminal,
  signal,
  surroundings,
}: Invocation<typeof CONFIG_FLAGS>): Promise<number> {
  const { from } = flags;
  if (positionals.length > 1) throw usageError('init takes no argument', 'write skillwright config init --from SYSTEM');
  if (from === undefined) throw usageError('--from is missing', `name the system: ${SYSTEMS.join(', ')}`);
  const plan = await planConfig(from, surroundings);
  if (!terminal.isJson) showPlan(plan, terminal);
  const isConfirmed =
    flags['dry-run'] !== true &&
    (flags.yes === true || (await confirm(askStreams(process), `Write ${printable(plan.file)}?`, { signal })));
  if (isConfirmed) writeConfig(plan);
  terminal.printJson({ ...plan, written: isConfirmed });
  if (isConfirmed) terminal.remark(`wrote ${printable(plan.file)}; next: skillwright list`);
  else if (flags['dry-run'] !== true) terminal.err('nothing was written: confirm, or pass --yes');
  return isConfirmed || flags['dry-run'] === true ? EXIT.done : EXIT.failed;
}

function showConfig(loaded: LoadedConfig, terminal: Terminal): void {
  const { files, policies, diagnostics, isBroken } = loaded;
  const config = shownConfig(loaded.config);
  if (terminal.printJson({ config, policies, files, isBroken, diagnostics: diagnostics.map(diagnosticJson) })) return;
  terminal.remark(files.map(({ path, status }) => `${status.padEnd(7)} ${printable(path)}`));
  terminal.out(plainJson(config));
  if (policies.some(({ layer }) => layer === 'project'))
    terminal.remark('rules of the project restrict these further: skillwright config explain policy');
  showDiagnostics(loaded, terminal);
}

function showDiagnostics({ diagnostics, isBroken }: LoadedConfig, terminal: Terminal): void {
  terminal.err(diagnostics.map((diagnostic) => diagnosticText(diagnostic, terminal)));
  if (isBroken) terminal.remark('the configuration is invalid: only reading is allowed until it is fixed');
}

async function explained({ explain }: LoadedConfig, key: string | undefined): Promise<readonly ExplainedValue[]> {
  const all = (await explain()).map(shownValue);
  if (key === undefined) return all;
  const found = all.filter((row) => row.key === key || row.key.startsWith(`${key}.`));
  const isKnown = SETTINGS.some((setting) => setting.key === key || setting.key.startsWith(`${key}.`));
  if (found.length > 0 || isKnown) return found;
  const [guess] = nearest(
    key,
    [...all, ...SETTINGS].map((row) => row.key),
    1,
  );
  throw usageError(
    `unknown setting ${quoted(key, 200)}`,
    guess === undefined ? 'list all settings with skillwright config explain' : `did you mean ${guess}?`,
  );
}

function showExplained(rows: readonly ExplainedValue[], loaded: LoadedConfig, terminal: Terminal): void {
  const { diagnostics, isBroken } = loaded;
  if (terminal.printJson({ settings: rows, isBroken, diagnostics: diagnostics.map(diagnosticJson) })) return;
  const cells = rows.map((row) => [
    printable(row.key),
    valueText(row.value, terminal),
    [row, ...row.also].map(originText).join(' and '),
    row.overridden.map((origin) => `overrides ${valueText(origin.value, terminal)} (${originText(origin)})`).join(', '),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...cells.map((cell) => textWidth(cell[column] ?? ''))));
  for (const cell of cells)
    terminal.out(
      cell
        .map((text, column) => padText(text, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  if (rows.some(({ key, layer }) => key === 'policy.allow' && layer === 'project'))
    terminal.remark('allow rules of a project grant nothing: they are exceptions to its own policy.default');
  if (rows.length === 0) terminal.remark('not set, and there is no default');
  showDiagnostics(loaded, terminal);
}

function valueText(value: unknown, { isAnswerOnTerminal, width }: Terminal): string {
  const text = printable(JSON.stringify(value) ?? '');
  return isAnswerOnTerminal ? fitText(text, Math.floor(width / 3)) : text;
}

function originText({ layer, where }: ExplainedValue['also'][number]): string {
  return where === '' ? layer : `${layer} ${printable(where)}`;
}

/** A configuration as it may be shown. */
export function shownConfig(config: Config): Config {
  // Texts are replaced by texts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return hide(config, []) as Config;
}

/** The same for one explained value. */
export function shownValue(row: ExplainedValue): ExplainedValue {
  const [, group = row.key, name] = /^(telemetry\.headers|model\.params|mcp_servers)\.(.*)$/s.exec(row.key) ?? [];
  const place = [...group.split('.'), ...(name === undefined ? [] : [name])];
  const shown = <S extends ExplainedValue['also'][number]>(origin: S): S => ({
    ...origin,
    value: hide(origin.value, place),
  });
  return { ...shown(row), also: row.also.map(shown), overridden: row.overridden.map(shown) };
}

function hide(value: unknown, place: readonly string[]): unknown {
  if (isHidden(place, value)) return '[hidden]';
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, hide(item, [...place, name])]));
}

/** Headers, texts for MCP servers, and what is named like a key belong on no screen and in no report. Sources of secrets are shown. */
function isHidden([group, name, part, ...deeper]: readonly string[], value: unknown): boolean {
  if (group === 'mcp_servers')
    return /^(?:env|headers)$/.test(part ?? '') && deeper.length === 1 && typeof value === 'string';
  if (part === undefined || deeper.length > 0) return false;
  return group === 'telemetry' ? name === 'headers' : group === 'model' && name === 'params' && isSteering(part, value);
}
