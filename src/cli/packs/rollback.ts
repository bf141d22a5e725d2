import { isRefusal } from '../../packs/problems.ts';
import { printable } from '../../core/text/text.ts';
import { listSkillBackups, rollbackSkill } from '../../packs/change-root.ts';
import { defineCommand, option, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { CHANGE_FLAGS, asker, refuse, settingsFor } from './pack-command.ts';
import { keptLine, reportChange } from './show-change.ts';

export const command = defineCommand({
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
    const settings = await settingsFor(invocation);
    if (isRefusal(settings)) return refuse(invocation, settings);
    const common = { settings, signal, onNote: (note: string) => terminal.remark(`note: ${note}`) };
    if (flags.list === true) {
      const kept = await listSkillBackups(common, { versionsOf: name });
      if ('type' in kept) return refuse(invocation, kept);
      if (flags.json === true) terminal.out(jsonText({ root: settings.root, name, versions: kept }));
      else terminal.out(kept.map(keptLine));
      return EXIT.done;
    }
    const done = await rollbackSkill({
      ...common,
      name,
      dryRun: flags['dry-run'] === true,
      confirm: asker(invocation, flags.yes),
      ...(flags.id === undefined ? {} : { id: flags.id }),
    });
    if (isRefusal(done)) return refuse(invocation, done);
    return reportChange(invocation, done, (one) => `rolled back ${printable(one)}`);
  },
});
