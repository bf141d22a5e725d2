import { printable, quoted } from '#core';
import { accepted, emptyTrash, listSkillBackups, restoreSkills } from '#packs';
import { option, toggle } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import {
  CHANGE_FLAGS,
  lockedPlugins,
  changeOptions,
  definePackCommand,
  readingSettings,
  settingsFor,
  backupLine,
  reportChange,
} from './pack-command.ts';

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
    const plugins = flags.json === true && name === undefined ? undefined : lockedPlugins(settings);
    const roots: RootTrash[] = [];
    for (const root of plugins === undefined ? [settings] : [settings, plugins]) {
      const options = changeOptions(invocation, root);
      roots.push({ options, trash: accepted(await listSkillBackups(options, 'trash')) });
    }
    if (flags.list === true) {
      const trash = roots.flatMap((root) => root.trash);
      if (!terminal.printJson({ root: settings.root, trash })) terminal.out(trash.map(backupLine));
      return EXIT.done;
    }
    const isEmptied = flags['empty-trash'] === true;
    const statuses: number[] = [];
    for (const { options } of rootsToChange(roots, name)) {
      const done = isEmptied
        ? await emptyTrash(options)
        : await restoreSkills({ ...options, name, force: flags.force === true, id: flags.id });
      statuses.push(
        await reportChange(
          invocation,
          accepted(done),
          (one) => `${isEmptied ? 'deleted' : 'restored'} ${printable(one)}`,
        ),
      );
    }
    return Math.max(...statuses);
  },
});

interface RootTrash {
  readonly options: ReturnType<typeof changeOptions>;
  readonly trash: readonly Parameters<typeof backupLine>[0][];
}

/** The roots of skills and of plugins whose trash has what is asked for; that of skills if none has, so that it says so. */
function rootsToChange(roots: readonly RootTrash[], name: string | undefined): readonly RootTrash[] {
  const having = roots.filter(({ trash }) => trash.some((kept) => name === undefined || kept.name === name));
  if (name !== undefined && having.length > 1)
    throw usageError(`the trash has a skill and a plugin ${quoted(name)}`, 'name the root, e.g. --to .agents/plugins');
  return having.length > 0 ? having : roots.slice(0, 1);
}
