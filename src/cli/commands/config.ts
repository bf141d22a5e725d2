import { CONFIG_JSON_SCHEMA } from '../../core/config.ts';
import { printable } from '../../core/text.ts';
import { loadConfig, surroundingsOf } from '../../runtime/config.ts';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { diagnosticJson, diagnosticText } from '../show-diagnostics.ts';

export const command = defineCommand({
  usage: 'config [--schema]',
  details: [
    'Prints the configuration in use: the project’s .agent/config.json over that of the home folder.',
    'A project’s file may tighten what the user’s says about safety, never loosen it. Exit 1 when a file cannot be used.',
  ].join('\n'),
  flags: { schema: { type: 'boolean', about: 'print the JSON Schema of the file' } },
  examples: [
    ['skillwright config', 'what is in force, and from which files'],
    ['skillwright config --schema > config.schema.json', 'for an editor'],
  ],
  positionals: [0, 0],
  async run({ flags, terminal }) {
    if (flags.schema === true) {
      terminal.out(JSON.stringify(CONFIG_JSON_SCHEMA, undefined, 2));
      return EXIT.done;
    }
    const { config, files, diagnostics } = await loadConfig(
      surroundingsOf(flags.cwd === undefined ? {} : { cwd: flags.cwd }),
      flags.config,
    );
    if (flags.json === true) terminal.out(jsonText({ config, files, diagnostics: diagnostics.map(diagnosticJson) }));
    else {
      for (const { path, status } of files) terminal.remark(`${status.padEnd(7)} ${printable(path)}`);
      terminal.out(JSON.stringify(config, undefined, 2));
      for (const diagnostic of diagnostics) terminal.err(diagnosticText(diagnostic, terminal));
    }
    return diagnostics.some(({ severity }) => severity === 'error') ? EXIT.failed : EXIT.done;
  },
});
