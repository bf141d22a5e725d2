/** The skills that may be hinted in one agent and place, kept as long as nothing that they depend on changes. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expandFolder } from '#packs';
import { fingerprintFiles, isSystemError, quietly, realEntry, realPath, sha256 } from '#platform';
import { openTrust } from '#policy';
import { findFrontmatter } from '#skills';
import type { Agent, FolderRule } from '../agents/agent.ts';
import { examineAgent, type AgentView, type ExaminedAgent } from '../agent-view.ts';
import { namedFolders, readFolders } from '../find-skills.ts';
import { readSkillFile, type SkillFile } from '../skill-file.ts';
import { fingerprintOf, stampOf, type WatchedFiles } from './file-stamps.ts';
import { isSafe, type HintedSkill } from './hint-text.ts';

export interface HintContext {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface HintSource {
  /** What a request is compared with: all skills that the agent lists, and those that only a hint can show. */
  readonly skills: readonly SourceSkill[];
  /** The same for skills with the same names and descriptions in the same order: an index of one fits the other. */
  readonly texts: string;
  /** Differs when a file of a skill changed. Undefined if one cannot be looked at. */
  readonly stamp: string | undefined;
  /** The folders, settings and trust that the skills were read from. Undefined if they may have changed meanwhile. */
  readonly watched: WatchedFiles | undefined;
  /** Whether folders, settings and trust are as they were. Looks at a few files, not at every skill. */
  isCurrent(): boolean;
  /** Whether the skill still needs no trust or has it, read from its SKILL.md as it is now. */
  isTrusted(skill: Pick<SourceSkill, 'path'>): boolean;
  /** Whether every SKILL.md is as it was, too. */
  isWhollyCurrent(): boolean;
}

interface SourceSkill extends HintedSkill {
  /** The agent's own list does not show all of it, and it may be hinted. */
  readonly isCandidate: boolean;
  /** Of its SKILL.md as it was read. Undefined if it changed just then. */
  readonly stamp: string | undefined;
}

type FoundSkill = Omit<SourceSkill, 'stamp'>;

/** Folders of Skillwright that an agent may not read. */
const OWN_FOLDERS: readonly FolderRule[] = [
  { path: '~/.agent/shelf' },
  { path: '~/.agent/skills' },
  { path: '~/.agents/skills' },
  { path: '.agent/skills', isInParents: true },
  { path: '.agents/skills', isInParents: true },
];

interface SourceOptions {
  /** Files that were read before, with their stamps. Those that did not change since are not read again. */
  readonly known: Map<string, KnownFile>;
  /** Called before each file is read; what it throws ends the reading. */
  readonly onFile?: (() => void) | undefined;
}

export interface KnownFile {
  readonly file: SkillFile;
  readonly stamp: string;
}

export async function readHintSource(
  agent: Agent,
  place: HintContext,
  { known, onFile }: SourceOptions,
): Promise<HintSource> {
  const readAt = Date.now();
  const own = { ...agent, folders: OWN_FOLDERS };
  const settings = agent.settings.flatMap((name) =>
    /^[~$/]/.test(name) ? (expandFolder(name, place) ?? []) : path.join(place.cwd, name),
  );
  const watched = [
    ...new Set([...namedFolders(agent, place), ...namedFolders(own, place)]),
    ...settings,
    path.join(place.home, '.agent/trust.json'),
  ];
  // Before anything is read: a change meanwhile makes the source outdated, not wrong.
  const before = quietly(() => fingerprintFiles(watched, readAt));
  const files = new Map(
    [...known].flatMap(([name, { file, stamp }]) => (stampOf(name) === stamp ? [[name, file]] : [])),
  );
  const examined = await examineAgent(agent, { surroundings: place, files, onFile });
  const { view } = examined;
  const others = await otherSkills(agent, { view, place, own, files, onFile });
  const isOwn = openOwnership(agent, place);
  for (const [name, file] of files) {
    const stamp = file.problem === undefined ? stampOf(name, readAt) : undefined;
    if (stamp === undefined) known.delete(name);
    else if (known.get(name)?.stamp !== stamp) known.set(name, { file, stamp });
  }
  const paths = [...view.skills.map((skill) => skill.path), ...others.paths].flatMap((file) => [
    file,
    path.dirname(file),
  ]);
  // Skills without trust take no part at all, so that none of them can outrank another.
  const skills = [...listedSkills(examined), ...others.skills]
    .filter((skill) => isOwn(skill.path))
    .map((skill) => ({
      ...skill,
      isCandidate: skill.isCandidate && isSafe(skill),
      stamp: known.get(skill.path)?.stamp,
    }));
  const all = fingerprintOf(paths);
  return {
    skills,
    texts: sha256(JSON.stringify(skills.map(({ name, description }) => [name, description]))),
    stamp: all,
    watched: before?.isSettled === true ? { files: watched, fingerprint: before.fingerprint } : undefined,
    isCurrent: () => before !== undefined && fingerprintOf(watched) === before.fingerprint,
    isTrusted: ({ path: file }) => isOwn(file),
    isWhollyCurrent: () => all !== undefined && fingerprintOf(paths) === all,
  };
}

