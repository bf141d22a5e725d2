import path from 'node:path';

import { SCAN_NOTE } from '#scan';
import { readTreeDigest } from '#platform';
import { printable, type Problem } from '#core';
import { accepted, updateLines, updateSkills } from '#packs';
import { toggle, type Invocation } from '../command.ts';
import { usageError } from '../exit.ts';
import { openSkillAgents, reportUnplaced, type SkillAgents } from './agent-flags.ts';
import {
  ACCEPT_FLAG,
  CHANGE_FLAGS,
  changeOptions,
  definePluginCommand,
  refreshed,
  refusalStatus,
  settingsFor,
  trustConfirmed,
  trustHint,
  withProgress,
} from './pack-command.ts';
import { FINDINGS_FLAG, findingLines, keptLines, type PlanView } from './show-pack.ts';
import { askStreams, isTerminal } from '../terminal/ask.ts';
import { reportHint, showPlan, type Terminal } from '../terminal/terminal.ts';

type Updated = Exclude<Awaited<ReturnType<typeof updateSkills>>, Problem>;

const flags = {
  ...CHANGE_FLAGS,
  merge: toggle('merge your changes with the new version; report conflicts (the default at a terminal)'),
  keep: toggle('keep the files you changed; update all others'),
  force: toggle('replace all files; accept older versions and other signers'),
  strict: toggle('refuse versions that violate the specification (default: format.mode, or warn)'),
  lenient: toggle('the default; kept for existing scripts', { hidden: true }),
  ...ACCEPT_FLAG,
  ...FINDINGS_FLAG,
  offline: toggle('use no network'),
  'require-signed': toggle('accept only packs signed with a pinned key (see skillwright keys)'),
} as const;

export const command = definePluginCommand({
  usage: 'update [NAME...] [--merge|--keep|--force] [--scope project|user] [--dry-run] [--yes]',
  details: [
    'Updates installed skills from their sources. Shows new capabilities, scan findings and every changed line, and asks for confirmation. Local changes of a skill are merged line by line: at a terminal after you confirm the result, otherwise only with --merge; --keep and --force treat them differently. Changes of the same lines are a conflict, which is shown and changes nothing. A skill that cannot be updated does not stop the others.',
    'The previous version is kept; see skillwright rollback.',
    'Exit code 1: a skill could not be updated; 3: refused by policy, or not confirmed.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright update', 'update every skill of this project'],
    ['skillwright update pdf-forms --dry-run', 'print the changes only'],
    ['skillwright update pdf-forms --merge', 'merge your local changes'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const mode = chooseMode(invocation);
    const settings = await settingsFor(invocation);
    const { flags: flagValues, positionals: names, terminal } = invocation;
    const { confirm: ask, ...options } = changeOptions(invocation, settings);
    const show = (changed: Updated['changed']): void => {
      const isFound = changed.some(({ skill: { scan } }) => scan.stops.length + scan.warnings.length > 0);
      const view = { all: flagValues.findings === true };
      const lines = changed.flatMap((skill) => changedLines(skill, terminal, view));
      const note = isFound ? [terminal.style('dim', SCAN_NOTE)] : [];
      showPlan([...lines, ...note], flagValues.yes !== true && !options.dryRun, terminal);
    };
    const updated = await withProgress(invocation, (onProgress, end) =>
      updateSkills({
        ...options,
        settings: { ...settings, requireSigned: settings.requireSigned || flagValues['require-signed'] === true },
        names,
        mode,
        strict: flagValues.strict === true ? true : flagValues.lenient === true ? false : undefined,
        offline: flagValues.offline === true,
        trust: true,
        onProgress,
        async confirm(changed) {
          end();
          show(changed);
          return ask(questionFor(changed));
        },
      }),
    );
    const done = accepted(updated);
    if (!done.isDone) show(done.changed);
    return await report(invocation, done, openSkillAgents(settings, terminal));
  },
});

type UpdateInvocation = Invocation<typeof flags>;

/** At a terminal the user sees the merge before confirming it, so it is the default. A script has to ask for it. */
function chooseMode({ flags: { merge, keep, force, yes } }: UpdateInvocation) {
  if ([merge, keep, force].filter((flag) => flag === true).length > 1)
    throw usageError('--merge, --keep and --force cannot be combined', 'see skillwright update --help');
  if (keep === true) return 'keep';
  if (force === true) return 'force';
  const isReviewed = yes !== true && isTerminal(askStreams(process));
  return merge === true || isReviewed ? 'merge' : 'refuse';
}

function questionFor(changed: Updated['changed']): string {
  const merged = changed.filter((skill) => skill.merged.length > 0).map(({ name }) => name);
  const how = merged.length === 0 ? '' : ` and merge the local changes of ${merged.join(', ')}`;
  return `update ${changed.map(({ name }) => name).join(', ')}${how}`;
}

