/** What one agent does with skills, as data and pure functions. Each agent has a file beside this one that holds all of its facts. */
export interface Agent {
  /** As in the agent table of `#packs`, which also says how the agent is detected. */
  readonly id: AgentId;
  /** Folders that the agent reads, in its order. */
  readonly folders: readonly FolderRule[];
}

export type AgentId = 'claude-code' | 'codex' | 'gemini-cli' | 'github-copilot' | 'opencode' | 'pi' | 'qwen-code';

export interface FolderRule {
  /** `~` is the home folder, `${NAME:-path}` a variable with its default. A relative path is below the project. */
  readonly path: string;
  /** Also in the folders above, up to the top of the repository; without a repository, up to the root of the file system. */
  readonly isInParents?: boolean;
  /** Levels of folders below it in which SKILL.md is found (default: 1). */
  readonly depth?: number;
}
