import { printable } from '#core';
import { listSkillBackups, rollbackSkill } from '#packs';
import { option, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { CHANGE_FLAGS, accepted, asker, definePackCommand, readingSettings, settingsFor } from './pack-command.ts';
import { keptLine, reportChange } from './show-change.ts';

export const command = definePackCommand({
  usage: 'rollback NAME [--id ID] [--yes] | rollback NAME --list',
  details:
    'Restores the previous version of an installed skill. The versions are swapped, so a second rollback undoes the first.',
  flags: {
    ...CHANGE_FLAGS,
    id: option('ID', 'restore this version of --list (default: the newest)'),
    list: toggle('list the versions that are kept'),
  },
  examples: [
    ['skillwright rollback pdf-forms', 'restore the previous version'],
    ['skillwright rollback pdf-forms --list', 'list the kept versions'],
  ],
  positionals: [1, 1],
  async run(invocation) {
    const { flags, positionals, terminal, signal } = invocation;
    const [name = ''] = positionals;
    const settings = await (invocation.flags.list === true ? readingSettings : settingsFor)(invocation);
    const common = { settings, signal, onNote: (note: string) => terminal.remark(`note: ${note}`) };
    if (flags.list === true) {
      const kept = accepted(await listSkillBackups(common, { versionsOf: name }));
      if (!terminal.printJson({ root: settings.root, name, versions: kept })) terminal.out(kept.map(keptLine));
      return EXIT.done;
    }
    const done = await rollbackSkill({
      ...common,
      name,
      dryRun: flags['dry-run'] === true,
      confirm: asker(invocation, flags.yes),
      id: flags.id,
    });
    return reportChange(invocation, accepted(done), (one) => `rolled back ${printable(one)}`);
  },
});
