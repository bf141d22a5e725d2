/** The plan of an install, for the user who confirms it: the verdict on each skill, its permissions and scan findings. */
import path from 'node:path';

import { compareText, countText, printable, type Problem } from '#core';
import { bytesText } from '../terminal/quantities.ts';
import { diagnosticText } from '../skills/show-diagnostics.ts';
import { padText } from '#platform';
import type { PolicyResult } from '#scan';
import { toggle } from '../command.ts';
import type { installSkills } from '#packs';
import type { Terminal } from '../terminal/terminal.ts';

export type Installed = Exclude<Awaited<ReturnType<typeof installSkills>>, Problem>;
export type InstallPlan = Installed['plan'];
type PlannedSkill = InstallPlan['skills'][number];
type RefusedSkill = InstallPlan['refused'][number];
type InspectedSkill = PlannedSkill['skill'];

const MARKS = { new: '+', replace: '~', same: '=' } as const;
const STYLES = { new: 'green', replace: 'yellow', same: 'dim' } as const;

export interface PlanView {
  /** Shows every diagnostic and finding instead of counts. */
  readonly all: boolean;
}

export function planLines(plan: InstallPlan, terminal: Terminal, view: PlanView): readonly string[] {
  const { typed, resolved, root, skills, refused, notes, leftOut, places, signedBy } = plan;
  const revision = resolved.revision === undefined ? '' : ` at ${printable(resolved.revision)}`;
  const elsewhere = resolved.leadsTo === undefined ? '' : `, which leads to ${printable(resolved.leadsTo)}`;
  const width = Math.max(4, ...skills.map(({ skill }) => printable(skill.name).length));
  return [
    `from ${printable(typed)}${elsewhere}${revision}`,
    `to   ${printable(root)}`,
    ...placeLines(places, root, terminal),
    ...(signedBy === undefined ? [] : [`signed by ${printable(signedBy)}`]),
    ...skills.flatMap((planned) => skillLines(planned, width, terminal, view)),
    ...refusedLines(refused, terminal, view),
    ...notes.map((note) => `  ${terminal.style('yellow', 'note')} ${note}`),
    ...leftOutLines(leftOut, terminal),
  ].map((line) => terminal.wrap(line, 6));
}

function skillLines(
  { skill, change, isNeeded, before }: PlannedSkill,
  width: number,
  terminal: Terminal,
  view: PlanView,
): readonly string[] {
  const { style } = terminal;
  const files = Object.values(skill.files);
  const scripts = files.filter(({ executable }) => executable === true).length;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const version = [before?.version, skill.version].filter((one) => one !== undefined).map((one) => printable(one));
  const words = [
    ...(version.length === 0 ? [] : [[...new Set(version)].join(' → ')]),
    `${countText(files.length, 'file')}, ${bytesText(bytes)}`,
    ...(scripts === 0 ? [] : [`${String(scripts)} executable`]),
    ...(skill.allowedTools === undefined ? [] : [`tools: ${printable(skill.allowedTools.join(' ') || 'none')}`]),
    ...(isNeeded ? ['required by another skill'] : []),
    ...(change === 'same' ? ['already installed'] : []),
  ];
  return [
    `  ${style(STYLES[change], `${MARKS[change]} ${padText(printable(skill.name), width)}`)}  ${words.join('; ')}`,
    ...warningLines(skill, terminal, view),
  ];
}

/** Each refused skill with the reason and what would allow it. */
export function refusedLines(refused: readonly RefusedSkill[], terminal: Terminal, view: PlanView): readonly string[] {
  const { style } = terminal;
  return refused.flatMap(({ name, refusal, skill }) => [
    `  ${style('red', `x ${printable(name)}`)}  refused: ${refusal.message} ${style('dim', refusal.code)}`,
    `      ${style('dim', refusal.allow === undefined ? refusal.hint : `allowed by: ${refusal.allow}`)}`,
    ...(skill === undefined || refusal.code !== 'pack/scan' ? [] : scanLines(skill, terminal, view)),
  ]);
}

/** Notes, violations of the specification, and findings. Critical findings are always shown one by one. */
function warningLines(skill: InspectedSkill, terminal: Terminal, view: PlanView): readonly string[] {
  const { style } = terminal;
  const violations = skill.diagnostics.filter(({ severity }) => severity !== 'info');
  const more = violations.length - 1;
  const shown = (view.all ? violations : violations.slice(0, 1)).map(
    (diagnostic) => diagnosticText(diagnostic, terminal).split('\n')[0] ?? '',
  );
  return [
    ...skill.notes.map((note) => `      ${style('yellow', 'note')} ${note}`),
    ...shown.map((line) => `      ${line}${more > 0 && !view.all ? style('dim', ` and ${String(more)} more`) : ''}`),
    ...scanLines(skill, terminal, view),
  ];
}

function scanLines({ scan }: InspectedSkill, terminal: Terminal, view: PlanView): readonly string[] {
  return findingLines(scan, terminal, view).map((line) => `      ${line}`);
}

