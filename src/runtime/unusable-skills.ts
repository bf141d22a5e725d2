import type { Diagnostic } from '#core';
import type { SkillIndex } from '#skills';

/** Leaves out skills whose SKILL.md has one of these diagnostics, as if it could not be read. */
export function withoutUnusable(index: SkillIndex, codes: readonly Diagnostic['code'][]): SkillIndex {
  if (codes.length === 0) return index;
  const found = index.diagnostics.filter(({ code }) => codes.includes(code));
  const byPath = new Map(found.toReversed().map((diagnostic) => [diagnostic.path, diagnostic]));
  const isUsable = ({ dir, file }: SkillIndex['all'][number]): boolean => !byPath.has(`${dir}/${file}`);
  // What lenient reading does instead follows a semicolon.
  const leftOut = [...byPath.values()].map(({ path, code, message }) => ({
    path,
    code,
    message: message.split(';', 1)[0] ?? message,
  }));
  const { skills, all, report } = index;
  return {
    ...index,
    skills: skills.filter(isUsable),
    all: all.filter(isUsable),
    report: { ...report, leftOut: [...report.leftOut, ...leftOut] },
  };
}