async function report(invocation: UpdateInvocation, updated: Updated, agents: SkillAgents): Promise<number> {
  const { flags: options, terminal } = invocation;
  const { root, skills, changed, isDone, kept, notes, unplaced } = updated;
  terminal.remark(notes.map((note) => `note: ${printable(note)}`));
  const refused = skills.flatMap((skill) => (skill.status === 'refused' ? [skill] : []));
  if (options.json !== true) {
    for (const { name, status } of changed)
      terminal.out(`${WORDS[status][isDone ? 'done' : 'dry']} ${printable(name)}${agents.text(name)}`);
    terminal.remark(keptLines(kept));
    for (const skill of refused) {
      const { name, refusal } = skill;
      terminal.err(
        `${terminal.style('red', 'not updated')} ${printable(name)}: ${refusal.message} ${terminal.style('dim', refusal.code)}`,
      );
      terminal.err(updateLines(skill, terminal.width));
      reportHint(terminal, refusal.hint);
    }
    if (changed.length + refused.length === 0) terminal.remark('everything is up to date');
  }
  const runtime = isDone && changed.length > 0 ? await refreshed(invocation) : undefined;
  const [trusted, others] = [true, false].map((isTrusted) => changed.filter((skill) => skill.isTrusted === isTrusted));
  if (runtime !== undefined)
    await trustConfirmed(
      invocation,
      runtime,
      await digestsIn(root, trusted ?? []),
      others?.map(({ name }) => name),
    );
  const answer = {
    ok: refused.length + unplaced.length === 0,
    done: isDone,
    root,
    skills: skills.map((skill) => ({ ...updateJson(skill), agents: agents.all(skill.name) })),
    kept,
    unplaced,
    indexHash: runtime?.index.indexHash,
  };
  if (!terminal.printJson(answer) && runtime !== undefined) await trustHint(invocation, runtime, root);
  return Math.max(reportUnplaced(invocation, updated), ...refused.map(({ refusal }) => refusalStatus(refusal)));
}

/** A merge has bytes that no source has, so the digests are those on disk; the user trusted the old files and saw every change. */
async function digestsIn(root: string, skills: Updated['changed']): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const { name } of skills) {
    const read = await readTreeDigest(path.join(root, name));
    if (read.type === 'digest') digests.set(name, read.digest);
  }
  return digests;
}

const WORDS = {
  update: { done: 'updated', dry: 'would update' },
  new: { done: 'installed', dry: 'would install' },
} as const;

const MAX_NAMED = 10;

/** The plan of an update, for the user who confirms it: changes, capabilities, findings, and the fate of local edits. */
function changedLines(changed: Updated['changed'][number], terminal: Terminal, view: PlanView): readonly string[] {
  const { skill, merged, kept, lost } = changed;
  const { style } = terminal;
  return [
    ...updateLines(changed, terminal.width),
    ...listWithLimit('merged with the local changes', merged, (text) => style('yellow', text)),
    ...listWithLimit('kept as changed in this folder', kept, (text) => style('yellow', text)),
    ...listWithLimit('local change is replaced (kept in the previous version)', lost, (text) => style('red', text)),
    ...skill.notes.map((note) => `${style('yellow', 'note')} ${note}`),
    ...findingLines(skill.scan, terminal, view),
    '',
  ];
}

function listWithLimit(what: string, paths: readonly string[], style: (text: string) => string): readonly string[] {
  const more = paths.length - MAX_NAMED;
  return [
    ...paths.slice(0, MAX_NAMED).map((path) => `${style(what)}: ${printable(path)}`),
    ...(more > 0 ? [`${style(what)}: ${String(more)} more`] : []),
  ];
}

function updateJson(update: Updated['skills'][number]): object {
  const { name, status } = update;
  if (status === 'current') return { name, status, reason: update.reason };
  if (status === 'refused') {
    const { conflicts, refusal } = update;
    const { code, message, hint, path: file } = refusal;
    const shown = conflicts.length === 0 ? undefined : conflicts;
    return { name, status, error: { code, message, hint, path: file, conflicts: shown } };
  }
  const { before, lock, skill, changes, merged, kept, lost } = update;
  return {
    name,
    status,
    from: before === undefined ? null : lockedJson(before),
    to: lockedJson(lock),
    changes,
    merged,
    kept,
    lost,
    findings: { stops: skill.scan.stops, warnings: skill.scan.warnings },
    notes: skill.notes,
  };
}

function lockedJson({ version, revision, digest }: Updated['changed'][number]['lock']): object {
  return { version: version ?? null, revision: revision ?? null, digest };
}
