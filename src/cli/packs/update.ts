import { isRefusal } from '../../packs/problems.ts';
import { SCAN_NOTE } from '../../packs/scan/finding-text.ts';
import { printable } from '../../core/text/text.ts';
import type { UpdateMode } from '../../packs/update/update-plan.ts';
import { isChanged, updateSkills } from '../../packs/update/update.ts';
import type { Updated } from '../../packs/update/update.ts';
import type { ChangedSkill } from '../../packs/update/update-skill.ts';
import { defineCommand } from '../command.ts';
import type { Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { progressText } from './install-progress.ts';
import { jsonText } from '../json.ts';
import { CHANGE_FLAGS, asker, refreshed, refusalStatus, refuse, settingsFor } from './pack-flags.ts';
import { openProgress } from '../terminal/progress.ts';
import { changedLines, updateJson } from './show-update.ts';
import { trustHint } from './show-trust-hint.ts';
import { showPlan } from '../terminal/terminal.ts';

const flags = {
  ...CHANGE_FLAGS,
  merge: { type: 'boolean', about: 'put your changes and the new ones together, or say where they meet' },
  keep: { type: 'boolean', about: 'files that you changed stay as they are; all others become the new ones' },
  force: {
    type: 'boolean',
    about: 'all files become the new ones; older and differently signed versions are taken too',
  },
  lenient: { type: 'boolean', about: 'take skills that are against the specification and can still be used' },
  offline: { type: 'boolean', about: 'use nothing that is not on this machine' },
  'require-signed': { type: 'boolean', about: 'only what is signed with a pinned key; see skillwright keys' },
} as const;

export const command = defineCommand({
  usage: 'update [NAME...] [--merge|--keep|--force] [--scope project|user] [--dry-run] [--yes]',
  details: [
    'Brings installed skills to what their sources have now. You see what each new version may do that the old one could not, what the scan',
    'finds and every changed line, and are asked. A skill that you changed here is not updated unless you say what becomes of your changes.',
    'The version before is kept: skillwright rollback. What cannot be updated does not stop the rest.',
    'Exit status 1: a skill could not be updated; 3: a rule forbids it, or nobody said yes.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright update', 'everything that is installed in this project'],
    ['skillwright update pdf-forms --dry-run', 'what would change, and nothing more'],
    ['skillwright update pdf-forms --merge', 'with your own changes kept where both fit'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const mode = modeOf(invocation);
    const settings = await settingsFor(invocation);
    if (isRefusal(settings)) return refuse(invocation, settings);
    const { flags: given, positionals: names, terminal, signal } = invocation;
    const progress = openProgress(terminal);
    const ask = asker(invocation, given.yes);
    const show = (changed: readonly ChangedSkill[]): void => {
      progress.end();
      const isFound = changed.some(({ skill: { scan } }) => scan.stops.length + scan.warnings.length > 0);
      const lines = changed.flatMap((skill) => changedLines(skill, terminal));
      const isAsked = given.yes !== true && given['dry-run'] !== true;
      const note = isFound ? [terminal.style('dim', SCAN_NOTE)] : [];
      showPlan([...lines, ...note], { isAsked, isJson: given.json === true }, terminal);
    };
    const done = await updateSkills({
      settings: { ...settings, requireSigned: settings.requireSigned || given['require-signed'] === true },
      names,
      mode,
      lenient: given.lenient === true,
      offline: given.offline === true,
      dryRun: given['dry-run'] === true,
      signal,
      onProgress: (step) => progress.show(progressText(step)),
      onNote: (note) => terminal.remark(`note: ${note}`),
      async confirm(changed) {
        show(changed);
        return ask(`update ${changed.map(({ name }) => name).join(', ')}`);
      },
    });
    progress.end();
    if (isRefusal(done)) return refuse(invocation, done);
    if (!done.isDone) show(done.skills.filter(isChanged));
    return await report(invocation, done);
  },
});

type UpdateInvocation = Invocation<typeof flags>;

function modeOf({ flags: { merge, keep, force } }: UpdateInvocation): UpdateMode {
  if ([merge, keep, force].filter((flag) => flag === true).length > 1)
    throw new UsageError('--merge, --keep and --force exclude each other', 'see skillwright update --help');
  return merge === true ? 'merge' : keep === true ? 'keep' : force === true ? 'force' : 'refuse';
}

async function report(invocation: UpdateInvocation, { root, skills, isDone, kept, notes }: Updated): Promise<number> {
  const { flags: given, terminal } = invocation;
  for (const note of notes) terminal.remark(`note: ${printable(note)}`);
  const changed = skills.filter(isChanged);
  const refused = skills.flatMap((skill) => (skill.status === 'refused' ? [skill] : []));
  if (given.json !== true) {
    for (const { name, status } of changed)
      terminal.out(`${WORDS[status][isDone ? 'done' : 'dry']} ${printable(name)}`);
    for (const { part, name, id } of kept) terminal.remark(`${printable(name)} of before is in ${part}/${id}`);
    for (const { name, refusal } of refused) {
      terminal.err(
        `${terminal.style('red', 'not updated')} ${printable(name)}: ${refusal.message} ${terminal.style('dim', refusal.code)}`,
      );
      terminal.err(terminal.style('dim', `hint: ${refusal.hint}`));
    }
    if (changed.length + refused.length === 0) terminal.remark('everything is what its source has');
  }
  const runtime = isDone && changed.length > 0 ? await refreshed(invocation) : undefined;
  const indexHash = runtime?.index.indexHash;
  if (given.json === true)
    terminal.out(
      jsonText({
        ok: refused.length === 0,
        done: isDone,
        root,
        skills: skills.map(updateJson),
        kept,
        ...(indexHash === undefined ? {} : { indexHash }),
      }),
    );
  else if (runtime !== undefined) await trustHint(invocation, runtime, root);
  return Math.max(EXIT.done, ...refused.map(({ refusal }) => refusalStatus(refusal)));
}

const WORDS = {
  update: { done: 'updated', dry: 'would update' },
  new: { done: 'installed', dry: 'would install' },
} as const;
