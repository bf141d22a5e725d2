import path from 'node:path';

import { accepted, installSkills, restoreLock, type PackSettings } from '#packs';
import { compareText, countText, isProblem, printable, type Problem } from '#core';
import { SCAN_NOTE } from '#scan';
import { toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { AGENT_FLAG, agentSummary, reportUnplaced, targetsFor } from './agent-flags.ts';
import {
  ACCEPT_FLAG,
  CHANGE_FLAGS,
  changeOptions,
  definePackCommand,
  isInstallRoot,
  lockedPlugins,
  progressText,
  refreshed,
  refuse,
  rootOptions,
  settingsFor,
  trustConfirmed,
  searchHint,
  trustHint,
  withProgress,
} from './pack-command.ts';
import { openProgress } from '../terminal/progress.ts';
import {
  keptLines,
  planJson,
  planLines,
  refusedJson,
  refusedLines,
  type Installed,
  type InstallPlan,
} from './show-pack.ts';
import { showPlan, type Terminal } from '../terminal/terminal.ts';
import { askStreams, isTerminal } from '../terminal/ask.ts';
import { chooseMany } from '../terminal/choose.ts';

const flags = {
  ...CHANGE_FLAGS,
  ...AGENT_FLAG,
  copy: toggle('copy the skills into the folders of agents instead of linking them'),
  to: {
    ...CHANGE_FLAGS.to,
    multiple: true,
    about: 'use this root instead of a scope; each further --to gets links to its skills',
  },
  frozen: toggle('install exactly what skills.lock.json pins, or fail'),
  strict: toggle('refuse skills that violate the specification (default: format.mode, or warn)'),
  lenient: toggle('the default; kept for existing scripts', { hidden: true }),
  backup: toggle('back up replaced skills in .skillwright/backups of the root'),
  force: toggle('replace existing and edited skills; accept older versions and other signers'),
  ...ACCEPT_FLAG,
  findings: toggle('show every scan finding and format warning, not counts'),
  offline: toggle('use no network'),
  'require-signed': toggle('accept only packs signed with a pinned key (see skillwright keys)'),
} as const;

export const command = definePackCommand({
  usage: 'install SOURCE [SKILL...|PLUGIN] [--agent ID] [--scope project|user] [--yes] | install --frozen',
  details: [
    'Installs skills from a folder, a .zip, .skill or .tar.gz, an https URL, a git repository (#ref, #ref:folder), npm:PACKAGE, or a site with /.well-known/agent-skills. PLUGIN is a plugin that a marketplace.json of the source lists.',
    'Each skill is validated and scanned by itself: ready, ready with warnings, or refused. What is ready is confirmed once, installed atomically and locked in skills.lock.json. The scan is triage: a clean scan proves nothing.',
    'At a terminal, the skills of a source and the detected agents are shown for selection unless you name skills or pass --yes.',
    'Exit code 3: a named skill or every skill was refused, or the plan was not confirmed.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright install ./my-skills', 'install every skill of a folder'],
    ['skillwright install pack.zip pdf-forms', 'install one skill of a pack'],
    ['skillwright install ./my-skills -a claude-code,codex', 'install for two agents'],
    ['skillwright install anthropics/skills document-skills', 'install the skills of a plugin of a marketplace'],
    ['skillwright install owner/repo#v2:skills/pdf', 'install a folder of a repository, at a tag'],
    [
      'skillwright install ./my-skills setup --accept encoded-payload',
      'install one that the scan stopped, after a review',
    ],
    ['skillwright install --frozen', 'install what the lock pins, e.g. in a fresh clone'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: options, positionals } = invocation;
    if (options.backup === true && options.force === true)
      throw usageError('--backup and --force cannot be combined', 'see skillwright install --help');
    if ((options.frozen === true) === positionals.length > 0)
      throw usageError(
        options.frozen === true ? '--frozen takes no SOURCE: the lock names the sources' : 'missing argument: SOURCE',
        'e.g. skillwright install ./folder, or skillwright install --frozen',
      );
    if (options.frozen === true && options.accept !== undefined)
      throw usageError(
        '--frozen takes no --accept: it installs the files that the lock pins',
        'see skillwright install --help',
      );
    if (options.frozen === true && options.agent !== undefined)
      throw usageError('--frozen takes no --agent: the lock names the agents', 'see skillwright install --help');
    const settings = await settingsFor(invocation);
    return options.frozen === true ? frozen(invocation, settings) : install(invocation, settings);
  },
});

