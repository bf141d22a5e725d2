/** The first step of an install: fetches the source, or the plugin of a marketplace that the user named, into the staging folder. */
import { quoted, type SkillError } from '#core';
import { stagePack } from '../inspect/stage-pack.ts';
import { accepted, refused, type PackRefusal } from '../problems.ts';
import type { OpenRoot } from '../root/open-root.ts';
import type { PackSource, StagedSource } from '../sources/source.ts';
import type { InstallOptions } from './options.ts';

interface NamedSource {
  readonly staged: StagedSource;
  readonly source: PackSource;
  readonly names: readonly string[];
}

/** A name that is not a skill of the source may be a plugin that its marketplace lists. Throws a refusal. */
export async function stageNamed(typed: PackSource, root: OpenRoot, options: InstallOptions): Promise<NamedSource> {
  const { settings, skills: names = [], offline, signal, onProgress } = options;
  const only = names.length === 0 ? undefined : names;
  const stage = (source: PackSource): Promise<StagedSource | PackRefusal> =>
    stagePack(source, { settings, to: root.staging(), only, withPlugins: true, offline, signal, onProgress });
  const staged = accepted(await stage(typed));
  const { skills, unusable, marketplaces: { lists = [], problem } = {} } = staged;
  const found = [...skills, ...unusable];
  const [name, ...others] = names.filter((one) => found.every((skill) => skill.name !== one && skill.folder !== one));
  const isMarketplace = typed.type === 'folder' || typed.type === 'git';
  const listed = lists.flatMap(({ plugins, renames }) => [...plugins.map((plugin) => plugin.name), ...renames.keys()]);
  if (name === undefined || !isMarketplace || !listed.includes(name)) {
    if (found.length === 0 && (staged.isPlugin !== true || name !== undefined))
      throw staged.isPlugin === true ? noSkillInPlugin(options.source) : onlyPlugins(options.source, listed);
    if (name !== undefined && lists.length === 0) accepted(problem);
    if (name !== undefined && listed.length > 0)
      throw refused(
        'pack/unknown-skill',
        `no skill and no plugin is called ${quoted(name)}; the plugins are ${shortList(listed)}`,
      );
    return { staged, source: typed, names };
  }
  if (others.length > 0 || names.length > 1)
    throw refused('pack/unknown-skill', `${quoted(name)} is a plugin: install one plugin at a time`);
  const source = { type: 'plugin', name, marketplace: typed } as const;
  return { staged: accepted(await stage(source)), source, names: [] };
}

const MAX_NAMED = 20;

function shortList(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${String(names.length - MAX_NAMED)} more` : '';
  const listed = names.slice(0, MAX_NAMED).map((name) => quoted(name, 64));
  return `${listed.join(', ')}${more}`;
}

/** Of an Agent Plugin that has no skills but, for example, MCP servers. */
export function noSkillInPlugin(typed: string): SkillError {
  return refused('pack/no-skill', `the Agent Plugin ${quoted(typed, 200)} has no skills`, {
    hint: 'install it whole: skillwright install SOURCE, without skills, --agent, --copy and --to',
  });
}

function onlyPlugins(typed: string, names: readonly string[]): SkillError {
  return refused('pack/no-skill', `${quoted(typed, 200)} has no skills itself; it lists ${shortList(names)}`, {
    hint: 'name a plugin: skillwright install SOURCE PLUGIN',
  });
}
