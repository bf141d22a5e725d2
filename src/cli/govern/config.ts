import {
  CONFIG_JSON_SCHEMA,
  isObject,
  nearest,
  printable,
  quoted,
  SETTINGS,
  withValue,
  type Config,
  type LoadedConfig,
} from '#core';
import { fitText, padText, textWidth } from '#platform';
import { isSteering } from '#runtime';
import { defineCommand, toggle } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { configFor } from '../surroundings.ts';
import { plainJson } from '../json.ts';
import { diagnosticJson, diagnosticText } from '../skills/show-diagnostics.ts';
import type { Terminal } from '../terminal/terminal.ts';

type ExplainedValue = Awaited<ReturnType<LoadedConfig['explain']>>[number];

export const command = defineCommand({
  usage: 'config [explain [KEY]] [--schema]',
  details: [
    'Prints the effective configuration. Later layers override earlier ones: built-in defaults, ~/.agent/config.json, .agent/config.json of the project, SKILLWRIGHT_ variables, --set. A project file may tighten security settings of the user, never loosen them.',
    'explain shows each setting, its origin and what it overrides.',
    'Exit code 1: a file or a variable is invalid.',
  ].join('\n'),
  flags: { schema: toggle('print the JSON Schema of config.json') },
  examples: [
    ['skillwright config', 'show the effective configuration and its files'],
    ['skillwright config explain catalog', 'show the origin of each catalog setting'],
    ['skillwright config --schema > config.schema.json', 'write the schema for an editor'],
  ],
  positionals: [0, 2],
  async run(invocation) {
    const { flags, positionals, terminal } = invocation;
    const [word, key] = positionals;
    if (word !== undefined && word !== 'explain')
      throw new UsageError(
        `unknown argument ${quoted(word, 200)}`,
        'usage: skillwright config [explain [KEY]] [--schema]',
      );
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
  throw new UsageError(
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
    row.overridden.map((said) => `overrides ${valueText(said.value, terminal)} (${originText(said)})`).join(', '),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...cells.map((cell) => textWidth(cell[column] ?? ''))));
  for (const cell of cells)
    terminal.out(
      cell
        .map((text, column) => padText(text, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  if (rows.length === 0) terminal.remark('not set, and there is no default');
  showDiagnostics(loaded, terminal);
}

function valueText(value: unknown, { isAnswerOnTerminal, width }: Terminal): string {
  const text = printable(JSON.stringify(value) ?? '');
  return isAnswerOnTerminal ? fitText(text, Math.floor(width / 3)) : text;
}

function originText({ layer, where }: Awaited<ReturnType<LoadedConfig['explain']>>[number]['also'][number]): string {
  return where === '' ? layer : `${layer} ${printable(where)}`;
}

const HIDDEN = '[hidden]';

/** A configuration as it may be shown: headers and what is named like a key belong on no screen and in no report. */
export function shownConfig(config: Config): Config {
  const paths = [
    ...Object.keys(config.telemetry?.headers ?? {}).map((name) => ['telemetry', 'headers', name]),
    ...plainServerValues(config),
    ...Object.entries(config.model?.params ?? {})
      .filter(([name, value]) => isSteering(name, value))
      .map(([name]) => ['model', 'params', name]),
  ];
  return paths.reduce((shown, path) => withValue(shown, path, HIDDEN), config);
}

/** Texts in the environment and the headers of MCP servers; sources of secrets are shown. */
function plainServerValues({ mcp_servers: servers = {} }: Config): readonly (readonly string[])[] {
  return Object.entries(servers).flatMap(([server, { env = {}, headers = {} }]) =>
    Object.entries({ env, headers }).flatMap(([part, values]) =>
      Object.entries(values).flatMap(([name, value]) =>
        typeof value === 'string' ? [['mcp_servers', server, part, name]] : [],
      ),
    ),
  );
}

/** The same for one explained value. Where secrets of skills come from is shown; that is no secret. */
export function shownValue(row: ExplainedValue): ExplainedValue {
  const shown = <S extends Awaited<ReturnType<LoadedConfig['explain']>>[number]['also'][number]>(said: S): S =>
    isHidden(row.key, said.value) ? { ...said, value: HIDDEN } : { ...said, value: shownServer(row.key, said.value) };
  return { ...shown(row), also: row.also.map(shown), overridden: row.overridden.map(shown) };
}

function shownServer(key: string, value: unknown): unknown {
  if (!key.startsWith('mcp_servers.') || !isObject(value)) return value;
  const hide = (values: unknown): unknown =>
    isObject(values)
      ? Object.fromEntries(Object.entries(values).map(([name, one]) => [name, typeof one === 'string' ? HIDDEN : one]))
      : values;
  return {
    ...value,
    ...('env' in value ? { env: hide(value['env']) } : {}),
    ...('headers' in value ? { headers: hide(value['headers']) } : {}),
  };
}

function isHidden(key: string, value: unknown): boolean {
  const params = 'model.params.';
  return (
    key.startsWith('telemetry.headers.') || (key.startsWith(params) && isSteering(key.slice(params.length), value))
  );
}