type InstallInvocation = Invocation<typeof flags>;

function existingFor({ force, backup }: InstallInvocation['flags']): 'refuse' | 'backup' | 'replace' {
  return force === true ? 'replace' : backup === true ? 'backup' : 'refuse';
}

async function install(invocation: InstallInvocation, settings: PackSettings): Promise<number> {
  const { flags: flagValues, positionals, terminal, signal } = invocation;
  const [source = '', ...skills] = positionals;
  const targets = targetsFor(settings, { agents: flagValues.agent, folders: flagValues.to?.slice(1) });
  const progress = openProgress(terminal);
  const { confirm: ask, ...options } = changeOptions(invocation, settings);
  const view = { all: flagValues.findings === true };
  let isShown = false;
  let refused: InstallPlan['refused'] = [];
  const show = (plan: InstallPlan, isAsked: boolean): void => {
    progress.end();
    if (isShown) return;
    isShown = true;
    const found = plan.skills.some(({ skill: { scan } }) => scan.stops.length + scan.warnings.length > 0);
    const note = found ? [terminal.style('dim', SCAN_NOTE)] : [];
    showPlan([...planLines(plan, terminal, view), ...note], isAsked, terminal);
  };
  let isConfirmed = flagValues.yes === true;
  const isAsking = !isConfirmed && !options.dryRun && flagValues.json !== true && isTerminal(askStreams(process));
  const done = await installSkills({
    ...options,
    settings: { ...settings, requireSigned: settings.requireSigned || flagValues['require-signed'] === true },
    source,
    skills,
    strict: flagValues.strict === true ? true : flagValues.lenient === true ? false : undefined,
    existing: existingFor(flagValues),
    force: flagValues.force === true,
    offline: flagValues.offline === true,
    targets,
    copy: flagValues.copy === true,
    trust: true,
    onProgress: (step) => progress.show(progressText(step)),
    onRefused: (plan) => (refused = plan.refused),
    choose: isAsking
      ? async (offer) => {
          progress.end();
          const folders = await chooseSkills(offer, { source, terminal, signal });
          const isFixed = flagValues.agent !== undefined || (flagValues.to ?? []).length > 1;
          if (folders === undefined || isFixed) return folders === undefined ? undefined : { folders };
          const chosen = await chooseAgents(offer.targets, { cwd: settings.surroundings.cwd, terminal, signal });
          return chosen === undefined ? undefined : { folders, targets: chosen };
        }
      : undefined,
    async confirm(plan) {
      isConfirmed = true;
      show(plan, flagValues.yes !== true);
      const count = plan.skills.filter(({ change }) => change !== 'same').length;
      const without = plan.refused.length === 0 ? '' : ` and leave out ${String(plan.refused.length)}`;
      const what = count === 0 ? 'change the folders of agents' : `install ${countText(count, 'skill')}`;
      return ask(`${what}${without}`);
    },
  });
  progress.end();
  if (isProblem(done)) {
    if (flagValues.json !== true && refused.length > 1) terminal.err(refusedLines(refused, terminal, view));
    return refuseAll(invocation, done, refused);
  }
  show(done.plan, false);
  return await report(invocation, done, { settings, isConfirmed });
}

/** Nothing was installed: the source as a whole is refused, or each of its skills. */
function refuseAll(invocation: InstallInvocation, refusal: Problem, refused: InstallPlan['refused']): number {
  if (refusal.code.startsWith('archive/') && refused.length === 0)
    invocation.terminal.remark('the source is refused as a whole: none of its skills was installed');
  const status = refuse(invocation, refusal, refused.length === 0 ? {} : { refused: refusedJson(refused) });
  return refused.length > 0 ? EXIT.refused : status;
}

