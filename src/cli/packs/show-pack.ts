/** The plan of an install, for the user who confirms it: skills, their permissions and scan findings. */
import { findingText } from '../../packs/scan/finding.ts';
import { printable } from '../../core/text/text.ts';
import type { InstallPlan, PlannedSkill } from '../../packs/install.ts';
import { bytesText } from '../terminal/quantities.ts';
import { diagnosticText } from '../skills/show-diagnostics.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { padText } from '../../platform/text-width.ts';
import { placeLines } from './show-places.ts';

const MARKS = { new: '+', replace: '~', same: '=' } as const;
const STYLES = { new: 'green', replace: 'yellow', same: 'dim' } as const;
/** At most this many findings are shown per skill. */
const MAX_FINDINGS = 20;

export function planLines(plan: InstallPlan, terminal: Terminal): readonly string[] {
  const { typed, resolved, root, skills, leftOut, places, signedBy } = plan;
  const revision = resolved.revision === undefined ? '' : ` at ${printable(resolved.revision)}`;
  const width = Math.max(4, ...skills.map(({ skill }) => printable(skill.name).length));
  return [
    `from ${printable(typed)}${revision}`,
    `to   ${printable(root)}`,
    ...placeLines(places, root, terminal),
    ...(signedBy === undefined ? [] : [`signed by ${printable(signedBy)}`]),
    ...skills.flatMap((planned) => skillLines(planned, width, terminal)),
    ...leftOutLines(leftOut, terminal),
  ];
}

function skillLines(
  { skill, change, isNeeded, before }: PlannedSkill,
  width: number,
  terminal: Terminal,
): readonly string[] {
  const { style } = terminal;
  const files = Object.values(skill.files);
  const scripts = files.filter(({ executable }) => executable === true).length;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const version = [before?.version, skill.version].filter((one) => one !== undefined).map((one) => printable(one));
  const words = [
    ...(version.length === 0 ? [] : [[...new Set(version)].join(' → ')]),
    `${String(files.length)} files, ${bytesText(bytes)}`,
    ...(scripts === 0 ? [] : [`${String(scripts)} executable`]),
    ...(skill.allowedTools === undefined ? [] : [`tools: ${printable(skill.allowedTools.join(' ') || 'none')}`]),
    ...(isNeeded ? ['required by another skill'] : []),
    ...(change === 'same' ? ['already installed'] : []),
  ];
  const { stops, warnings } = skill.scan;
  const findings = [...stops, ...warnings];
  const more = findings.length - MAX_FINDINGS;
  return [
    `  ${style(STYLES[change], `${MARKS[change]} ${padText(printable(skill.name), width)}`)}  ${words.join('; ')}`,
    ...skill.notes.map((note) => `      ${style('yellow', 'note')} ${note}`),
    ...skill.diagnostics
      .filter(({ severity }) => severity !== 'info')
      .map((diagnostic) => `      ${diagnosticText(diagnostic, terminal).split('\n')[0] ?? ''}`),
    ...findings.slice(0, MAX_FINDINGS).map((finding) => `      ${style('yellow', 'scan')} ${findingText(finding)}`),
    ...(more > 0 ? [`      ${style('dim', `and ${String(more)} more findings`)}`] : []),
  ];
}

function leftOutLines(leftOut: readonly string[], { style }: Terminal): readonly string[] {
  if (leftOut.length === 0) return [];
  const shown = leftOut.slice(0, 5).map((name) => printable(name));
  const more = leftOut.length > 5 ? ` and ${String(leftOut.length - 5)} more` : '';
  return [style('dim', `  skipped: ${shown.join(', ')}${more}`)];
}

/** The plan as `--json` prints it. */
export function planJson({ root, resolved, skills, leftOut, places, signedBy }: InstallPlan): object {
  return {
    root,
    source: resolved,
    ...(signedBy === undefined ? {} : { signedBy }),
    leftOut,
    places,
    skills: skills.map(({ skill, change, isNeeded, lock }) => ({
      name: skill.name,
      change,
      isNeeded,
      version: skill.version ?? null,
      digest: skill.digest,
      files: Object.keys(skill.files).length,
      requires: lock.requires ?? [],
      diagnostics: skill.diagnostics.map(({ code, severity, path, line, message }) => ({
        code,
        severity,
        path,
        line,
        message,
      })),
      findings: { stops: skill.scan.stops, warnings: skill.scan.warnings },
      notes: skill.notes,
    })),
  };
}
