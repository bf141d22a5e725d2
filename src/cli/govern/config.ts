import { CONFIG_JSON_SCHEMA } from '../../core/config/config.ts';
import { shownConfig, shownValue } from './config-display.ts';
import type { ExplainedValue, LayerValue } from '../../core/config/config-merge.ts';
import { SETTINGS } from '../../core/config/config-settings.ts';
import { nearest } from '../../core/nearest.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { loadConfig, surroundingsOf } from '../../runtime/config/config.ts';
import type { LoadedConfig } from '../../core/config/loaded-config.ts';
import { defineCommand } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import { parseSettings } from '../arguments.ts';
import { diagnosticJson, diagnosticText } from '../skills/show-diagnostics.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { fitText, padText, textWidth } from '../../platform/text-width.ts';

export const command = defineCommand({
  usage: 'config [explain [KEY]] [--schema]',
  details: [
    'Prints the configuration in use. Later ones win: built in, .agent/config.json of the home folder, that of the project,',
    'SKILLWRIGHT_ variables, --set. A project’s file may tighten what the user’s says about safety, never loosen it.',
    'explain shows each setting, who says so and what that overrides. Exit 1 when a file or a variable cannot be used.',
  ].join('\n'),
  flags: { schema: { type: 'boolean', about: 'print the JSON Schema of the file' } },
  examples: [
    ['skillwright config', 'what is in force, and from which files'],
    ['skillwright config explain catalog', 'where each setting of the catalog comes from'],
    ['skillwright config --schema > config.schema.json', 'for an editor'],
  ],
  positionals: [0, 2],
  async run({ flags, positionals, terminal }) {
    const [word, key] = positionals;
    if (word !== undefined && word !== 'explain')
      throw new UsageError('there is something too much', 'usage: skillwright config [explain [KEY]] [--schema]');
    if (flags.schema === true) {
      terminal.out(JSON.stringify(CONFIG_JSON_SCHEMA, undefined, 2));
      return EXIT.done;
    }
    const config = await parseSettings(flags.set);
    const loaded = await loadConfig(
      surroundingsOf(flags.cwd === undefined ? {} : { cwd: flags.cwd }),
      flags.config,
      config === undefined ? undefined : { config, where: '--set' },
    );
    if (word === 'explain') showExplained(await explained(loaded, key), loaded, flags.json === true, terminal);
    else showConfig(loaded, flags.json === true, terminal);
    const isWrong = loaded.diagnostics.some(({ severity }) => severity === 'error');
    return isWrong ? EXIT.failed : EXIT.done;
  },
});

function showConfig(loaded: LoadedConfig, isJson: boolean, terminal: Terminal): void {
  const { files, policies, diagnostics, isBroken } = loaded;
  const config = shownConfig(loaded.config);
  if (isJson) {
    terminal.out(jsonText({ config, policies, files, isBroken, diagnostics: diagnostics.map(diagnosticJson) }));
    return;
  }
  for (const { path, status } of files) terminal.remark(`${status.padEnd(7)} ${printable(path)}`);
  terminal.out(JSON.stringify(config, undefined, 2));
  if (policies.some(({ layer }) => layer === 'project'))
    terminal.remark('rules of the project take away from these: skillwright config explain policy');
  showDiagnostics(loaded, terminal);
}

function showDiagnostics({ diagnostics, isBroken }: LoadedConfig, terminal: Terminal): void {
  for (const diagnostic of diagnostics) terminal.err(diagnosticText(diagnostic, terminal));
  if (isBroken)
    terminal.remark('a part of the configuration cannot be used: until it is mended only reading is allowed');
}

/** The settings at a key or below it; all where none is named. */
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
    `there is no setting ${quoted(key, 200)}`,
    guess === undefined ? 'skillwright config explain shows all' : `did you mean ${guess}?`,
  );
}

function showExplained(
  rows: readonly ExplainedValue[],
  loaded: LoadedConfig,
  isJson: boolean,
  terminal: Terminal,
): void {
  const { diagnostics, isBroken } = loaded;
  if (isJson) {
    terminal.out(jsonText({ settings: rows, isBroken, diagnostics: diagnostics.map(diagnosticJson) }));
    return;
  }
  const cells = rows.map((row) => [
    printable(row.key),
    valueText(row.value, terminal),
    [row, ...row.also].map(originText).join(' and '),
    row.overridden.map((said) => `over ${valueText(said.value, terminal)} (${originText(said)})`).join(', '),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...cells.map((cell) => textWidth(cell[column] ?? ''))));
  for (const cell of cells)
    terminal.out(
      cell
        .map((text, column) => padText(text, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  if (rows.length === 0) terminal.remark('nobody says anything about it, and nothing is built in');
  showDiagnostics(loaded, terminal);
}

function valueText(value: unknown, { isAnswerOnTerminal, width }: Terminal): string {
  const text = printable(JSON.stringify(value) ?? '');
  return isAnswerOnTerminal ? fitText(text, Math.floor(width / 3)) : text;
}

function originText({ layer, where }: LayerValue): string {
  return where === '' ? layer : `${layer} ${printable(where)}`;
}
