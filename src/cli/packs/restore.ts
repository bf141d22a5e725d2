import path from 'node:path';

import { printable } from '#core';
import { accepted, emptyTrash, listLocked, listSkillBackups, restoreSkills } from '#packs';
import { isPresent } from '#platform';
import { option, toggle } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import {
  CHANGE_FLAGS,
  changeOptions,
  definePluginCommand,
  isInstallRoot,
  readingSettings,
  settingsFor,
  backupLine,
  reportChange,
} from './pack-command.ts';

type InTrash = NonNullable<Parameters<typeof definePluginCommand>[1]>;

/** The names in the trash of a root: for a restore of all, those that are not installed. */
const trashNames: InTrash = async (root, { flags, positionals }) => {
  if (!isPresent(path.join(root, '.skillwright/trash'))) return [];
  const names = accepted(await listSkillBackups({ settings: { root } }, 'trash')).map(({ name }) => name);
  const isAll = positionals.length === 0 && flags['list'] !== true && flags['empty-trash'] !== true;
  if (!isAll || !isInstallRoot(root)) return names;
  const { skills } = await listLocked({ settings: { root } });
  return names.filter((name) => !skills.some((one) => one.name === name));
};

export const command = definePluginCommand(
  {
    usage: 'restore NAME [--id ID] [--force] | restore [--all] | restore --list | restore --empty-trash',
    details: [
      'Restores an uninstalled skill or Agent Plugin, its lock entry and its links for agents from the trash of its root: the newest, or the one of --id.',
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
      const { flags, positionals, terminal } = invocation;
      const [name] = positionals;
      const modes = [name !== undefined, flags.all === true, flags.list === true, flags['empty-trash'] === true];
      if (modes.filter(Boolean).length > 1)
        throw usageError(
          'expected at most one of NAME, --all, --list and --empty-trash',
          'see skillwright restore --help',
        );
      if (name === undefined && flags.id !== undefined)
        throw usageError('expected NAME with --id', 'see skillwright restore --list');
      const settings = await (invocation.flags.list === true ? readingSettings : settingsFor)(invocation);
      const options = changeOptions(invocation, settings);
      if (flags.list === true) {
        const trash = accepted(await listSkillBackups(options, 'trash'));
        if (!terminal.printJson({ root: settings.root, trash })) terminal.out(trash.map(backupLine));
        return EXIT.done;
      }
      const isEmptied = flags['empty-trash'] === true;
      const done = isEmptied
        ? await emptyTrash(options)
        : await restoreSkills({ ...options, name, force: flags.force === true, id: flags.id });
      return reportChange(
        invocation,
        accepted(done),
        (one) => `${isEmptied ? 'deleted' : 'restored'} ${printable(one)}`,
      );
    },
  },
  trashNames,
);
