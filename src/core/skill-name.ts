/** Validation of skill names. */
import { cleanText, findHidden, countCharacters } from './text/text.ts';

const MAX_NAME = 64;

/** Fast path for nearly all names. Patterns with Unicode properties are literals where they are used, because they take long to compile. */
const SIMPLE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

interface NameReading {
  /** The normalized name; absent if it cannot be used at all. */
  readonly name?: string;
  /** Which rule the name violates, besides its length. */
  readonly problem?: string;
  readonly isTooLong?: boolean;
}

/** Reads a name from the frontmatter or a folder. */
export function readName(written: string): NameReading {
  if (SIMPLE.test(written)) return { name: written, isTooLong: written.length > MAX_NAME };
  const hidden = findHidden(written);
  if (hidden?.kind === 'control') return { problem: 'contains control characters' };
  const name = cleanText(written).normalize('NFKC').trim();
  if (name === '') return { problem: 'is empty' };
  if (name.includes('/') || name.includes('\\')) return { problem: 'contains a slash or a backslash' };
  if (name.includes('..') || name === '.') return { problem: 'is a path' };
  if (name.includes('\n') || name.includes('\t')) return { problem: 'contains a line end or a tab' };
  return { name, problem: styleProblem(name), isTooLong: countCharacters(name) > MAX_NAME };
}

/** Whether a name follows all rules, including its length. */
export function isValidName(name: string | undefined): name is string {
  if (name === undefined) return false;
  const reading = readName(name);
  return reading.name === name && reading.problem === undefined && reading.isTooLong !== true;
}

/** The nearest valid name: `My Skill` becomes `my-skill`; `room` more characters fit behind it. Undefined if nothing is left. */
export function toSlug(text: string, room = 0): string | undefined {
  const slug = cleanText(text.slice(0, 1000))
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-');
  const cut = Array.from(slug.replace(/^-/, ''))
    .slice(0, MAX_NAME - room)
    .join('')
    .replace(/-$/, '');
  return isValidName(cut) ? cut : undefined;
}

function styleProblem(name: string): string | undefined {
  if (name.startsWith('-') || name.endsWith('-')) return 'starts or ends with a hyphen';
  if (name.includes('--')) return 'contains two hyphens in a row';
  if (name !== name.toLowerCase()) return 'contains upper-case letters';
  return /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*$/u.test(name)
    ? undefined
    : 'contains characters other than letters, digits and hyphens';
}
