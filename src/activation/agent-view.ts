/** What an agent would show a model in this place: which skills, how much of each, and why not more. */
import path from 'node:path';

import { isProblem, type Surroundings } from '#core';
import { expandFolder } from '#packs';
import { parseToml, readTextFile, realPath } from '#platform';
import type { Agent, AgentSkill, Budget, Catalog, CatalogContext, Settings, Shown } from './agents/agent.ts';
import { readFolders, type ReadFolder } from './find-skills.ts';
import { parseSettings } from './settings-text.ts';
import { readOwnFile, readSkillFile, type SkillFile } from './skill-file.ts';

export interface AgentView {
  readonly agent: string;
  readonly checkedVersion: string;
  readonly folders: readonly { readonly path: string; readonly scope: 'project' | 'user'; readonly skills: number }[];
  readonly skills: readonly SkillView[];
  readonly budget?: Budget;
  /** What the view depends on and what could not be read. */
  readonly notes: readonly string[];
}

export interface SkillView {
  readonly name: string;
  /** SKILL.md. */
  readonly path: string;
  readonly shown: Shown;
  /** Place in the agent's list, from 1; absent for a skill that is not listed. */
  readonly position?: number;
  /** The description as the model sees it. */
  readonly text: string;
  readonly reason?: Reason;
}

type ReasonCode = 'shadowed' | 'rejected' | 'disabled' | 'hidden' | 'budget' | 'too-long' | 'not-read';

interface Reason {
  readonly code: ReasonCode;
  readonly message: string;
  readonly fix: string;
}

export interface ViewOptions {
  readonly surroundings: Pick<Surroundings, 'cwd' | 'home' | 'env'>;
  readonly contextWindow?: number;
  /** Files that were read for another agent. */
  readonly files?: Map<string, SkillFile>;
  /** Called before each file of a skill is read; what it throws ends the examination. */
  readonly onFile?: (() => void) | undefined;
}

/** What is left to list, and what a list was made from, so that it can be made again with other descriptions. */
export interface ExaminedAgent {
  readonly view: AgentView;
  readonly skills: readonly AgentSkill[];
  readonly list: (skills: readonly AgentSkill[]) => Catalog;
}

export async function examineAgent(
  agent: Agent,
  { surroundings, contextWindow, files = new Map(), onFile }: ViewOptions,
): Promise<ExaminedAgent> {
  const folders = readFolders(agent, surroundings);
  const { settings, blocked, problems } = readSettings(agent, surroundings);
  const found = await readSkills(agent, folders, { files, onFile });
  const { kept, left } = separate(agent, found, settings);
  const context: CatalogContext = {
    env: surroundings.env,
    settings,
    contextWindow,
  };
  const list = (skills: readonly AgentSkill[]): Catalog => agent.listSkills(skills, context);
  const catalog = list(kept);
  const hasProject = kept.some(({ scope }) => scope === 'project');
  const view: AgentView = {
    agent: agent.id,
    checkedVersion: agent.checkedVersion,
    folders: folders.map(({ path: folder, scope, files: own }) => ({ path: folder, scope, skills: own.length })),
    skills: [...catalogViews(catalog), ...left],
    budget: catalog.budget,
    notes: [
      ...(hasProject && agent.projectTrust !== undefined
        ? [`the skills of the project are read only after you ${agent.projectTrust}`]
        : []),
      ...(blocked === undefined ? [] : [`it runs no hooks, so skillwright activate has no effect: ${blocked}`]),
      ...problems,
      ...folders.flatMap((folder) => folder.problems),
    ],
  };
  return { view, skills: kept, list };
}

const MAX_SETTINGS = 5_000_000;

interface AgentSettings {
  readonly settings: Settings;
  /** Why the agent runs no hook of the user. */
  readonly blocked: string | undefined;
  readonly problems: readonly string[];
}

export function readSettings(agent: Agent, place: ViewOptions['surroundings']): AgentSettings {
  const files: (Settings[number] | undefined)[] = agent.settings.map(() => undefined);
  const problems: string[] = [];
  for (const [at, named] of agent.settings.entries()) {
    const file = /^[~$/]/.test(named) ? expandFolder(named, place) : path.join(place.cwd, named);
    const read = file === undefined ? undefined : readTextFile(file, MAX_SETTINGS);
    if (file === undefined || read === undefined || read.type === 'absent') continue;
    const value = read.type === 'read' ? parseFile(file, read.text) : `cannot be read: ${read.reason}`;
    if (typeof value === 'string') problems.push(`${file} ${value}; what it hides is unknown`);
    else files[at] = value;
  }
  const settings = files.filter((one) => one !== undefined);
  return { settings, blocked: agent.hook.blockedBy?.(files), problems };
}

