import path from 'node:path';

import { compareText, printable, quoted } from '#core';
import {
  installSkills,
  isRefusal,
  packRefusal,
  readForeignInstall,
  readLock,
  targetsInUse,
  trustArriving,
  type ForeignSkill,
  type Installed,
  type PackRefusal,
  type PackSettings,
} from '#packs';
import { option, type Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { reportUnplaced } from './agent-flags.ts';
import {
  CHANGE_FLAGS,
  accepted,
  asker,
  completeChange,
  definePackCommand,
  progressText,
  refreshed,
  refusalStatus,
  readingSettings,
  settingsFor,
  trustConfirmed,
} from './pack-command.ts';
import { planLines } from './show-pack.ts';
import { openProgress } from '../terminal/progress.ts';
import { reportProblem, showPlan } from '../terminal/terminal.ts';

const flags = {
  ...CHANGE_FLAGS,
  import: option('PATH', 'install the skills of a lock file of npx skills, or of a folder of openskills'),
} as const;

export const command = definePackCommand({
  usage: 'lock [--scope project|user] | lock --import PATH',
  details: [
    'Shows skills.lock.json of a root: every installed skill with version, source, revision and digest.',
    '--import installs the skills that npx skills (skills-lock.json, .skill-lock.json) or openskills (a folder of skills) installed, source by source, each after confirmation. Folders and links of these tools are taken over if their files are those of the source; skills that cannot be matched are listed with the reason.',
    'Exit code 1: a skill was not installed; 3: refused by policy, or not confirmed.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright lock', 'show what is installed in this project, and from where'],
    ['skillwright lock --import skills-lock.json', 'migrate from npx skills'],
    ['skillwright lock --import .claude/skills', 'migrate from openskills'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const isImport = invocation.flags.import !== undefined;
    const settings = await (isImport ? settingsFor : readingSettings)(invocation);
    await completeChange(invocation, settings.root);
    return isImport ? importForeignLock(invocation, settings) : show(invocation, settings);
  },
});

type LockInvocation = Invocation<typeof flags>;

function show(invocation: LockInvocation, { root }: PackSettings): number {
  const { terminal } = invocation;
  const lock = readLock(root);
  const { skills: locked } = accepted(
    lock ?? packRefusal('lock/missing', `${quoted(root, 200)} has no skills.lock.json`),
  );
  const skills = [...locked.values()].toSorted((a, b) => compareText(a.name, b.name));
  if (!terminal.printJson({ root, skills }))
    for (const { name, version = '-', source, revision, digest, links = [], copies = [] } of skills)
      terminal.out(
        [name, version, digest.slice(0, 24), source, revision ?? '', ...[...links, ...copies].map((at) => `-> ${at}`)]
          .filter((text) => text !== '')
          .map((text) => printable(text))
          .join('  '),
      );
  return EXIT.done;
}

interface FailedImport {
  readonly name: string;
  readonly refusal: PackRefusal;
}

interface Imported {
  readonly plans: readonly Installed[];
  readonly failed: readonly FailedImport[];
}

/** Installs the skills source by source, each after confirmation. A skill that cannot be matched does not stop the others. */
async function importForeignLock(invocation: LockInvocation, given: PackSettings): Promise<number> {
  const { flags, terminal } = invocation;
  const { surroundings } = given;
  const foreign = accepted(readForeignInstall(path.resolve(surroundings.cwd, flags.import ?? '')));
  const settings = foreign.scope === 'person' ? await userSettings(invocation, given) : given;
  terminal.err(foreign.unread.map(({ name, reason }) => `cannot import ${quoted(name)}: ${reason}`));
  // Relative paths start at the folder of the file.
  const there = { ...settings, surroundings: { ...surroundings, cwd: foreign.base } };
  const all: Imported[] = [];
  for (const group of bySource(foreign.skills)) all.push(await importGroup(invocation, there, group));
  const failed = all.flatMap((one) => one.failed);
  const plans = all.flatMap((one) => one.plans);
  const unplaced = plans.flatMap((one) => one.unplaced);
  const skills = plans.flatMap(({ plan }) => plan.skills);
  const confirmed = skills.filter(({ change }) => change !== 'same').map(({ skill }) => skill);
  const done = skills.map(({ skill }) => skill.name).toSorted(compareText);
  const isDry = flags['dry-run'] === true;
  const isAll = failed.length + foreign.unread.length + unplaced.length === 0;
  const runtime = isDry ? undefined : await refreshed(invocation);
  if (runtime !== undefined)
    await trustConfirmed(invocation, runtime, new Map(confirmed.map(({ name, digest }) => [name, digest])));
  const answer = {
    ok: isAll,
    done: !isDry,
    root: settings.root,
    installed: done,
    failed: failed.map(({ name, refusal: { code, message, hint } }) => ({ name, code, message, hint })),
    unread: foreign.unread,
    unplaced,
    indexHash: runtime?.index.indexHash,
  };
  if (!terminal.printJson(answer)) {
    for (const { name, refusal } of failed)
      reportProblem(terminal, { ...refusal, message: `cannot import ${quoted(name)}: ${refusal.message}` });
    terminal.out(done.map((name) => `${isDry ? 'would install' : 'installed'} ${printable(name)}`));
    const kept = plans.flatMap((one) => one.kept);
    terminal.remark(kept.map(({ part, name, id }) => `previous ${printable(name)} kept in ${part}/${id}`));
  }
  const status = reportUnplaced(invocation, unplaced, settings.root);
  return Math.max(isAll ? status : EXIT.failed, ...failed.map(({ refusal }) => refusalStatus(refusal)));
}

/** Skills of a user go to the user's root, unless another one is named. */
async function userSettings(invocation: LockInvocation, given: PackSettings): Promise<PackSettings> {
  const { flags } = invocation;
  if (flags.scope !== undefined || flags.to !== undefined) return given;
  return settingsFor({ ...invocation, flags: { ...flags, scope: 'user' } });
}

function bySource(skills: readonly ForeignSkill[]): readonly (readonly ForeignSkill[])[] {
  const groups = new Map<string, ForeignSkill[]>();
  for (const skill of skills) groups.set(skill.source, [...(groups.get(skill.source) ?? []), skill]);
  return [...groups.values()];
}

/** Fetches a source once for all its skills. */
async function importGroup(
  invocation: LockInvocation,
  settings: PackSettings,
  group: readonly ForeignSkill[],
): Promise<Imported> {
  const installed = await installForeign(invocation, settings, group);
  if (!isRefusal(installed)) {
    const failed = installed.plan.refused.map(({ name, refusal }) => ({ name, refusal: importRefusal(refusal) }));
    return { plans: [installed], failed };
  }
  const [first] = group;
  if (first === undefined || group.length === 1 || installed.code !== 'pack/unknown-skill')
    return { plans: [], failed: group.map(({ name }) => ({ name, refusal: importRefusal(installed) })) };
  // The source no longer has one of them.
  const each: Imported[] = [];
  for (const skill of group) each.push(await importGroup(invocation, settings, [skill]));
  return { plans: each.flatMap(({ plans }) => plans), failed: each.flatMap(({ failed }) => failed) };
}

/** The default hints offer flags of install, which do not exist here. */
function importRefusal(refusal: PackRefusal): PackRefusal {
  if (refusal.code === 'install/exists') return { ...refusal, hint: 'run skillwright update for the newest version' };
  if (refusal.code !== 'install/foreign') return refusal;
  const message = `${refusal.message}, and its files are not those of the source`;
  return { ...refusal, message, hint: 'move the folder away and import again, or keep it as it is' };
}

function installForeign(invocation: LockInvocation, settings: PackSettings, group: readonly ForeignSkill[]) {
  const { flags: given, terminal, signal } = invocation;
  const ask = asker(invocation, given.yes);
  const names = group.map(({ name }) => name);
  const progress = openProgress(terminal);
  return installSkills({
    settings,
    source: group[0]?.source ?? '',
    skills: group.map(({ name, folder }) => folder ?? name),
    targets: targetsInUse(names, settings),
    takeOver: true,
    beforeCommit: trustArriving(settings),
    dryRun: given['dry-run'] === true,
    signal,
    onProgress: (step) => progress.show(progressText(step)),
    async confirm(plan) {
      progress.end();
      showPlan(planLines(plan, terminal, { all: false }), given.yes !== true, terminal);
      return ask(`install ${names.length > 5 ? `${String(names.length)} skills` : names.join(', ')}`);
    },
  }).finally(() => progress.end());
}
