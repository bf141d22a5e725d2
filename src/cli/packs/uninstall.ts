import { printable } from '#core';
import { accepted, uninstallSkills } from '#packs';
import { toggle } from '../command.ts';
import { usageError } from '../exit.ts';
import { AGENT_FLAG, targetsFor } from './agent-flags.ts';
import { CHANGE_FLAGS, changeOptions, definePluginCommand, settingsFor, reportChange } from './pack-command.ts';

export const command = definePluginCommand({
  usage: 'uninstall NAME...|--all [--agent ID] [--purge] [--scope project|user] [--yes]',
  details: [
    'Moves installed skills to the trash of their root; skillwright restore brings them back. With --purge they are deleted, those that were placed by hand only with --force. A skill that another installed skill requires stays.',
    'Links and unchanged copies in the folders of agents are removed too. With --agent only those of that agent are removed, and the skill stays.',
    'Exit code 3: not confirmed.',
  ].join('\n'),
  flags: {
    ...CHANGE_FLAGS,
    ...AGENT_FLAG,
    all: toggle('uninstall every skill of the root'),
    purge: toggle('delete instead of moving to the trash'),
    force: toggle('with --purge: also delete named skills that were placed by hand'),
  },
  examples: [
    ['skillwright uninstall pdf-forms', 'move a skill to the trash'],
    ['skillwright restore pdf-forms', 'restore it'],
    ['skillwright uninstall pdf-forms --agent cursor', 'hide a skill from one agent'],
    ['skillwright uninstall --all', 'move every skill of this project to the trash'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags, positionals } = invocation;
    if ((flags.all === true) === positionals.length > 0)
      throw usageError(
        flags.all === true ? '--all takes no NAME' : 'missing argument: NAME',
        'e.g. skillwright uninstall pdf-forms, or skillwright uninstall --all',
      );
    const settings = await settingsFor(invocation);
    const done = await uninstallSkills({
      ...changeOptions(invocation, settings),
      names: flags.all === true ? 'all' : positionals,
      targets: flags.agent === undefined ? undefined : targetsFor(settings, { agents: flags.agent }),
      purge: flags.purge === true,
      force: flags.force === true,
    });
    return reportChange(invocation, accepted(done), (name) =>
      flags.agent === undefined
        ? `${flags.purge === true ? 'removed' : 'uninstalled'} ${printable(name)}`
        : `removed ${printable(name)} for ${flags.agent.join(', ')}`,
    );
  },
});
