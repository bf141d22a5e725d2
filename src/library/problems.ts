import { countText, isForModel, quoted, type Problem } from '#core';
import type { Runtime } from '#runtime';
import { withoutClauses } from './embedder-hints.ts';

/** Something that was named and is not used, or not as it is, with the change of the program that uses it. */
export interface LibraryProblem extends Problem {
  /** The skill, if it has a name. */
  readonly skill?: string;
  /** Where the problem is: a file or folder. */
  readonly path: string;
}

/** What is wrong with the sources and skills of a library, worst first: nothing that was named is left out silently. */
export function findProblems({ index, diagnostics }: Runtime): readonly LibraryProblem[] {
  const { report } = index;
  const known = new Set(index.all.map(({ dir }) => dir));
  const names = new Map(index.all.map(({ dir, name }) => [dir, name]));
  const leftOut = new Set(report.leftOut.map(({ path }) => path));
  return [
    ...report.leftOut.map(({ path, code, message }) => ({
      code,
      path,
      message: `the skill in ${quoted(folderOf(path), 200)} is left out: ${withoutClauses(message)}`,
      hint: 'correct its SKILL.md; checkSkill of skillwright reports every line',
    })),
    ...report.roots.flatMap(({ path, status, skills }) => {
      if (status === 'scanned' && skills > 0) return [];
      const why = status === 'scanned' ? 'contains no folder with a SKILL.md' : `is ${ROOT_STATES[status]}`;
      return [
        {
          code: 'root/empty',
          path,
          message: `${quoted(path, 200)} ${why}`,
          hint: "name the folder of the skills: from: ['./skills']",
        },
      ];
    }),
    ...index.skills
      .filter(({ state }) => !isForModel(state))
      .map(({ name, dir }) => ({
        code: 'skill/hidden',
        skill: name,
        path: dir,
        message: `${name}: not offered to the model, because its SKILL.md or the configuration disables that`,
        hint: 'remove disable-model-invocation from its SKILL.md, or its name from config.skill_visibility',
      })),
    ...report.conflicts.map(({ name, dir, by, reason }) => ({
      code: 'skill/shadowed',
      skill: name,
      path: dir,
      message: `${name}: ${quoted(dir, 200)} is hidden by the skill of the same name in ${quoted(by, 200)} (${reason})`,
      hint: 'rename one of them, or name its source first in from',
    })),
    ...diagnostics
      .filter(
        ({ path, code, severity }) =>
          (severity !== 'info' || code === 'root/not-supported') && !leftOut.has(path) && !LISTED.has(code),
      )
      .map(({ code, path, line, message, hint }) => ({
        code,
        skill: names.get(folderOf(path)),
        path,
        message: `${path}:${String(line)}: ${withoutClauses(message)}`,
        hint: withoutClauses(hint),
      })),
    ...(known.size > 0 ? [] : [noSkills(report.roots.length)]),
  ];
}

function noSkills(roots: number): LibraryProblem {
  const searched = roots === 0 ? 'from names no source' : `${countText(roots, 'source')} searched`;
  return {
    code: 'library/empty',
    path: '',
    message: `there are no skills: ${searched}`,
    hint: 'name a folder of skills in from',
  };
}

/** What `report.roots` says, too. */
const LISTED: ReadonlySet<string> = new Set(['root/missing', 'root/not-a-directory', 'root/unreadable']);

const ROOT_STATES = {
  missing: 'missing',
  unreadable: 'not readable',
  'not-a-directory': 'not a folder',
  repeated: 'named twice',
} as const;

function folderOf(file: string): string {
  return file.slice(0, Math.max(file.lastIndexOf('/'), 0));
}
