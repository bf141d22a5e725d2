import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import { readForeignLock } from '../../packs/lock/foreign-lock.ts';
import type { ForeignLock, ForeignSkill } from '../../packs/lock/foreign-lock.ts';
import { isRefusal, packRefusal } from '../../packs/problems.ts';
import type { PackRefusal } from '../../packs/problems.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { readLock } from '../../packs/lock/lock-file.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';
import { installSkills } from '../../packs/install.ts';
import type { PackSettings } from '../../packs/pack-settings.ts';
import { defineCommand } from '../command.ts';
import type { Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { CHANGE_FLAGS, asker, refreshed, refusalStatus, refuse, settingsFor } from './pack-flags.ts';
import { planLines } from './show-pack.ts';
import { showPlan } from '../terminal/terminal.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const GIVE_THEIRS = 'give a skills-lock.json or .skill-lock.json as npx skills writes it';

const flags = {
  ...CHANGE_FLAGS,
  import: {
    type: 'string',
    value: 'FILE',
    path: true,
    about: 'install what a skills-lock.json or .skill-lock.json of npx skills names',
  },
} as const;

export const command = defineCommand({
  usage: 'lock [--scope project|user] | lock --import FILE',
  details: [
    'Shows what skills.lock.json of a root says: every installed skill with its version, its source, the revision and the digest.',
    '--import reads a lock file of `npx skills` and installs what it names, each after the usual question; their hashes are weak and prove little.',
    'Exit status 1: one was not installed; 3: a rule forbids it, or nobody said yes.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright lock', 'what is installed in this project, and from where'],
    ['skillwright lock --import skills-lock.json', 'take over from npx skills'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const settings = await settingsFor(invocation);
    if (isRefusal(settings)) return refuse(invocation, settings);
    return invocation.flags.import === undefined ? show(invocation, settings) : takeOver(invocation, settings);
  },
});

type LockInvocation = Invocation<typeof flags>;

function show(invocation: LockInvocation, { root }: PackSettings): number {
  const { flags: given, terminal } = invocation;
  const lock = readLock(root);
  if (lock === undefined)
    return refuse(invocation, packRefusal('lock/missing', `${quoted(root, 200)} has no skills.lock.json`));
  if (isRefusal(lock)) return refuse(invocation, lock);
  const skills = [...lock.skills.values()].toSorted((a, b) => compareText(a.name, b.name));
  if (given.json === true) terminal.out(jsonText({ root, skills }));
  else
    for (const { name, version = '-', source, revision, digest } of skills)
      terminal.out(
        [printable(name), printable(version), digest.slice(0, 24), printable(source), printable(revision ?? '')]
          .join('  ')
          .trimEnd(),
      );
  return EXIT.done;
}

/** One after the other: each is asked about, and one that is refused does not stop the rest. */
async function takeOver(invocation: LockInvocation, settings: PackSettings): Promise<number> {
  const { flags: given, terminal } = invocation;
  const { surroundings } = settings;
  const file = path.resolve(surroundings.cwd, given.import ?? '');
  const foreign = readForeignFile(file);
  if (isRefusal(foreign)) return refuse(invocation, foreign);
  for (const { name, reason } of foreign.unread) terminal.err(`${quoted(name)} was not understood: ${reason}`);
  // Paths in it start from where it lies, wherever somebody stands.
  const there = { ...settings, surroundings: { ...surroundings, cwd: path.dirname(file) } };
  const done: string[] = [];
  const failed: { readonly name: string; readonly refusal: PackRefusal }[] = [];
  for (const skill of foreign.skills) {
    const installed = await installForeign(invocation, there, skill);
    if (!isRefusal(installed)) done.push(skill.name);
    else {
      failed.push({ name: skill.name, refusal: installed });
      if (given.json === true) continue;
      terminal.err(`${printable(skill.name)}: ${installed.message} ${terminal.style('dim', installed.code)}`);
      terminal.err(terminal.style('dim', `hint: ${installed.hint}`));
    }
  }
  const isAll = failed.length === 0 && foreign.unread.length === 0;
  const indexHash = given['dry-run'] === true ? undefined : (await refreshed(invocation)).index.indexHash;
  if (given.json === true)
    terminal.out(
      jsonText({
        ok: isAll,
        done: given['dry-run'] !== true,
        root: settings.root,
        installed: done,
        failed: failed.map(({ name, refusal: { code, message, hint } }) => ({ name, code, message, hint })),
        unread: foreign.unread,
        ...(indexHash === undefined ? {} : { indexHash }),
      }),
    );
  else
    for (const name of done)
      terminal.out(`${given['dry-run'] === true ? 'would install' : 'installed'} ${printable(name)}`);
  return Math.max(isAll ? EXIT.done : EXIT.failed, ...failed.map(({ refusal }) => refusalStatus(refusal)));
}

/** The advice for a lock of ours is none for somebody else's. */
function readForeignFile(file: string): ForeignLock | PackRefusal {
  const shown = quoted(file, 200);
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') {
    const why = read.type === 'absent' ? 'it is not there' : read.reason;
    return { ...packRefusal('lock/missing', `${shown} cannot be read: ${why}`), hint: GIVE_THEIRS };
  }
  const foreign = readForeignLock(read.text);
  if (!isRefusal(foreign)) return foreign;
  return { ...foreign, message: `${shown} cannot be used: ${foreign.message}`, hint: GIVE_THEIRS };
}

function installForeign(invocation: LockInvocation, settings: PackSettings, { name, source }: ForeignSkill) {
  const { flags: given, terminal, signal } = invocation;
  const ask = asker(invocation, given.yes);
  return installSkills({
    settings,
    source,
    skills: [name],
    lenient: true,
    dryRun: given['dry-run'] === true,
    signal,
    async confirm(plan) {
      showPlan(planLines(plan, terminal), { isAsked: given.yes !== true, isJson: given.json === true }, terminal);
      return ask(`install ${name}`);
    },
  });
}