async function report(
  invocation: InstallInvocation,
  { plan, isDone, kept, notes, unplaced }: Installed,
  { settings, isConfirmed }: { readonly settings: PackSettings; readonly isConfirmed: boolean },
): Promise<number> {
  const { flags: options, terminal } = invocation;
  terminal.remark(notes.map((note) => `note: ${note}`));
  const isMissing = plan.refused.some(({ isNamed }) => isNamed);
  const changed = plan.skills.filter(({ change }) => change !== 'same').map(({ skill }) => skill.name);
  if (options.json !== true) {
    terminal.out(changed.map((name) => `${isDone ? 'installed' : 'would install'} ${printable(name)}`));
    terminal.remark(keptLines(kept));
    const isLinked = plan.places.reduce((sum, { add }) => sum + add.length, 0) > unplaced.length;
    if (changed.length === 0 && isLinked)
      terminal.remark(`${isDone ? 'changed' : 'would change'} the folders of agents`);
    else if (changed.length === 0)
      terminal.remark(`everything${plan.refused.length === 0 ? '' : ' else'} is already installed`);
    terminal.err(
      plan.refused.map(
        ({ name, refusal }) => `not installed: ${printable(name)}: ${refusal.message} (${refusal.code})`,
      ),
    );
  }
  const runtime = isDone ? await refreshed(invocation) : undefined;
  // Also those that were there before, e.g. from a clone: the user confirmed the same bytes.
  const confirmed = plan.skills.filter(({ change }) => isConfirmed || change !== 'same').map(({ skill }) => skill);
  if (runtime !== undefined)
    await trustConfirmed(
      invocation,
      runtime,
      new Map(
        confirmed
          .flatMap(({ plugin, ...skill }) => plugin?.skills ?? [skill])
          .map(({ name, digest }) => [name, digest]),
      ),
    );
  const answer = {
    ok: !isMissing && unplaced.length === 0,
    done: isDone,
    ...planJson(plan),
    kept,
    unplaced,
    indexHash: runtime?.index.indexHash,
  };
  if (!terminal.printJson(answer) && runtime !== undefined && changed.length > 0) {
    await trustHint(invocation, runtime, plan.root);
    if (options.to === undefined) searchHint(terminal, runtime, plan.root);
  }
  const status = reportUnplaced(invocation, { unplaced, root: plan.root });
  const names = plan.skills.map(({ skill }) => skill.name);
  if (isDone && options.json !== true)
    terminal.remark(agentSummary({ ...settings, root: plan.root }, names, options.agent));
  return isMissing ? EXIT.refused : status;
}

async function frozen(invocation: InstallInvocation, settings: PackSettings): Promise<number> {
  const { flags: options, terminal } = invocation;
  const targets = targetsFor(settings, { folders: options.to?.slice(1) });
  // The user did not confirm these skills: only the signature of a pinned key vouches for them.
  const isSigned = settings.requireSigned || options['require-signed'] === true;
  const restore = async (at: PackSettings) =>
    accepted(
      await withProgress(invocation, (show) =>
        restoreLock({
          ...rootOptions(invocation, { ...at, requireSigned: isSigned }),
          targets,
          existing: existingFor(options),
          offline: options.offline === true,
          dryRun: options['dry-run'] === true,
          trust: isSigned,
          onProgress: show,
        }),
      ),
    );
  const plugins = options.to === undefined ? lockedPlugins(settings) : undefined;
  const hasSkills = plugins === undefined || isInstallRoot(settings.root);
  const first = await restore(hasSkills ? settings : plugins);
  const second = hasSkills && plugins !== undefined ? await restore(plugins) : undefined;
  const done = second === undefined ? first : mergeRestored(first, second);
  const { root, brought, digests, same, linked, unplaced, kept, isDone } = done;
  const runtime = isDone ? await refreshed(invocation) : undefined;
  if (runtime !== undefined && isSigned) await trustConfirmed(invocation, runtime, digests);
  const indexHash = runtime?.index.indexHash;
  const answer = { ok: unplaced.length === 0, done: isDone, root, brought, same, linked, unplaced, kept, indexHash };
  if (terminal.printJson(answer)) return reportUnplaced(invocation, done);
  terminal.out(brought.map((name) => `${isDone ? 'installed' : 'would install'} ${printable(name)}`));
  terminal.out(linked.map((at) => `${isDone ? 'linked' : 'would link'} ${printable(at)}`));
  terminal.remark([...keptLines(kept), `${String(same.length)} already match the lock`]);
  if (runtime !== undefined && brought.length > 0) await trustHint(invocation, runtime, root);
  const status = reportUnplaced(invocation, done);
  if (isDone) terminal.remark(agentSummary(settings, [...brought, ...same]));
  return status;
}

