import path from 'node:path';

import { SKILL_PARTS, newSkillFiles } from '../../format/new-skill.ts';
import type { SkillPart } from '../../format/new-skill.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { createTree } from '../../platform/fs/create-tree.ts';
import { defineCommand } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';

export const command = defineCommand({
  usage: 'new NAME [--dir DIR] [--description TEXT] [--with scripts,references,assets,evals]',
  details: 'Creates a skill that passes skillwright check. Never overwrites existing files.',
  flags: {
    dir: { type: 'string', value: 'DIR', path: true, about: 'create the skill in DIR (default: .agent/skills)' },
    description: {
      type: 'string',
      short: 'd',
      value: 'TEXT',
      about: 'set the description: what the skill does and when to use it',
    },
    with: { type: 'string', value: 'PARTS', about: `add example files: ${SKILL_PARTS.join(', ')}, or all` },
  },
  examples: [
    ['skillwright new release-notes', 'create a minimal skill'],
    ['skillwright new csv-clean --with scripts,evals', 'add a script and eval cases'],
    ['skillwright new my-skill --dir ~/.agents/skills', 'create a skill for all your projects'],
  ],
  positionals: [1, 1],
  async run({ flags, positionals, terminal }) {
    const [name = ''] = positionals;
    if (flags.description !== undefined && flags.description.trim() === '')
      throw new UsageError('--description is empty', 'describe what the skill does and when to use it');
    const files = newSkillFiles({ name, description: flags.description, parts: partsOf(flags.with) });
    const directory = path.resolve(flags.cwd ?? '.', flags.dir ?? '.agent/skills', name);
    createTree(directory, files);
    if (flags.json === true) {
      terminal.out(jsonText({ name, dir: directory.replaceAll('\\', '/'), files: files.map((file) => file.path) }));
      return EXIT.done;
    }
    terminal.out(directory);
    terminal.remark(files.map((file) => `  ${file.path}`));
    terminal.remark(
      `next: edit the description, then run skillwright check ${printable(path.relative('.', directory))}`,
    );
    return EXIT.done;
  },
});

function partsOf(list: string | undefined): readonly SkillPart[] {
  if (list === undefined) return [];
  const words = list.split(',').map((word) => word.trim());
  if (words.includes('all')) return SKILL_PARTS;
  return words.map((word) => {
    const part = SKILL_PARTS.find((known) => known === word);
    if (part === undefined)
      throw new UsageError(
        `unknown part for --with: ${quoted(word, 200)}`,
        `known parts: ${SKILL_PARTS.join(', ')}, all`,
      );
    return part;
  });
}
