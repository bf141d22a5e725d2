import type { Diagnostic, Mode, SkillHead } from '#core';

/** The text of a SKILL.md, as far as it was read, and its location. */
export interface HeadSource {
  /** The path of the file, for diagnostics. */
  readonly path: string;
  /** The folder's base name. */
  readonly directory: string;
  /** `SKILL.md` or `skill.md`. */
  readonly fileName: string;
  /** From byte 0 to the end of the closing fence line, or more. A byte order mark is kept. */
  readonly text: string;
  readonly validUtf8: boolean;
}

export interface HeadReading {
  /** Absent if the skill is excluded; `diagnostics` then contains the reason. */
  readonly head?: SkillHead;
  readonly diagnostics: readonly Diagnostic[];
}

export interface HeadOptions {
  readonly mode: Mode;
  /** Exclude skills with `<` or `>` anywhere in the frontmatter. */
  readonly blockAngleBrackets?: boolean;
}

export function lengthWithoutTrailingSpace(text: string): number {
  let length = text.length;
  while (length > 0 && text.charCodeAt(length - 1) <= 0x20) length -= 1;
  return length;
}
