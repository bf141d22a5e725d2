import { isRefusal } from '../../packs/problems.ts';
import { printable } from '../../core/text/text.ts';
import { emptyTrash, listSkillBackups, restoreSkill } from '../../packs/change-root.ts';
import { defineCommand } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import { CHANGE_FLAGS, asker, refuse, settingsFor } from './pack-flags.ts';
import { keptLine, reportChange } from './show-change.ts';

export const command = defineCommand({
  usage: 'restore NAME [--id ID] [--force] | restore --list | restore --empty-trash',
  details: [
    'Brings an uninstalled skill back from the trash of its root, with its entry in the lock: the newest, or the one of --id.',
    '--list shows what is there; --empty-trash removes all of it for good.',
  ].join('\n'),
  flags: {
    ...CHANGE_FLAGS,
    id: { type: 'string', value: 'ID', about: 'which of several, as --list shows it' },
    list: { type: 'boolean', about: 'show what is in the trash' },
    force: { type: 'boolean', about: 'replace what stands in its place now, and keep that' },
    'empty-trash': { type: 'boolean', about: 'remove everything in the trash for good' },
  },
  examples: [
    ['skillwright restore --list', 'what is in the trash'],
    ['skillwright restore pdf-forms', 'bring it back'],
  ],
  positionals: [0, 1],
  async run(invocation) {
    const { flags, positionals, terminal, signal } = invocation;
    const [name] = positionals;
    const asks = [name !== undefined, flags.list === true, flags['empty-trash'] === true];
    if (asks.filter(Boolean).length !== 1)
      throw new UsageError('name a skill, or say --list or --empty-trash', 'see skillwright restore --help');
    const settings = await settingsFor(invocation);
    if (isRefusal(settings)) return refuse(invocation, settings);
    const common = { settings, signal, onNote: (note: string) => terminal.remark(`note: ${note}`) };
    if (flags.list === true) {
      const kept = await listSkillBackups(common, 'trash');
      if ('type' in kept) return refuse(invocation, kept);
      if (flags.json === true) terminal.out(jsonText({ root: settings.root, trash: kept }));
      else for (const one of kept) terminal.out(keptLine(one));
      return EXIT.done;
    }
    const change = { ...common, dryRun: flags['dry-run'] === true, confirm: asker(invocation, flags.yes) };
    const done =
      name === undefined
        ? await emptyTrash(change)
        : await restoreSkill({
            ...change,
            name,
            force: flags.force === true,
            ...(flags.id === undefined ? {} : { id: flags.id }),
          });
    if (isRefusal(done)) return refuse(invocation, done);
    return reportChange(invocation, done, (one) => `${name === undefined ? 'removed' : 'restored'} ${printable(one)}`);
  },
});