type Restored = Exclude<Awaited<ReturnType<typeof restoreLock>>, Problem>;

/** The skills and the Agent Plugins of a project are restored together. */
function mergeRestored(skills: Restored, plugins: Restored): Restored {
  return {
    ...skills,
    brought: [...skills.brought, ...plugins.brought],
    same: [...skills.same, ...plugins.same],
    linked: [...skills.linked, ...plugins.linked],
    unplaced: [...skills.unplaced, ...plugins.unplaced],
    kept: [...skills.kept, ...plugins.kept],
    digests: new Map([...skills.digests, ...plugins.digests]),
  };
}

type ChooseSkills = NonNullable<Parameters<typeof installSkills>[0]['choose']>;
type SkillOffer = Parameters<ChooseSkills>[0];

interface AskOptions {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/**
 * A source with a single skill needs no list. Refused skills are shown with the reason. Undefined if the user cancels; throws the abort
 * reason after Ctrl-C.
 */
async function chooseSkills(
  { ready, refused }: SkillOffer,
  { source, terminal, signal }: AskOptions & { readonly source: string },
): Promise<readonly string[] | undefined> {
  if (ready.length + refused.length === 1) return ready.map(({ folder }) => folder);
  const choices = [
    ...ready.map(({ name, description, folder }) => ({ label: name, about: description, folder })),
    ...refused.map(({ name, refusal }) => ({
      label: name,
      folder: undefined,
      unavailable: `refused: ${refusal.message}`,
    })),
  ].toSorted((a, b) => compareText(a.label, b.label));
  const title = `Select the skills to install from ${source}`;
  const selected = await chooseMany(askStreams(process), { title, choices, signal });
  // Ctrl-C ends the command, Esc only the selection.
  signal.throwIfAborted();
  const chosen = selected?.flatMap((at) => choices[at] ?? []);
  if (chosen !== undefined) terminal.remark(`skills: ${chosen.map(({ label }) => printable(label)).join(', ')}`);
  return chosen?.flatMap(({ folder }) => folder ?? []);
}

/** Asks only about detected agents that do not read the root themselves. */
async function chooseAgents(
  targets: SkillOffer['targets'],
  { cwd, terminal, signal }: AskOptions & { readonly cwd: string },
): Promise<SkillOffer['targets'] | undefined> {
  const choices = targets
    .filter(({ isRoot }) => !isRoot)
    .map((target) => ({
      label: target.agents.join(', '),
      about: path.relative(cwd, target.folder) || target.folder,
      isSelected: true,
      target,
    }));
  if (choices.length === 0) return [];
  const readers = targets.filter(({ isRoot }) => isRoot).flatMap(({ agents }) => agents);
  const others = readers.length === 0 ? '' : ` (already read by ${readers.join(', ')})`;
  const title = `Select the agents that get links to the skills${others}`;
  const selected = await chooseMany(askStreams(process), { title, choices, mayBeEmpty: true, signal });
  signal.throwIfAborted();
  const chosen = selected?.flatMap((at) => choices[at] ?? []);
  if (chosen !== undefined)
    terminal.remark(`agents: ${[...readers, ...chosen.map(({ label }) => label)].join(', ') || 'none'}`);
  return chosen?.map(({ target }) => target);
}
