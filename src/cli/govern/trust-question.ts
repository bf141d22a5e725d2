/** How skills are shown to a person who decides whether to trust them. All text of skills is untrusted: escaped and cut. */
import path from 'node:path';

import { countText, printable, shownText } from '#core';
import { findLocked } from '#packs';
import { fitText, padText, readTextFile, textWidth } from '#platform';
import type { openTrust } from '#policy';
import type { reviewSkills } from '#runtime';
import type { Terminal } from '../terminal/terminal.ts';
import { wrapWords } from '../terminal/wrap.ts';

type SkillToTrust = Parameters<ReturnType<typeof openTrust>['trustSkills']>[0][number];

/** Beyond this only names are shown; `skillwright trust --dry-run` shows all. */
const MAX_SHOWN = 20;
const MAX_NAME = 40;
const MAX_LISTED = 12;
/** The prefix `sha256-tree:` and 12 digits. */
const DIGEST_LENGTH = 24;

type ReviewedSkill = Awaited<ReturnType<typeof reviewSkills>>[number];

export interface ReviewText {
  readonly skills: readonly ReviewedSkill[];
  /** A remark for some skills by folder, such as `changed since you trusted it`. */
  readonly remarks?: ReadonlyMap<string, string>;
  readonly isWhole?: boolean;
}

/** Two lines for each skill: files, digest and origin, and what the skill says that it uses. */
export function reviewLines({ skills, remarks, isWhole = false }: ReviewText, terminal: Terminal): readonly string[] {
  const shown = isWhole ? skills : skills.slice(0, MAX_SHOWN);
  const names = shown.map(({ name }) => shownText(name, MAX_NAME));
  const width = Math.max(4, ...names.map(textWidth));
  const lines = shown.flatMap((skill, at) => {
    const { scripts, files, digest, problem, dir } = skill;
    const counts = `${countText(scripts, 'script')}, ${countText(files, 'file')}`;
    const identity = digest === undefined ? `no digest: ${printable(problem ?? '')}` : digest.slice(0, DIGEST_LENGTH);
    const remark = remarks?.get(dir);
    return [
      `  ${terminal.style('bold', padText(names[at] ?? '', width))}  ${counts}  ${terminal.style('dim', identity)}`,
      ...[...(remark === undefined ? [] : [remark]), wantsText(skill), ...describeOrigin(skill)].map((text) =>
        terminal.style('dim', wrapWords(`    ${text}`, { width: terminal.width, indent: 4 })),
      ),
    ];
  });
  const others = skills.slice(shown.length);
  if (others.length === 0) return lines;
  return [
    ...lines,
    `  and ${String(others.length)} more: ${fitText(others.map(({ name }) => shownText(name, MAX_NAME)).join(', '), 200)}`,
    '  all of them: skillwright trust --dry-run',
  ];
}

/** What the skill says that it uses. The sandbox and the policy decide what it gets. */
function wantsText({ wants: { tools, programs, secrets, network } }: ReviewedSkill): string {
  const list = (names: readonly string[]): string => {
    const more = names.length - MAX_LISTED;
    const shown = names.slice(0, MAX_LISTED).map((name) => shownText(name, MAX_NAME));
    return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
  };
  return [
    `tools: ${tools === undefined ? 'any' : tools.length === 0 ? 'none' : list(tools)}`,
    ...(programs.length === 0 ? [] : [`programs: ${list(programs)}`]),
    ...(network ? ['network: wanted'] : []),
    ...(secrets.length === 0 ? [] : [`secrets: ${list(secrets)}`]),
  ].join('; ');
}

/** The source in the lock file of its root. The project can write anything there. */
function describeOrigin({ dir }: ReviewedSkill): readonly string[] {
  const source = findLocked([dir]).get(dir)?.source;
  return source === undefined ? [] : [`installed from ${shownText(source, 120)}, as skills.lock.json says`];
}

/** What to trust after the question: the bytes and the origin that it showed. */
export function reviewedSkills(skills: readonly ReviewedSkill[], isOwn: boolean): readonly SkillToTrust[] {
  const locked = findLocked(skills.map(({ dir }) => dir));
  return skills.flatMap(({ dir, digest, head }) =>
    digest === undefined ? [] : [{ dir, digest, head, isOwn, origin: locked.get(dir)?.source }],
  );
}

const MAX_GIT_CONFIG = 64 * 1024;

/** The project folder and, if it is a clone, where it was cloned from. */
export function projectLine(folder: string): string {
  const read = readTextFile(path.join(folder, '.git/config'), MAX_GIT_CONFIG);
  const url = read.type === 'read' ? /\[remote "origin"\][^[]*?\n\s*url\s*=\s*(\S+)/.exec(read.text)?.[1] : undefined;
  // A URL may contain a password.
  const shown = url?.replace(/\/\/[^/@]*@/, '//');
  return `${printable(folder)}${shown === undefined ? '' : `  (git origin: ${shownText(shown, 120)})`}`;
}