/** The settings, or what is wrong with the file. */
function parseFile(file: string, text: string): Settings[number] | string {
  if (!file.endsWith('.toml')) return parseSettings(text) ?? 'is not JSON';
  const value = parseToml(text);
  return isProblem(value) ? `is not TOML: ${value.message}` : value;
}

interface FoundSkill {
  readonly file: string;
  readonly folder: ReadFolder;
  readonly reading: ReturnType<Agent['readSkill']>;
}

async function readSkills(
  agent: Agent,
  folders: readonly ReadFolder[],
  { files, onFile }: Required<Pick<ViewOptions, 'files'>> & Pick<ViewOptions, 'onFile'>,
): Promise<readonly FoundSkill[]> {
  const found: FoundSkill[] = [];
  const seen = new Set<string>();
  for (const folder of folders)
    for (const file of folder.files) {
      // One skill reached through two folders is one skill.
      const real = realPath(file);
      if (seen.has(real)) continue;
      seen.add(real);
      onFile?.();
      const read = files.get(file) ?? (await readSkillFile(file));
      files.set(file, read);
      found.push({ file, folder, reading: agent.readSkill(read, readCompanion(agent, file)) });
    }
  return found;
}

function readCompanion({ companion }: Agent, file: string): string {
  if (companion === undefined) return '';
  const read = readOwnFile(path.join(path.dirname(file), companion), MAX_SETTINGS, path.dirname(file));
  return read.type === 'read' ? read.text : '';
}

/** Separates what the agent may list from what it ignores, and says why. */
function separate(
  agent: Agent,
  found: readonly FoundSkill[],
  settings: Settings,
): { readonly kept: readonly AgentSkill[]; readonly left: readonly SkillView[] } {
  const winners = new Map<string, FoundSkill>();
  for (const one of agent.sameName === 'last' ? found.toReversed() : found)
    if (one.reading.type !== 'rejected' && !winners.has(one.reading.name)) winners.set(one.reading.name, one);
  const kept: AgentSkill[] = [];
  const left: SkillView[] = [];
  for (const one of found) {
    const { file, folder, reading } = one;
    const name = reading.type === 'rejected' ? path.basename(path.dirname(file)) : reading.name;
    const winner = winners.get(name);
    const visibility = agent.visibility?.({ name, path: file }, settings) ?? 'listed';
    const leave = (reason: Reason): number => left.push({ name, path: file, shown: 'none', text: '', reason });
    if (reading.type === 'rejected')
      leave({ code: 'rejected', message: `${agent.id} ignores it: ${reading.reason}`, fix: reading.fix });
    else if (agent.sameName !== 'all' && winner !== undefined && winner !== one)
      leave({
        code: 'shadowed',
        message: `${winner.file} has the same name and wins`,
        fix: 'rename or remove one of them',
      });
    else if (reading.type === 'hidden')
      leave({ code: 'hidden', message: reading.reason, fix: 'remove that field from the frontmatter' });
    else if (visibility === 'hidden')
      leave({
        code: 'disabled',
        message: `disabled in the settings of ${agent.id}`,
        fix: `enable it in ${agent.settings.join(' or ')}`,
      });
    else
      kept.push({
        name,
        description: reading.description,
        path: file,
        scope: folder.scope,
        folder: folder.path,
        ...(visibility === 'name' ? { isNameOnly: true } : {}),
      });
  }
  return { kept, left };
}

function catalogViews({ entries, budget }: Catalog): readonly SkillView[] {
  return entries.map(({ skill, shown, text }, at) => {
    const reason = shown === 'full' ? undefined : reasonFor({ skill, shown }, at, budget);
    return {
      name: skill.name,
      path: skill.path,
      shown,
      ...(shown === 'none' ? {} : { position: at + 1 }),
      text,
      reason,
    };
  });
}

function reasonFor(
  { skill, shown }: Pick<Catalog['entries'][number], 'skill' | 'shown'>,
  at: number,
  budget: Budget | undefined,
): Reason | undefined {
  if (skill.isNameOnly === true)
    return { code: 'disabled', message: 'the settings allow its name only', fix: 'change skillOverrides' };
  if (skill.description === '')
    return { code: 'rejected', message: 'the description is empty', fix: 'add a description to the frontmatter' };
  if (budget === undefined) return undefined;
  if (shown === 'shortened' && [...skill.description].length > 1024 && budget.unit !== 'tokens')
    return { code: 'too-long', message: 'the description is longer than the agent shows', fix: 'shorten it' };
  const limit = `${budget.limit.toLocaleString('en-US')} ${budget.unit}`;
  const own = budget.own === 0 ? '' : `, ${budget.own.toLocaleString('en-US')} of them for skills of the agent itself`;
  return {
    code: 'budget',
    message: `the budget of ${limit} is used up at position ${String(at + 1)}${own}`,
    fix: 'shorten descriptions, or remove skills that you do not use',
  };
}
