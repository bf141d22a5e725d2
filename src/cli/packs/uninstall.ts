import { isRefusal } from '../../packs/problems.ts';
import { printable } from '../../core/text/text.ts';
import { uninstallSkills } from '../../packs/change-root.ts';
import { defineCommand } from '../command.ts';
import { CHANGE_FLAGS, asker, refuse, settingsFor } from './pack-command.ts';
import { reportChange } from './show-change.ts';

export const command = defineCommand({
  usage: 'uninstall NAME... [--purge] [--scope project|user] [--yes]',
  details: [
    'Moves installed skills to the trash of their root; skillwright restore brings them back. With --purge they are deleted. Only removes what skillwright install created, and never a skill that another installed skill requires.',
    'Exit code 3: not confirmed.',
  ].join('\n'),
  flags: { ...CHANGE_FLAGS, purge: { type: 'boolean', about: 'delete instead of moving to the trash' } },
  examples: [
    ['skillwright uninstall pdf-forms', 'move a skill to the trash'],
    ['skillwright restore pdf-forms', 'restore it'],
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
