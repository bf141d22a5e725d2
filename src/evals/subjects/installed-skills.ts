/** The skills of a run as another agent sees them, and which of them a call loaded. */
import path from 'node:path';

import { isObject, type RunEvent, type OfType } from '#core';
import { readTextFile } from '#platform';
import { skillFoldersIn, skillNameAt } from '../cases/suite.ts';
import type { TranscriptCall } from './transcript.ts';

export interface InstalledSkill {
  readonly name: string;
  readonly folder: string;
  /** The longest line of the instructions that no other skill has; empty if other skills have every line. */
  readonly line: string;
}

const MAX_BYTES = 1024 * 1024;
/** Shorter lines occur by chance. */
const LEAST_LINE = 12;

export function readInstalledSkills(root: string): readonly InstalledSkill[] {
  const skills = skillFoldersIn(root).map((folder) => ({ folder, lines: bodyLines(path.join(folder, 'SKILL.md')) }));
  const owners = new Map<string, number>();
  for (const { lines } of skills) for (const line of lines) owners.set(line, (owners.get(line) ?? 0) + 1);
  return skills.map(({ folder, lines }) => {
    const own = [...lines].filter((line) => owners.get(line) === 1);
    const line = own.toSorted((a, b) => b.length - a.length)[0] ?? '';
    return { folder, name: skillNameAt(folder) ?? path.basename(folder), line };
  });
}

/** The lines of the instructions, without the frontmatter. */
function bodyLines(file: string): ReadonlySet<string> {
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') return new Set();
  const body = read.text.replace(/^---\r?\n[\s\S]*?\r?\n---\s*/, '');
  return new Set(
    body
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line.length >= LEAST_LINE),
  );
}

/** Commands that print a file. `ls` and `find` name it only. */
const READERS = /\b(?:cat|head|tail|sed|less|more|bat|nl|awk|Get-Content)\b/;

/** The skills that a successful call loaded: by a tool for skills, by reading SKILL.md, or by any output with the instructions. */
export function findLoads(
  call: TranscriptCall,
  skills: readonly InstalledSkill[],
): readonly OfType<RunEvent, 'subject-call'>['loads'][number][] {
  if (!call.ok) return [];
  const { skill: asked, output } = call;
  if (asked !== undefined) {
    // Some agents name a skill by its folder, or with a prefix for its origin.
    const named = skills.find(({ name, folder }) => [name, path.basename(folder)].includes(asked.replace(/^.*:/, '')));
    return [{ skill: named?.name ?? asked, by: 'tool' }];
  }
  const input = JSON.stringify(call.input) ?? '';
  const isRead = isFileRead(call.input) || READERS.test(input);
  return skills.flatMap(({ name, folder, line }): readonly OfType<RunEvent, 'subject-call'>['loads'][number][] => {
    if (isRead && input.includes(`/${path.basename(folder)}/SKILL.md`)) return [{ skill: name, by: 'read' }];
    return line !== '' && output.includes(line) ? [{ skill: name, by: 'body' }] : [];
  });
}

/** Whether the input has a path and writes nothing: a tool that reads a file. */
function isFileRead(input: unknown): boolean {
  if (!isObject(input)) return false;
  const names = Object.keys(input);
  return (
    names.some((name) => /^(?:path|file_?path|absolute_path)$/i.test(name)) &&
    !names.some((name) => /content|new_?(?:string|text)/i.test(name))
  );
}
