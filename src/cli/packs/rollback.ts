import { printable } from '#core';
import { accepted, listSkillBackups, rollbackSkill } from '#packs';
import { option, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import {
  CHANGE_FLAGS,
  changeOptions,
  definePluginCommand,
  readingSettings,
  settingsFor,
  backupLine,
  reportChange,
} from './pack-command.ts';

export const command = definePluginCommand({
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
    const { flags, positionals, terminal } = invocation;
    const [name = ''] = positionals;
    const settings = await (flags.list === true ? readingSettings : settingsFor)(invocation);
    const options = changeOptions(invocation, settings);
    if (flags.list === true) {
      const versions = accepted(await listSkillBackups(options, { versionsOf: name }));
      if (!terminal.printJson({ root: settings.root, name, versions })) terminal.out(versions.map(backupLine));
      return EXIT.done;
    }
    const done = accepted(await rollbackSkill({ ...options, name, id: flags.id }));
    return reportChange(invocation, done, (one) => `rolled back ${printable(one)}`);
  },
});
