/** The frontmatter of a skill (level 1): everything known before the skill is selected. */
export interface SkillHead {
  readonly name: string;
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly controls: SkillControls;
  /** `metadata`, `version` and `author`, all as text. Has no prototype. */
  readonly meta: Readonly<Record<string, string>>;
}

/** Restrictions and requirements that a skill states; the runtime enforces them. */
export interface SkillControls {
  /** Hidden from the model; only people can invoke it. */
  readonly disableModelInvocation: boolean;
  /** People can invoke it by name. */
  readonly userInvocable: boolean;
  /** Absent: no statement. Empty: the skill needs no tools. Whole tools in `disallowedTools` are already removed. */
  readonly allowedTools?: readonly string[];
  /** Tools that must not be used while the skill is active, even if `allowedTools` lists them. */
  readonly disallowedTools?: readonly string[];
  readonly runMode: 'inline' | 'subagent';
  /** Globs; the skill is suggested when a matching file is touched. */
  readonly paths?: readonly string[];
  /** Requirements of its scripts, as written. */
  readonly requires?: readonly string[];
  /** What else the skill says that it needs: of each list one, as `tool:NAME`, `mcp:NAME` (a server) or `bin:NAME` (a program). */
  readonly dependencies?: readonly (readonly string[])[];
}

/** How much of a skill a model sees; set by the configuration. */
export const VISIBILITIES = ['auto', 'pinned', 'name-only', 'manual', 'required', 'disabled'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** Whether a model can see and choose a skill in this state. */
export function isForModel(state: Visibility): boolean {
  return state !== 'manual' && state !== 'disabled';
}

/** A folder that is scanned for skills. */
export interface SkillRoot {
  /** `project`, `user`, `builtin`, or a custom name. */
  readonly source: string;
  /** Absolute. */
  readonly path: string;
  /** Higher wins. */
  readonly priority: number;
  /** Whether the root was requested explicitly; then its absence is reported. */
  readonly explicit: boolean;
  /** How many levels of folders are searched (default: `scan.max_depth`). */
  readonly depth?: number;
}

/** The MCP server that a source stands for; undefined for folders. */
export function serverOfSource(source: string): string | undefined {
  return source.startsWith('mcp:') ? source.slice('mcp:'.length) : undefined;
}

/** A skill in the index. */
export interface SkillEntry extends SkillHead {
  /** `source/name`, or `source/name@version` if the skill has a version. */
  readonly id: string;
  readonly source: string;
  /** Folders between the root and the skill, such as `acme/tools`; empty for a skill directly in its root. */
  readonly group: string;
  /** Absolute folder of the skill, with forward slashes. */
  readonly dir: string;
  /** `SKILL.md`, or `skill.md` if only that exists. */
  readonly file: string;
  /** `sha256:` of the frontmatter, which identifies level 1. The tree digest would need the whole tree. */
  readonly digest: string;
  readonly state: Visibility;
}

/**
 * Sources that are trusted by default: what the user added and what ships with the package. Skills of other sources come with a project and
 * need trust.
 */
export const OWN_SOURCES: ReadonlySet<string> = new Set(['user', 'builtin', 'option', 'env', 'document-root']);

/** Whether a source is one that a project may give to its skills: `project`, or a name that starts with `project-`. */
export function isProjectSource(source: string): boolean {
  return /^project(?:-.+)?$/i.test(source);
}
