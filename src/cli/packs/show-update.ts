/** The plan of an update, for the user who confirms it: changes, capabilities, findings, and the fate of local edits. */
import { countUpdate, updateLines } from '../../packs/update/update-text.ts';
import type { LockedSkill } from '../../packs/lock/lock.ts';
import { printable } from '../../core/text/text.ts';
import type { ChangedSkill, SkillUpdate } from '../../packs/update/update-skill.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { findingLines } from './show-findings.ts';
import type { FindingsView } from './show-findings.ts';

const MAX_NAMED = 10;

export function changedLines(changed: ChangedSkill, terminal: Terminal, view: FindingsView): readonly string[] {
  const { name, before, lock, files, skill, merged, kept, lost } = changed;
  const { style } = terminal;
  const [from, to] = [versionOf(before), versionOf(lock)];
  return [
    ...updateLines(
      { name, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }), files },
      { width: terminal.width },
    ),
    ...named('merged with your changes', merged, (text) => style('yellow', text)),
    ...named('kept as you changed it', kept, (text) => style('yellow', text)),
    ...named('your change is replaced (kept in the previous version)', lost, (text) => style('red', text)),
    ...skill.notes.map((note) => `${style('yellow', 'note')} ${note}`),
    ...findingLines(skill.scan, terminal, view),
    '',
  ];
}

/** The version, or else a prefix of the revision. */
function versionOf(locked: LockedSkill | undefined): string | undefined {
  return locked?.version ?? locked?.revision?.slice(0, 12);
}

function named(what: string, paths: readonly string[], style: (text: string) => string): readonly string[] {
  const more = paths.length - MAX_NAMED;
  return [
    ...paths.slice(0, MAX_NAMED).map((path) => `${style(what)}: ${printable(path)}`),
    ...(more > 0 ? [`${style(what)}: ${String(more)} more`] : []),
  ];
}

/** A skill of an update as `--json` prints it. */
export function updateJson(update: SkillUpdate): object {
  const { name, status } = update;
  if (status === 'current') return { name, status, reason: update.reason };
  if (status === 'refused') {
    const { code, message, hint, path } = update.refusal;
    return { name, status, error: { code, message, hint, ...(path === undefined ? {} : { path }) } };
  }
  const { before, lock, skill, files, merged, kept, lost } = update;
  return {
    name,
    status,
    from: before === undefined ? null : lockedJson(before),
    to: lockedJson(lock),
    changes: countUpdate(files),
    merged,
    kept,
    lost,
    findings: { stops: skill.scan.stops, warnings: skill.scan.warnings },
    notes: skill.notes,
  };
}

function lockedJson({ version, revision, digest }: LockedSkill): object {
  return { version: version ?? null, revision: revision ?? null, digest };
}
