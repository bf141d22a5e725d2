/** What one agent does with skills, as data and pure functions. Each agent has a file beside this one that holds all of its facts. */
import type { SkillFile } from '../skill-file.ts';
import type { TranscriptRule } from './transcript.ts';

export interface Agent {
  /** As in the agent table of `#packs`, which also says how the agent is detected. */
  readonly id: AgentId;
  /** The version whose requests `npm run check:agents` compared with `listSkills`. */
  readonly checkedVersion: string;
  /** Folders that the agent reads, in its order. */
  readonly folders: readonly FolderRule[];
  /** Which skill wins if several have one name: that of the folder read first or last, or all are listed. */
  readonly sameName: 'first' | 'last' | 'all';
  /** What the user has to do before skills of a project are read. */
  readonly projectTrust?: string;
  /** JSON and TOML files that can hide skills, in the notation of folders; later ones win. */
  readonly settings: readonly string[];
  /** A file of the skill that the agent reads beside SKILL.md. */
  readonly companion?: string;
  /** `companion` is the text of that file, empty without one. */
  readonly readSkill: (file: SkillFile, companion: string) => SkillReading;
  /** Whether settings hide a skill. */
  readonly visibility?: (skill: Pick<AgentSkill, 'name' | 'path'>, settings: Settings) => 'listed' | 'name' | 'hidden';
  /** The list that the model sees. Gets skills in the order of folders, and of paths within a folder. */
  readonly listSkills: (skills: readonly AgentSkill[], context: CatalogContext) => Catalog;
  /** What the agent keeps of its sessions. */
  readonly transcript: TranscriptRule;
  readonly hook: AgentHook;
}

/** How the agent asks a program about each prompt, in the version `checkedVersion`. */
type AgentHook = {
  /** In the notation of folders. */
  readonly file: string;
  /** Whether the agent runs the hook only after the user trusted it, and where. */
  readonly userTrust?: string;
  /** Why the agent runs no hook of the user, if so. Gets the settings files as `Agent.settings` names them, undefined for one without settings. */
  readonly blockedBy?: (files: readonly (Settings[number] | undefined)[]) => string | undefined;
  /** The answer that adds `text` to the prompt. */
  readonly answer: (text: string) => unknown;
  /** The transcript of a session, for an agent that does not name it in the input of the hook. */
  readonly transcript?: (sessionId: string) => string;
} & (
  | {
      /** A JSON file of the user that lists hooks by event. */
      readonly type: 'entry';
      readonly event: string;
      /** Two seconds, in the unit of the agent. */
      readonly timeout: number;
    }
  | {
      /** A file that belongs to the hook alone. `command` is a line for sh, `script` the program that it runs. */
      readonly type: 'file';
      readonly content: (hook: { readonly command: string; readonly script: string }) => string;
    }
);

/** The answer of most agents. */
export function answerEvent(event: string) {
  return (text: string): unknown => ({ hookSpecificOutput: { hookEventName: event, additionalContext: text } });
}

type AgentId = 'claude-code' | 'codex' | 'gemini-cli' | 'github-copilot' | 'opencode' | 'pi' | 'qwen-code';

/** The settings files that exist, parsed, in the order of `Agent.settings`. */
export type Settings = readonly Readonly<Record<string, unknown>>[];

export interface FolderRule {
  /** `~` is the home folder, `${NAME:-path}` a variable with its default. A relative path is below the working directory. */
  readonly path: string;
  /** Also in the folders above, up to the top of the repository; without a repository, up to the root of the file system. */
  readonly isInParents?: boolean;
  /** Levels of folders below it in which SKILL.md is found (default: 1). */
  readonly depth?: number;
  /** Skills inside the folder of a skill are read too. */
  readonly isInsideSkills?: boolean;
  /** Folders that start with a dot are read too. */
  readonly withHidden?: boolean;
}

/** What an agent makes of a SKILL.md: a skill, or the reason why it ignores the file or keeps it from the model. */
export type SkillReading =
  | { readonly type: 'skill'; readonly name: string; readonly description: string }
  | { readonly type: 'hidden'; readonly name: string; readonly reason: string }
  | { readonly type: 'rejected'; readonly reason: string; readonly fix: string };

export interface AgentSkill {
  /** As the agent calls it. */
  readonly name: string;
  readonly description: string;
  /** SKILL.md. */
  readonly path: string;
  readonly scope: 'project' | 'user';
  /** The folder of the agent in which it was found. */
  readonly folder: string;
  /** Settings allow the name only. */
  readonly isNameOnly?: boolean;
}

export interface CatalogContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: Settings;
  /** Tokens of the model's context window; undefined for the agent's default. */
  readonly contextWindow?: number;
}

/** How much of a skill the model sees. */
export type Shown = 'full' | 'shortened' | 'name' | 'none';

export interface Catalog {
  /** In the order of the list; skills that are not listed come last. */
  readonly entries: readonly { readonly skill: AgentSkill; readonly shown: Shown; readonly text: string }[];
  /** Absent if the agent lists every skill in full. */
  readonly budget?: Budget;
}

export interface Budget {
  readonly limit: number;
  readonly unit: 'characters' | 'columns' | 'tokens';
  /** Part of the limit that skills of the agent itself take. */
  readonly own: number;
  /** What the limit depends on, for people. */
  readonly from: string;
}

/** The list of an agent without a budget. */
export function listAll(skills: readonly AgentSkill[]): Catalog {
  return {
    entries: skills.map((skill) => ({
      skill,
      shown: skill.isNameOnly === true ? 'name' : 'full',
      text: skill.isNameOnly === true ? '' : skill.description,
    })),
  };
}

export function byName(compare: (a: string, b: string) => number) {
  return (skills: readonly AgentSkill[]): readonly AgentSkill[] =>
    skills.toSorted((a, b) => compare(a.name, b.name) || (a.path < b.path ? -1 : 1));
}
