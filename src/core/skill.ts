/** What the frontmatter of a skill says: level 1, all that is known before a skill is selected. */
export interface SkillHead {
  readonly name: string;
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly controls: SkillControls;
  /** `metadata` and the extension fields `version` and `author`, all as text. Has no prototype. */
  readonly meta: Readonly<Record<string, string>>;
}

type HeadParts = Omit<SkillHead, 'license' | 'compatibility'> & {
  readonly license: string | undefined;
  readonly compatibility: string | undefined;
};

/** A head from its parts: what is absent is not there at all. Most have neither of the two, and then nothing is spread. */
export function makeHead({ name, description, license, compatibility, controls, meta }: HeadParts): SkillHead {
  if (license === undefined && compatibility === undefined) return { name, description, controls, meta };
  return {
    name,
    description,
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    controls,
    meta,
  };
}

/** What a skill asks of, or forbids to, whoever runs it. The runtime enforces; the skill only states. */
export interface SkillControls {
  /** The model is not shown the skill and may not choose it; a person may. */
  readonly disableModelInvocation: boolean;
  /** A person may call the skill by its name. */
  readonly userInvocable: boolean;
  /** Absent: the skill states nothing. Empty: it states that it needs no tool. What is forbidden whole is not in it. */
  readonly allowedTools?: readonly string[];
  /** What may not be used while the skill is at work, also where `allowedTools` has it. */
  readonly disallowedTools?: readonly string[];
  readonly runMode: 'inline' | 'subagent';
  /** Globs; the skill comes up when a matching file is touched. */
  readonly paths?: readonly string[];
  /** What must be present for its scripts, as written. */
  readonly requires?: readonly string[];
}

/** How much of a skill a model sees, as the configuration says, without a change to the skill. */
export const VISIBILITIES = ['auto', 'pinned', 'name-only', 'manual', 'required', 'disabled'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** Whether a model may see a skill in this state and choose it. */
export function isForModel(state: Visibility): boolean {
  return state !== 'manual' && state !== 'disabled';
}

/** A place where skills are looked for. */
export interface SkillRoot {
  /** `project`, `user`, `builtin`, or a name of one's own. */
  readonly source: string;
  /** Absolute. */
  readonly path: string;
  /** Higher wins. */
  readonly priority: number;
  /** Somebody asked for this root by name, so that its absence is worth a word. */
  readonly explicit: boolean;
}

/** One skill of the index. */
export interface SkillEntry extends SkillHead {
  /** `source/name`, or `source/name@version` where the skill states one. */
  readonly id: string;
  readonly source: string;
  /** Folders between the root and the skill, `acme/tools`; empty for a skill directly in its root. */
  readonly group: string;
  /** The skill's folder, absolute, with forward slashes. */
  readonly dir: string;
  /** `SKILL.md`, or `skill.md` where that is all there is. */
  readonly file: string;
  /** `sha256:` of the frontmatter's bytes: the identity of what level 1 shows. The digest of the whole tree needs the whole tree read. */
  readonly digest: string;
  readonly state: Visibility;
}

/** An entry that another of the same name hides; it stays addressable as `source/name` or `group/name`. */
export interface ShadowedSkill {
  readonly name: string;
  readonly source: string;
  readonly version?: string;
  readonly dir: string;
  /** The folder of the skill that won. */
  readonly by: string;
  readonly reason: ShadowReason;
}

export type ShadowReason = 'higher-root' | 'newer-in-root' | 'first-path' | 'same-directory';

/**
 * What the person brought themselves, and what we bring. Skills of all other sources came with a project and are somebody else's until
 * a person says that its folder is trusted.
 */
export const OWN_SOURCES: ReadonlySet<string> = new Set(['user', 'builtin', 'option', 'env', 'document-root']);
