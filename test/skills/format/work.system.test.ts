import { describe, expect, it } from 'vitest';

import { findFrontmatter } from '../../../src/skills/format/bounds.ts';
import { localLinks, parseSkillMd } from '../../../src/skills/format/skill-md.ts';
import { cleanText, findHidden, printable } from '../../../src/core/text/text.ts';
import { sourceOf } from '../../core/skill-source.ts';

const LARGE = 500_000;
const KIBIBYTES = 60_000;

/** A quadratic step over half a megabyte takes a minute, and then the runner's own limit ends the test; everything here takes milliseconds. */
function within(work: () => unknown): void {
  expect(work).not.toThrow();
}

const PATTERNS = [
  '\n',
  ' ',
  '-',
  '"',
  "'",
  '\t',
  '[',
  '{',
  ':',
  ': ',
  '- ',
  '? ',
  '#',
  '&a ',
  '*a ',
  '!',
  '|\n',
  '>\n',
  'a: b: c\n',
  'a:\n ',
  '\\',
  '`',
  '](',
  '``` ',
  '\r',
  '\u200b',
  '\x1b[',
  '\x1b]',
  '---\n ',
  'a: "b\n',
  'allowed-tools\n',
  'x\n',
  ' x: y\n',
  'paths: {\n',
  '{"paths": ',
];

describe('half a megabyte of one thing', () => {
  it.each(PATTERNS)('%j between fences, as a file and as a body', (pattern) => {
    const text = pattern.repeat(LARGE / pattern.length);
    within(() => parseSkillMd(sourceOf(`---\n${text}\n---\nbody`), { mode: 'strict' }));
    within(() => parseSkillMd(sourceOf(text), { mode: 'strict' }));
    within(() => parseSkillMd(sourceOf(`---\nname: a\ndescription: ${text}`), { mode: 'strict' }));
    within(() => parseSkillMd(sourceOf(`---\nname: a\ndescription: b\n---\n${text}`), { mode: 'strict' }));
    within(() => localLinks(text, 1));
    within(() => cleanText(text));
    within(() => findHidden(text));
    within(() => printable(text));
    const bytes = new TextEncoder().encode(`---\n${text}`);
    within(() => findFrontmatter(bytes, bytes.length, true));
  });
});

describe('as much of one thing as frontmatter may hold', () => {
  it.each(PATTERNS)('%j', (pattern) => {
    const text = pattern.repeat(KIBIBYTES / pattern.length);
    within(() => parseSkillMd(sourceOf(`---\nname: a\ndescription: b\n${text}\n---\nbody`), { mode: 'strict' }));
    within(() => parseSkillMd(sourceOf(`---\nname: a\ndescription: ${text}\n---\nbody`), { mode: 'strict' }));
    within(() => parseSkillMd(sourceOf(`---\nx: y: z\nmetadata:\n  a: ${text}\n---\nbody`), { mode: 'strict' }));
  });
});
