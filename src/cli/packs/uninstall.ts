import { isRefusal } from '../../packs/problems.ts';
import { printable } from '../../core/text/text.ts';
import { uninstallSkills } from '../../packs/change-root.ts';
import { defineCommand } from '../command.ts';
import { CHANGE_FLAGS, asker, refuse, settingsFor } from './pack-flags.ts';
import { reportChange } from './show-change.ts';

export const command = defineCommand({
  usage: 'uninstall NAME... [--purge] [--scope project|user] [--yes]',
  details: [
    'Moves installed skills to the trash of their root, from where restore brings them back; with --purge they are gone for good.',
    'Only what install made is touched, and nothing that another installed skill needs. Exit status 3: nobody said yes.',
  ].join('\n'),
  flags: { ...CHANGE_FLAGS, purge: { type: 'boolean', about: 'remove for good, instead of to the trash' } },
  examples: [
    ['skillwright uninstall pdf-forms', 'to the trash'],
    ['skillwright restore pdf-forms', 'and back'],
  ],
  positionals: [1, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags, positionals, terminal, signal } = invocation;
    const settings = await settingsFor(invocation);
    if (isRefusal(settings)) return refuse(invocation, settings);
    const done = await uninstallSkills({
      settings,
      names: positionals,
      purge: flags.purge === true,
      dryRun: flags['dry-run'] === true,
      confirm: asker(invocation, flags.yes),
      signal,
      onNote: (note) => terminal.remark(`note: ${note}`),
    });
    if (isRefusal(done)) return refuse(invocation, done);
    return reportChange(
      invocation,
      done,
      (name) => `${flags.purge === true ? 'removed' : 'uninstalled'} ${printable(name)}`,
    );
  },
});
