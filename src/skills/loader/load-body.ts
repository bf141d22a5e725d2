import { isUtf8 } from 'node:buffer';

import { countCharacters, failure, offsetOfLine, quoted, startOfText, type Observation, type OfType } from '#core';
import { sha256, shownText } from '#platform';
import { lengthWithoutTrailingSpace } from '../format/source.ts';
import { MAX_FRONTMATTER_BYTES, findFrontmatter } from '../format/bounds.ts';
import { readSkillBytes } from './body.ts';
import { listFiles, type SkillFiles } from './files.ts';
import { failed, fileFailure, inSkill, type Failed, type SkillLocation } from './skill-directory.ts';

/** The index data of the skill to load. */
export interface IndexedSkill extends SkillLocation {
  /** `SKILL.md` or `skill.md`. */
  readonly file: string;
  /** `sha256:` of the frontmatter's bytes. */
  readonly digest: string;
}

/** The maximum length of a body, and how a longer one is handled. */
interface BodyLimits {
  /** Default: 500, or no limit if the body is loaded uncut. */
  readonly maxLines?: number | undefined;
  /** Default: 40,000, or no limit if the body is loaded uncut. */
  readonly maxCharacters?: number | undefined;
  readonly onTooLong: 'refuse' | 'cut';
}

export interface LoadBodyOptions extends BodyLimits {
  /** Apply only the limits that are given, not the default ones. */
  readonly uncut?: boolean;
  /** Return the whole file including the frontmatter; the limits still apply to the body. */
  readonly whole?: boolean;
}

export interface LoadedBody {
  readonly type: 'loaded';
  /** Sanitized for a model. */
  readonly text: string;
  readonly report: OfType<Observation, 'skill-loaded'>['report'];
  /** The frontmatter has changed since it was indexed. */
  readonly headChanged: boolean;
  readonly notes: readonly string[];
}

/** Reads the instructions of a selected skill and lists its files. */
export function loadSkill(skill: IndexedSkill, options: LoadBodyOptions): (LoadedBody & SkillFiles) | Failed {
  return inSkill(skill, (directory) => {
    const read = readSkillBytes(directory, skill.file);
    if (read.type !== 'read') return fileFailure(skill, skill.file, read);
    const body = parseBody(skill, read.bytes, options);
    return body.type === 'failed' ? body : { ...body, ...listFiles(directory) };
  });
}

function parseBody(skill: IndexedSkill, bytes: Buffer, options: LoadBodyOptions): LoadedBody | Failed {
  const { whole = false, uncut = false, onTooLong } = options;
  const { maxLines = uncut ? Infinity : 500, maxCharacters = uncut ? Infinity : 40_000 } = options;
  const bounds = findFrontmatter(bytes, bytes.length, true);
  if (bounds.type !== 'found' || bounds.end > MAX_FRONTMATTER_BYTES) {
    const message = `${quoted(skill.file)} of the skill ${quoted(skill.name)} no longer has frontmatter`;
    return failed(failure('skill/invalid', message));
  }
  const digest = `sha256:${sha256(bytes)}`;
  const headDigest = `sha256:${sha256(bytes.subarray(0, bounds.end))}`;

  const cleaned = shownText(bytes.subarray(bounds.end));
  const start = blankStart(cleaned.text);
  const body = cleaned.text.slice(start);
  const shown = limited(body, maxLines, maxCharacters);
  const truncated = shown.length < body.length;
  if (truncated && onTooLong === 'refuse') {
    const limit = `${String(maxLines)} lines or ${String(maxCharacters)} characters`;
    return failed(failure('body/too-long', `the body of the skill ${quoted(skill.name)} has more than ${limit}`));
  }
  const head = whole ? shownText(bytes.subarray(0, bounds.end)).text + cleaned.text.slice(0, start) : '';
  const text = head + shown;
  const bodyOffset = truncated ? shownText(bytes.subarray(0, bounds.end)).text.length + start : 0;
  return {
    type: 'loaded',
    text,
    report: {
      path: skill.file,
      digest,
      bytes: bytes.length,
      characters: countCharacters(text),
      truncated,
      ...(truncated ? { next: bodyOffset + shown.length } : {}),
      reference: `skill://${skill.name}/${skill.file}`,
    },
    headChanged: headDigest !== skill.digest,
    notes: [...(isUtf8(bytes) ? [] : ['bytes that are not UTF-8 are shown as \uFFFD']), ...cleaned.notes],
  };
}

/** The body, cut to both limits. Trailing blank lines do not count. */
function limited(body: string, maxLines: number, maxCharacters: number): string {
  const byLines = body.slice(0, offsetOfLine(body, maxLines, lengthWithoutTrailingSpace(body)) ?? body.length);
  return countCharacters(byLines) > maxCharacters ? startOfText(byLines, maxCharacters) : byLines;
}

/** The offset of the first non-blank line. */
function blankStart(text: string): number {
  const blank = /^(?:[ \t]*\n)+/.exec(text);
  return blank === null ? 0 : blank[0].length;
}