function leftOutLines(leftOut: readonly string[], { style }: Terminal): readonly string[] {
  // Each skill that is not installed is named; of other files, some.
  const isSkill = (line: string): boolean => /(?:^|\/)skill\.md: /i.test(line);
  const others = leftOut.filter((line) => !isSkill(line));
  const shown = others.slice(0, 5).map((name) => printable(name));
  const more = others.length > 5 ? ` and ${String(others.length - 5)} more` : '';
  return [
    ...leftOut.filter(isSkill).map((line) => `  ${style('yellow', 'left out')} ${printable(line)}`),
    ...(others.length === 0 ? [] : [style('dim', `  skipped: ${shown.join(', ')}${more}`)]),
  ];
}

export function planJson({ root, resolved, skills, refused, notes, leftOut, places, signedBy }: InstallPlan): object {
  return {
    root,
    source: resolved,
    signedBy,
    leftOut,
    notes,
    places,
    skills: skills.map(({ verdict, skill, change, isNeeded, lock }) => ({
      name: skill.name,
      folder: skill.folder,
      verdict,
      change,
      isNeeded,
      version: skill.version ?? null,
      digest: skill.digest,
      files: Object.keys(skill.files).length,
      requires: lock.requires ?? [],
      ...inspectedJson(skill),
      notes: skill.notes,
    })),
    refused: refusedJson(refused),
  };
}

export function refusedJson(refused: readonly RefusedSkill[]): readonly object[] {
  return refused.map(({ name, folder, verdict, isNamed, refusal: { code, message, hint, path, allow }, skill }) => ({
    name,
    folder,
    verdict,
    isNamed,
    code,
    message,
    hint,
    allow: allow ?? null,
    path,
    ...(skill && inspectedJson(skill)),
  }));
}

function inspectedJson({ diagnostics, scan }: InspectedSkill): object {
  return {
    diagnostics: diagnostics.map(({ code, severity, path, line, message }) => {
      return { code, severity, path, line, message };
    }),
    findings: { stops: scan.stops, warnings: scan.warnings },
  };
}

const MAX_NAMES = 5;

/** One line per folder: `for claude-code  .claude/skills: 18 links`. */
function placeLines(places: InstallPlan['places'], root: string, { style }: Terminal): readonly string[] {
  return places.flatMap((place) => {
    const { agents, folder, isRoot, kind, add, same, taken, problem } = place;
    const start = `for ${agents.length === 0 ? printable(folder) : `${agents.join(', ')}  ${printable(shortPath(folder, root))}`}`;
    if (problem !== undefined) return [`${start}: ${style('red', 'not possible')}: ${problem}`];
    if (isRoot) return [`${start}: ${style('dim', 'reads the root itself')}`];
    const counts = [
      ...(add.length === 0 ? [] : [countText(add.length, kind, kind === 'copy' ? 'copies' : 'links')]),
      ...(same.length === 0 ? [] : [`${String(same.length)} already there`]),
    ];
    return [
      `${start}: ${counts.join(', ') || 'nothing'}`,
      ...(taken.length === 0
        ? []
        : [`    ${style('yellow', 'not touched')}, made by others: ${listed(taken.map((name) => printable(name)))}`]),
    ];
  });
}

/** The path as seen from the folder that contains `.agents/skills`. */
function shortPath(folder: string, root: string): string {
  const below = path.relative(path.resolve(root, '../..'), folder);
  return below.startsWith('..') ? folder : below;
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

export function keptLines(kept: Installed['kept']): readonly string[] {
  return kept.map(({ part, name, id }) => `previous ${printable(name)} kept in ${part}/${id}`);
}

export const FINDINGS_FLAG = {
  findings: toggle('show every finding of the scan, not only the critical ones'),
} as const;

/** Findings of the static scan: critical ones one by one, the others as counts per rule. */
export function findingLines(
  { stops, warnings }: Pick<PolicyResult, 'stops' | 'warnings'>,
  { style }: Terminal,
  { all }: PlanView,
): readonly string[] {
  const findings = [...stops, ...warnings];
  // What stops an install is shown in full even if the policy stops less than critical findings.
  const isShown = (finding: Finding): boolean => all || finding.severity === 'critical' || stops.includes(finding);
  const counted = ruleCounts(findings.filter((finding) => !isShown(finding)));
  return [
    ...findings.filter(isShown).map((finding) => `${style('yellow', 'scan')} ${findingText(finding)}`),
    ...(counted.length === 0 ? [] : [`${style('yellow', 'scan')} ${counted.join(', ')}`]),
  ];
}

type Finding = PolicyResult['stops'][number];

const SEVERITIES: readonly Finding['severity'][] = ['critical', 'high', 'medium', 'low'];

/** How often each rule was found, most severe and most frequent first. One rule can have several severities. */
function ruleCounts(findings: readonly Finding[]): readonly string[] {
  const counts = new Map<string, { readonly rule: string; readonly rank: number; readonly count: number }>();
  for (const { rule, severity } of findings) {
    const key = `${severity} ${rule}`;
    counts.set(key, { rule, rank: SEVERITIES.indexOf(severity), count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts]
    .toSorted(([, a], [, b]) => a.rank - b.rank || b.count - a.count || compareText(a.rule, b.rule))
    .map(([key, { count }]) => (count === 1 ? key : `${key} ×${String(count)}`));
}

/** One line in the format of compiler messages. */
function findingText({ path: file, line, column, severity, message, rule }: Finding): string {
  return `${printable(file)}:${String(line)}:${String(column)} ${severity} ${printable(message)} (${rule})`;
}
