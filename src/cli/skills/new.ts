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
  details: [
    'Makes the folder of a new skill that passes check, in .agent/skills of this project unless --dir says where.',
    'Nothing that is there already is touched.',
  ].join('\n'),
  flags: {
    dir: { type: 'string', value: 'DIR', path: true, about: 'the folder that holds skills (.agent/skills)' },
    description: { type: 'string', short: 'd', value: 'TEXT', about: 'what the skill does and when to use it' },
    with: { type: 'string', value: 'PARTS', about: `what to start with: ${SKILL_PARTS.join(', ')}, or all` },
  },
  examples: [
    ['skillwright new release-notes', 'the smallest skill'],
    ['skillwright new csv-clean --with scripts,evals', 'with a script and evaluations'],
    ['skillwright new my-skill --dir ~/.agents/skills', 'for all your projects'],
  ],
  positionals: [1, 1],
  async run({ flags, positionals, terminal }) {
    const [name = ''] = positionals;
    if (flags.description !== undefined && flags.description.trim() === '')
      throw new UsageError('--description is empty', 'say what the skill does and when to use it');
    const files = newSkillFiles({ name, description: flags.description, parts: partsOf(flags.with) });
    const directory = path.resolve(flags.cwd ?? '.', flags.dir ?? '.agent/skills', name);
    createTree(directory, files);
    if (flags.json === true) {
      terminal.out(jsonText({ name, dir: directory.replaceAll('\\', '/'), files: files.map((file) => file.path) }));
      return EXIT.done;
    }
    terminal.out(directory);
    for (const file of files) terminal.remark(`  ${file.path}`);
    terminal.remark(`write the description, then: skillwright check ${printable(path.relative('.', directory))}`);
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
      throw new UsageError(`--with does not know ${quoted(word, 200)}`, `it takes ${SKILL_PARTS.join(', ')}, or all`);
    return part;
  });
}
