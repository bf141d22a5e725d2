import path from 'node:path';

import { newSkillFiles, SKILL_PARTS } from '#skills';
import { isSkillError, printable } from '#core';
import { createTree, readTreeDigest } from '#platform';
import { openTrust } from '#policy';
import { defineCommand, list, option, type GlobalInvocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { configFor } from '../surroundings.ts';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';
import { projectSkillsFolder } from '#packs';

export const command = defineCommand({
  usage: 'new NAME [--to DIR] [--description TEXT] [--with scripts,references,assets,evals]',
  details:
    'Creates a skill that passes skillwright check, and trusts it: it stays trusted when you edit it. Never overwrites existing files.',
  flags: {
    to: option('DIR', 'create the skill in DIR (default: .agents/skills of the project)', { formerly: 'dir' }),
    description: option('TEXT', 'set the description: what the skill does and when to use it', { short: 'd' }),
    with: list('PART', `add example files: ${SKILL_PARTS.join(', ')}, or all`, { choices: [...SKILL_PARTS, 'all'] }),
  },
  examples: [
    ['skillwright new release-notes', 'create a minimal skill'],
    ['skillwright new csv-clean --with scripts,evals', 'add a script and eval cases'],
    ['skillwright new my-skill --to ~/.agents/skills', 'create a skill for all your projects'],
  ],
  positionals: [1, 1],
  async run(invocation) {
    const { flags, positionals, terminal, surroundings } = invocation;
    const [name = ''] = positionals;
    if (flags.description !== undefined && flags.description.trim() === '')
      throw usageError('--description is empty', 'describe what the skill does and when to use it');
    const files = newSkillFiles({ name, description: flags.description, parts: parseParts(flags.with) });
    const directory = path.join(await folderFor(invocation), name);
    createTree(directory, files);
    await trustOwn(directory, surroundings.home, terminal);
    if (terminal.printJson({ name, dir: directory.replaceAll('\\', '/'), files: files.map((file) => file.path) }))
      return EXIT.done;
    terminal.out(directory);
    terminal.remark(files.map((file) => `  ${file.path}`));
    terminal.remark(
      `next: edit the description, then run skillwright check ${printable(path.relative('.', directory))}`,
    );
    return EXIT.done;
  },
});

/** The author trusts the skill: edits need no confirmation. */
async function trustOwn(directory: string, home: string | undefined, terminal: Terminal): Promise<void> {
  const read = await readTreeDigest(directory);
  if (read.type !== 'digest') return;
  try {
    const store = openTrust({ home, bind: 'digest' });
    await store.trustSkills([{ dir: directory, digest: read.digest, isOwn: true }]);
  } catch (error) {
    if (!isSkillError(error)) throw error;
    reportWarning(terminal, `the new skill is not trusted yet: ${printable(error.message)}`);
  }
}

/** The folder that `install` uses. */
async function folderFor({
  flags,
  surroundings,
}: GlobalInvocation & { readonly flags: { readonly to?: string | undefined } }): Promise<string> {
  if (flags.to !== undefined) return path.resolve(surroundings.cwd, flags.to);
  const { config } = await configFor({ flags, surroundings });
  return projectSkillsFolder(config, surroundings);
}

function parseParts(words: readonly string[] = []): readonly (typeof SKILL_PARTS)[number][] {
  return SKILL_PARTS.filter((part) => words.includes('all') || words.includes(part));
}
