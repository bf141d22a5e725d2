import path from 'node:path';

import { writeSbom } from '#packs';
import { option, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { ROOT_FLAGS, definePackCommand, readingSettings, rootOptions, settingsFor } from './pack-command.ts';
import { printable } from '#core';

export const command = definePackCommand({
  usage: 'sbom [NAME...] [--scope project|user] [--out FILE]',
  details: [
    'Lists installed skills, Agent Plugins and their files as a CycloneDX 1.6 bill of materials: name, version, license, source, and the SHA-256 of every file. Hashes the current files and reports those that changed since their installation on stderr.',
  ].join('\n'),
  flags: {
    ...ROOT_FLAGS,
    out: option('FILE', 'write to FILE instead of stdout', { short: 'o', formerly: 'output' }),
    force: toggle('overwrite an existing file'),
    'dry-run': toggle('do everything except writing'),
  },
  examples: [
    ['skillwright sbom -o skills.cdx.json', 'write the SBOM of this project'],
    ['skillwright sbom pdf-forms', 'print the SBOM of one skill'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags, positionals, terminal } = invocation;
    const settings = await (flags.out === undefined ? readingSettings : settingsFor)(invocation);
    const file = flags.out === undefined ? undefined : path.resolve(settings.surroundings.cwd, flags.out);
    const isDry = flags['dry-run'] === true;
    const options = { ...rootOptions(invocation, settings), names: positionals, file, dryRun: isDry };
    const { notes, sbom, names, text } = await writeSbom({ ...options, force: flags.force === true });
    terminal.remark(notes.map((note) => `note: ${note}`));
    const answer = { ok: true, root: settings.root, path: isDry ? null : (file ?? null), names, notes, sbom };
    if (terminal.printJson(answer)) return EXIT.done;
    if (file === undefined) terminal.out(text.trimEnd());
    else terminal.out(`${isDry ? 'would write' : 'wrote'} ${printable(file)}`);
    return EXIT.done;
  },
});
