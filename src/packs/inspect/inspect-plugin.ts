/** Inspects an Agent Plugin before it is installed as a whole: its skills one by one, and all of its files by the scan. */
import path from 'node:path';

import { quoted, type Diagnostic } from '#core';
import { scanSkill, type PolicyResult } from '#scan';
import { checkSkill } from '#skills';
import { portableNameProblem } from '../sources/portable-name.ts';
import { isRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import { presentFiles } from '../root/present-files.ts';
import type { SourceSkill, StagedPlugin } from '../sources/source.ts';
import type { InspectOptions } from './inspect-options.ts';
import { readScanFiles } from './scan-files.ts';

/** What is known of a plugin beside its files. */
export interface PluginFacts {
  readonly findings: PolicyResult['stops'];
  readonly diagnostics: readonly Diagnostic[];
  readonly notes: readonly string[];
  readonly refusals: readonly PackRefusal[];
  /** Its skills with their digests, which the user trusts. */
  readonly skills: readonly { readonly name: string; readonly digest: string }[];
}

/** Refuses only if the files cannot be read. */
export function inspectPlugin(
  { path: place, name }: SourceSkill,
  plugin: StagedPlugin,
  { settings, mode, signal, known }: InspectOptions,
): PluginFacts | PackRefusal {
  const diagnostics: Diagnostic[] = [];
  const findings: PolicyResult['stops'][number][] = [];
  const skills: PluginFacts['skills'][number][] = [];
  const files = readScanFiles(place, { signal });
  if (isRefusal(files)) return files;
  for (const skill of plugin.skills) {
    const below = `skills/${skill}/`;
    const dir = path.join(place, below);
    const tree = presentFiles(dir, { withoutLooks: true });
    if (isRefusal(tree)) return tree;
    skills.push({ name: skill, digest: tree.digest });
    const { head, diagnostics: found } = checkSkill(dir, 'SKILL.md', {
      mode,
      directory: skill,
      maxBodyLines: settings.check.max_skill_body_lines,
      maxBodyCharacters: settings.check.max_skill_body_characters,
    });
    diagnostics.push(
      ...found.map((one) => ({
        ...one,
        path: `${name}/${below}${path.relative(dir, one.path).split(path.sep).join('/')}`,
      })),
    );
    const own = files
      .filter((file) => file.path.startsWith(below))
      .map((file) => ({ ...file, path: file.path.slice(below.length) }));
    const tools = head?.controls.allowedTools;
    const declared = tools === undefined ? {} : { allowedTools: tools };
    findings.push(...scanSkill(own, { declared, known }).map((one) => ({ ...one, path: below + one.path })));
  }
  const isOfSkill = (file: string): boolean => plugin.skills.some((skill) => file.startsWith(`skills/${skill}/`));
  findings.push(
    ...scanSkill(
      files.filter((file) => !isOfSkill(file.path)),
      { declared: {}, known },
    ),
  );
  const problem = portableNameProblem(name);
  const [first] = mode === 'strict' ? diagnostics.filter(({ severity }) => severity === 'error') : [];
  return {
    findings,
    diagnostics,
    skills,
    notes: pluginNotes(plugin, name),
    refusals: [
      ...(problem === undefined ? [] : [packRefusal('pack/name', problem.message)]),
      ...(first === undefined ? [] : [packRefusal('pack/format', `${first.message} (${first.code})`, first.path)]),
    ],
  };
}

function pluginNotes({ name, skills, servers, hooks, problems }: StagedPlugin, folder: string): readonly string[] {
  const list = (names: readonly string[]): string => names.map((one) => quoted(one, 64)).join(', ');
  return [
    ...(name === folder ? [] : [`the plugin ${quoted(name)} gets the folder ${quoted(folder)}`]),
    skills.length === 0 ? 'plugin without skills' : `plugin with the skills ${list(skills)}`,
    ...(servers.length === 0
      ? []
      : [`MCP servers, unused until you trust the plugin: ${list(servers.map((server) => server.name))}`]),
    ...(hooks.length === 0 ? [] : [`hooks of other agents, which are never run: ${list(hooks)}`]),
    ...problems,
  ];
}
