import { printable } from '#core';
import { emptyTrash, listSkillBackups, restoreAll, restoreSkill } from '#packs';
import { option, toggle } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { CHANGE_FLAGS, accepted, asker, definePackCommand, readingSettings, settingsFor } from './pack-command.ts';
import { keptLine, reportChange } from './show-change.ts';

export const command = definePackCommand({
  usage: 'restore NAME [--id ID] [--force] | restore [--all] | restore --list | restore --empty-trash',
  details: [
    'Restores an uninstalled skill, its lock entry and its links for agents from the trash of its root: the newest, or the one of --id.',
    'Without NAME, restores every skill of the trash that is not installed.',
  ].join('\n'),
  flags: {
    ...CHANGE_FLAGS,
    id: option('ID', 'restore this entry of --list (default: the newest)'),
    all: toggle('restore every skill of the trash that is not installed (the default without NAME)'),
    list: toggle('list the trash'),
    force: toggle('replace an existing skill of that name, and keep a copy'),
    'empty-trash': toggle('delete everything in the trash'),
  },
  examples: [
    ['skillwright restore --list', 'list the trash'],
    ['skillwright restore pdf-forms', 'restore a skill'],
  ],
  positionals: [0, 1],
  async run(invocation) {
    const { flags, positionals, terminal, signal } = invocation;
    const [name] = positionals;
    const modes = [name !== undefined, flags.all === true, flags.list === true, flags['empty-trash'] === true];
    if (modes.filter(Boolean).length > 1)
      throw new UsageError(
        'expected at most one of NAME, --all, --list and --empty-trash',
        'see skillwright restore --help',
      );
    if (name === undefined && flags.id !== undefined)
      throw new UsageError('expected NAME with --id', 'see skillwright restore --list');
    const settings = await (invocation.flags.list === true ? readingSettings : settingsFor)(invocation);
    const common = { settings, signal, onNote: (note: string) => terminal.remark(`note: ${note}`) };
    if (flags.list === true) {
      const kept = accepted(await listSkillBackups(common, 'trash'));
      if (!terminal.printJson({ root: settings.root, trash: kept })) terminal.out(kept.map(keptLine));
      return EXIT.done;
    }
    const change = { ...common, dryRun: flags['dry-run'] === true, confirm: asker(invocation, flags.yes) };
    const done =
      name === undefined
        ? await (flags['empty-trash'] === true ? emptyTrash(change) : restoreAll(change))
        : await restoreSkill({
            ...change,
            name,
            force: flags.force === true,
            id: flags.id,
          });
    return reportChange(
      invocation,
      accepted(done),
      (one) => `${flags['empty-trash'] === true ? 'deleted' : 'restored'} ${printable(one)}`,
    );
  },
});
