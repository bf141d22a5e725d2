import path from 'node:path';

import { compareText, printable, quoted } from '#core';
import { importSkills, listLocked } from '#packs';
import { option, type Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { reportUnplaced } from './agent-flags.ts';
import {
  CHANGE_FLAGS,
  changeOptions,
  definePluginCommand,
  readingSettings,
  refreshed,
  refusalStatus,
  rootOptions,
  settingsFor,
  trustConfirmed,
  withProgress,
} from './pack-command.ts';
import { keptLines, planLines } from './show-pack.ts';
import { reportProblem, showPlan } from '../terminal/terminal.ts';

const flags = {
  ...CHANGE_FLAGS,
  import: option('PATH', 'install the skills of a lock file of npx skills, or of a folder of openskills'),
} as const;

export const command = definePluginCommand({
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
    const { flags: options, terminal } = invocation;
    if (options.import !== undefined) return importForeign(invocation, options.import);
    const { root, skills } = await listLocked(rootOptions(invocation, await readingSettings(invocation)));
    if (!terminal.printJson({ root, skills }))
      for (const { name, version = '-', source, revision, digest, links = [], copies = [] } of skills)
        terminal.out(
          [name, version, digest.slice(0, 24), source, revision ?? '', ...[...links, ...copies].map((at) => `-> ${at}`)]
            .filter((text) => text !== '')
            .map((text) => printable(text))
            .join('  '),
        );
    return EXIT.done;
  },
});

/** Installs the skills source by source, each after confirmation. */
async function importForeign(invocation: Invocation<typeof flags>, file: string): Promise<number> {
  const { flags: flagValues, terminal } = invocation;
  const settings = await settingsFor(invocation);
  const { confirm: ask, ...options } = changeOptions(invocation, settings);
  const isNamed = flagValues.scope !== undefined || flagValues.to !== undefined;
  const imported = await withProgress(invocation, (show, end) =>
    importSkills({
      ...options,
      file: path.resolve(settings.surroundings.cwd, file),
      // Skills of a user go to the user's root, unless another one is named.
      settingsFor: async (scope) =>
        scope === 'person' && !isNamed
          ? await settingsFor({ ...invocation, flags: { ...flagValues, scope: 'user' } })
          : settings,
      onUnread: (unread) => terminal.err(unread.map(({ name, reason }) => `cannot import ${quoted(name)}: ${reason}`)),
      trust: true,
      onProgress: show,
      async confirm(plan, names) {
        end();
        showPlan(planLines(plan, terminal, { all: false }), flagValues.yes !== true, terminal);
        return ask(`install ${names.length > 5 ? `${String(names.length)} skills` : names.join(', ')}`);
      },
    }),
  );
  const { root, installed, failed, unread } = imported;
  const unplaced = installed.flatMap((one) => one.unplaced);
  const skills = installed.flatMap(({ plan }) => plan.skills);
  const confirmed = skills.filter(({ change }) => change !== 'same').map(({ skill }) => skill);
  const names = skills.map(({ skill }) => skill.name).toSorted(compareText);
  const isAll = failed.length + unread.length + unplaced.length === 0;
  const runtime = options.dryRun ? undefined : await refreshed(invocation);
  if (runtime !== undefined)
    await trustConfirmed(invocation, runtime, new Map(confirmed.map(({ name, digest }) => [name, digest])));
  const answer = {
    ok: isAll,
    done: !options.dryRun,
    root,
    installed: names,
    failed: failed.map(({ name, refusal: { code, message, hint } }) => ({ name, code, message, hint })),
    unread,
    unplaced,
    indexHash: runtime?.index.indexHash,
  };
  if (!terminal.printJson(answer)) {
    for (const { name, refusal } of failed)
      reportProblem(terminal, { ...refusal, message: `cannot import ${quoted(name)}: ${refusal.message}` });
    terminal.out(names.map((name) => `${options.dryRun ? 'would install' : 'installed'} ${printable(name)}`));
    terminal.remark(keptLines(installed.flatMap((one) => one.kept)));
  }
  const status = reportUnplaced(invocation, { unplaced, root });
  return Math.max(isAll ? status : EXIT.failed, ...failed.map(({ refusal }) => refusalStatus(refusal)));
}
