import path from 'node:path';

import { formatSbom, refuseExisting, sbomOfRoot, writeWholeText } from '#packs';
import { option, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import {
  ROOT_FLAGS,
  accepted,
  completeChange,
  definePackCommand,
  readingSettings,
  settingsFor,
} from './pack-command.ts';
import { printable } from '#core';

export const command = definePackCommand({
  usage: 'sbom [NAME...] [--scope project|user] [--output FILE]',
  details: [
    'Lists installed skills and their files as a CycloneDX 1.6 bill of materials: name, version, license, source, and the SHA-256 of every file. Hashes the current files and reports skills that changed since their installation on stderr.',
  ].join('\n'),
  flags: {
    ...ROOT_FLAGS,
    output: option('FILE', 'write to FILE instead of stdout', { short: 'o' }),
    force: toggle('overwrite an existing file'),
    'dry-run': toggle('do everything except writing'),
  },
  examples: [
    ['skillwright sbom -o skills.cdx.json', 'write the SBOM of this project'],
    ['skillwright sbom pdf-forms', 'print the SBOM of one skill'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags, positionals: names, terminal } = invocation;
    const settings = await (flags.output === undefined ? readingSettings : settingsFor)(invocation);
    await completeChange(invocation, settings.root);
    const made = accepted(sbomOfRoot(settings, { names }));
    terminal.remark(made.notes.map((note) => `note: ${note}`));
    const file = flags.output === undefined ? undefined : path.resolve(settings.surroundings.cwd, flags.output);
    const isDone = file !== undefined && flags['dry-run'] !== true;
    if (file !== undefined && flags.force !== true) refuseExisting(file);
    if (isDone) writeWholeText(file, formatSbom(made.sbom), { force: flags.force === true });
    const { notes, sbom } = made;
    const answer = { ok: true, root: settings.root, path: isDone ? file : null, names: made.names, notes, sbom };
    if (terminal.printJson(answer)) return EXIT.done;
    if (file === undefined) terminal.out(formatSbom(sbom).trimEnd());
    else terminal.out(`${isDone ? 'wrote' : 'would write'} ${printable(file)}`);
    return EXIT.done;
  },
});
