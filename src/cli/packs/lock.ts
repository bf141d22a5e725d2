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
import { CHANGE_FLAGS, asker, refreshed, refusalStatus, refuse, settingsFor } from './pack-command.ts';
import { planLines } from './show-pack.ts';
import { showPlan } from '../terminal/terminal.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const IMPORT_HINT = 'name a skills-lock.json or .skill-lock.json written by npx skills';

const flags = {
  ...CHANGE_FLAGS,
  import: {
    type: 'string',
    value: 'FILE',
    path: true,
    about: 'install the skills of a skills-lock.json or .skill-lock.json of npx skills',
  },
} as const;

export const command = defineCommand({
  usage: 'lock [--scope project|user] | lock --import FILE',
  details: [
    'Shows skills.lock.json of a root: every installed skill with version, source, revision and digest.',
    '--import installs the skills of a lock file of `npx skills`, each after confirmation. The hashes of that format are too weak to prove that the content is the same.',
    'Exit code 1: a skill was not installed; 3: refused by policy, or not confirmed.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright lock', 'show what is installed in this project, and from where'],
    ['skillwright lock --import skills-lock.json', 'migrate from npx skills'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const settings = await settingsFor(invocation);
    if (isRefusal(settings)) return refuse(invocation, settings);
    return invocation.flags.import === undefined ? show(invocation, settings) : importForeignLock(invocation, settings);
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
    for (const { name, version = '-', source, revision, digest, links = [], copies = [] } of skills)
      terminal.out(
        [name, version, digest.slice(0, 24), source, revision ?? '', ...[...links, ...copies].map((at) => `-> ${at}`)]
          .filter((text) => text !== '')
          .map((text) => printable(text))
          .join('  '),
      );
  return EXIT.done;
}

/** Installs the skills one by one, each after confirmation. A refused skill does not stop the others. */
async function importForeignLock(invocation: LockInvocation, settings: PackSettings): Promise<number> {
  const { flags: given, terminal } = invocation;
  const { surroundings } = settings;
  const file = path.resolve(surroundings.cwd, given.import ?? '');
  const foreign = readForeignFile(file);
  if (isRefusal(foreign)) return refuse(invocation, foreign);
  terminal.err(foreign.unread.map(({ name, reason }) => `cannot import ${quoted(name)}: ${reason}`));
  // Relative paths in the lock file start at its own folder.
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
    terminal.out(done.map((name) => `${given['dry-run'] === true ? 'would install' : 'installed'} ${printable(name)}`));
  return Math.max(isAll ? EXIT.done : EXIT.failed, ...failed.map(({ refusal }) => refusalStatus(refusal)));
}

/** Replaces the hints, which are about our own lock file. */
function readForeignFile(file: string): ForeignLock | PackRefusal {
  const shown = quoted(file, 200);
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') {
    const why = read.type === 'absent' ? 'file not found' : read.reason;
    return { ...packRefusal('lock/missing', `cannot read ${shown}: ${why}`), hint: IMPORT_HINT };
  }
  const foreign = readForeignLock(read.text);
  if (!isRefusal(foreign)) return foreign;
  return { ...foreign, message: `cannot import ${shown}: ${foreign.message}`, hint: IMPORT_HINT };
}

function installForeign(invocation: LockInvocation, settings: PackSettings, { name, source }: ForeignSkill) {
  const { flags: given, terminal, signal } = invocation;
  const ask = asker(invocation, given.yes);
  return installSkills({
    settings,
    source,
    skills: [name],
    dryRun: given['dry-run'] === true,
    signal,
    async confirm(plan) {
      showPlan(
        planLines(plan, terminal, { all: false }),
        { isAsked: given.yes !== true, isJson: given.json === true },
        terminal,
      );
      return ask(`install ${name}`);
    },
  });
}