/** Skills that the user disabled or limited to a name are not among the candidates. */
function listedSkills({ view, skills }: ExaminedAgent): readonly FoundSkill[] {
  const full = new Set(view.skills.flatMap(({ path: file, shown }) => (shown === 'full' ? file : [])));
  return skills.map(({ name, path: file, description, isNameOnly }) => ({
    // Claude Code lists the name of the frontmatter behind that of the folder.
    name: name.replace(/ \(.*\)$/s, ''),
    path: file,
    description,
    isCandidate: !full.has(file) && isNameOnly !== true && description.trim() !== '',
  }));
}

interface OtherSkills {
  readonly view: AgentView;
  readonly place: HintContext;
  readonly own: Agent;
  readonly files: Map<string, SkillFile>;
  readonly onFile: (() => void) | undefined;
}

/** Skills in folders of Skillwright that the agent does not read. */
async function otherSkills(
  agent: Agent,
  { view, place, own, files, onFile }: OtherSkills,
): Promise<{ readonly skills: readonly FoundSkill[]; readonly paths: readonly string[] }> {
  const paths: string[] = [];
  const known = new Set(view.skills.map(({ path: file }) => realPath(file)));
  const names = new Set(view.skills.map(({ name }) => name));
  const found: FoundSkill[] = [];
  for (const folder of readFolders(own, place))
    for (const file of folder.files) {
      if (known.has(realPath(file))) continue;
      onFile?.();
      const read = files.get(file) ?? (await readSkillFile(file));
      files.set(file, read);
      paths.push(file);
      const reading = agent.readSkill(read, '');
      if (reading.type !== 'skill' || names.has(reading.name)) continue;
      names.add(reading.name);
      found.push({ ...reading, path: file, isCandidate: reading.description.trim() !== '' });
    }
  return { skills: found, paths };
}

/** Skills in folders of the user need no trust; those of a project need it, as they are now. */
function openOwnership(agent: Agent, place: HintContext): (file: string) => boolean {
  const isOfUser = (rule: FolderRule): boolean => /^[~$/]/.test(rule.path);
  const folders = [...agent.folders, ...OWN_FOLDERS].filter(isOfUser);
  const users = namedFolders({ ...agent, folders }, place).map((folder) => `${realPath(folder)}${path.sep}`);
  const trust = openTrust({ home: place.home, bind: 'digest' });
  return (file) => {
    // The folder in which it was found is resolved, not the skill: a link in a folder of the user was made by the user.
    const real = realEntry(path.dirname(file));
    if (users.some((folder) => real.startsWith(folder))) return true;
    const head = headDigest(file);
    return head !== undefined && trust.isTrusted({ source: 'project', dir: path.dirname(file), head }).trusted;
  };
}

function headDigest(file: string): string | undefined {
  try {
    const bytes = readFileSync(file);
    const bounds = findFrontmatter(bytes, bytes.length, true);
    return bounds.type === 'found' ? `sha256:${sha256(bytes.subarray(0, bounds.end))}` : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
