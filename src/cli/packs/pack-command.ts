/** What the commands that change skill roots share: flags, settings, confirmation, progress and refusals. */
import path from 'node:path';

import { accepted, isNotAllowed, listLocked, packSettings, settleTrust, type PackSettings } from '#packs';
import { isPresent, realPath } from '#platform';
import { configProblem, isSkillError, printable, quoted, toSlug, type Config, type Problem } from '#core';
import type { Runtime } from '#runtime';
import { openPlugin } from '#skills';
import { list, option, toggle, type Command, type Flags, type GlobalInvocation } from '../command.ts';
import { EXIT, isUsageError, orUsageError, usageError } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { configFor, requireValidConfig } from '../surroundings.ts';
import { askStreams, confirm } from '../terminal/ask.ts';
import { openProgress } from '../terminal/progress.ts';
import { reportProblem, reportWarning } from '../terminal/terminal.ts';
import { reportUnplaced, type Changed } from './agent-flags.ts';

export const ROOT_FLAGS = {
  scope: option(
    'SCOPE',
    'use .agents/skills of the project or of the user, or the shelf of the user (default: install.scope, or project)',
    {
      choices: ['project', 'user', 'shelf'],
    },
  ),
  to: option('DIR', 'use this root instead of a scope'),
} as const satisfies Flags;

/** Instead of a scan that is switched off: one rule, for files that the user reviewed. */
export const ACCEPT_FLAG = {
  accept: list(
    'RULE',
    'accept what this scan rule stops, in exactly these files; the lock records it with their digest',
  ),
} as const satisfies Flags;

export const CHANGE_FLAGS = {
  ...ROOT_FLAGS,
  'dry-run': toggle('print the changes without making them'),
  yes: toggle('do not ask for confirmation', { short: 'y' }),
} as const satisfies Flags;

interface RootInvocation extends GlobalInvocation {
  readonly flags: GlobalInvocation['flags'] & {
    readonly scope?: NonNullable<NonNullable<Config['install']>['scope']> | 'shelf';
    readonly to?: string | readonly string[];
    readonly accept?: readonly string[];
  };
}

/** The root and its rules, from flags and configuration. Throws if the configuration is invalid, because its safeguards are unknown. */
export async function settingsFor(invocation: RootInvocation): Promise<PackSettings> {
  await requireValidConfig(invocation);
  return readingSettings(invocation);
}

/** The same for a command that changes nothing: a warning says that the configuration is invalid. */
export async function readingSettings(invocation: RootInvocation): Promise<PackSettings> {
  const { flags, terminal, surroundings } = invocation;
  const loaded = await configFor(invocation);
  const problem = configProblem(loaded.diagnostics);
  if (problem !== undefined) reportWarning(terminal, problem.message);
  const root = typeof flags.to === 'string' ? flags.to : flags.to?.[0];
  const choice = { root, scope: flags.scope, profile: loaded.profile, accepts: flags.accept };
  const settings = (): PackSettings => accepted(packSettings(surroundings, loaded.config, choice));
  return flags.accept === undefined ? settings() : orUsageError(settings);
}

/** A command that reports the refusals that it throws. */
export function definePackCommand<const F extends Flags>(command: Command<F>): Command<F> {
  return {
    ...command,
    async run(invocation) {
      try {
        return await command.run(invocation);
      } catch (error) {
        if (!isSkillError(error) || error.raised === undefined || isUsageError(error)) throw error;
        return refuse(invocation, error.raised);
      }
    },
  };
}

/** The names in a root that a command can act on. */
type ListNames = (
  root: string,
  invocation: { readonly flags: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] },
) => Promise<readonly string[]>;

const installedNames: ListNames = async (root) =>
  isInstallRoot(root) ? (await listLocked({ settings: { root } })).skills.map(({ name }) => name) : [];

/**
 * A command about installed skills that also serves installed Agent Plugins, which have a root of their own: names choose the root, and
 * without names the command runs in both. JSON is about one root: the one of skills if it has a lock. A command about the
 * trash passes `trash`, which lists the names that it can act on.
 */
export function definePluginCommand<const F extends Flags>(command: Command<F>, trash?: ListNames): Command<F> {
  return definePackCommand({
    ...command,
    async run(invocation) {
      const statuses: number[] = [];
      for (const one of await splitRoots(invocation, trash))
        statuses.push(await command.run({ ...invocation, ...one }));
      return Math.max(...statuses);
    },
  });
}

async function splitRoots<I extends RootInvocation & { readonly positionals: readonly string[] }>(
  invocation: I,
  trash: ListNames | undefined,
): Promise<readonly Pick<I, 'flags' | 'positionals'>[]> {
  const { flags, positionals: typedNames, surroundings } = invocation;
  const { config, profile } = await configFor(invocation);
  const { root, pluginRoot } = accepted(packSettings(surroundings, config, { scope: flags.scope, profile }));
  const isChosen = flags.to !== undefined && flags.to.length > 0;
  if (isChosen || pluginRoot === undefined) return [invocation];
  const plugins = { ...invocation, flags: { ...flags, to: pluginRoot } };
  const list = trash ?? installedNames;
  if (typedNames.length === 0) {
    const isIn = async (at: string): Promise<boolean> =>
      trash === undefined ? isInstallRoot(at) : (await list(at, invocation)).length > 0;
    if (!(await isIn(pluginRoot))) return [invocation];
    return !(await isIn(root)) ? [plugins] : flags.json === true ? [invocation] : [invocation, plugins];
  }
  const names = await list(pluginRoot, invocation);
  const positionals = typedNames.map((name) => findPluginFolder(name, { pluginRoot, names, trash }));
  const isPlugin = (name: string): boolean => names.includes(name);
  const [some, others] = [positionals.filter(isPlugin), positionals.filter((name) => !isPlugin(name))];
  const skills = some.length === 0 ? [] : await list(root, invocation);
  // A skill that was placed by hand is in no lock.
  const both = some.find((name) => skills.includes(name) || (trash === undefined && isPresent(path.join(root, name))));
  if (both !== undefined) {
    const [forSkill, forPlugin] = [root, pluginRoot].map((at) => typedPath(at, surroundings.cwd));
    throw usageError(
      `${quoted(both)} is a skill and a plugin`,
      `choose with --to: ${forSkill} for the skill, ${forPlugin} for the plugin`,
    );
  }
  return [
    ...(others.length === 0 ? [] : [{ ...invocation, positionals: others }]),
    ...(some.length === 0 ? [] : [{ ...plugins, positionals: some }]),
  ];
}

/** Periods are allowed in names of plugins, not in those of their folders. Nothing in the trash can be opened, so there the folder decides. */
function findPluginFolder(
  name: string,
  installed: { readonly pluginRoot: string; readonly names: readonly string[]; readonly trash: ListNames | undefined },
): string {
  const folder = name.includes('.') ? (toSlug(name) ?? name) : name;
  if (installed.names.includes(name) || !installed.names.includes(folder)) return name;
  const plugin = installed.trash === undefined ? openPlugin(path.join(installed.pluginRoot, folder)) : { name };
  return typeof plugin === 'object' && plugin.name === name ? folder : name;
}

/** A path as a user types it: below the working folder without that folder. */
function typedPath(at: string, cwd: string): string {
  const below = path.relative(cwd, at);
  return below.startsWith('..') ? at : below;
}

/** The settings of the root of Agent Plugins, if any is installed. */
export function lockedPlugins({ pluginRoot: root, ...settings }: PackSettings): PackSettings | undefined {
  return root === undefined || !isInstallRoot(root) ? undefined : { ...settings, root, unit: 'plugin' };
}

/** Whether anything was installed there, also by a command that was killed before it wrote the lock: the next one completes it. */
export function isInstallRoot(root: string): boolean {
  return ['skills.lock.json', '.skillwright/transaction.json'].some((name) => isPresent(path.join(root, name)));
}

/** What every function that uses a root gets from the command line. */
export function rootOptions({ terminal, signal }: GlobalInvocation, settings: PackSettings) {
  return { settings, signal, onNote: (note: string) => terminal.remark(`note: ${note}`) };
}

interface ChangeInvocation extends GlobalInvocation {
  readonly flags: GlobalInvocation['flags'] & { readonly 'dry-run'?: boolean; readonly yes?: boolean };
}

/** What every function that changes a root gets from the command line. */
export function changeOptions(invocation: ChangeInvocation, settings: PackSettings) {
  const { flags } = invocation;
  const confirm = asker(invocation, flags.yes);
  return { ...rootOptions(invocation, settings), dryRun: flags['dry-run'] === true, confirm };
}

/** Returns a function that asks the user at the terminal. Without a terminal the answer is no. */
export function asker(
  { terminal, signal }: GlobalInvocation,
  isYes: boolean | undefined,
): (what: string) => Promise<boolean> {
  return async (what) => {
    if (isYes === true) return true;
    const isConfirmed = await confirm(askStreams(process), `${printable(what)}?`, { signal });
    if (!isConfirmed && !terminal.isInteractive) terminal.err('not a terminal: pass --yes to confirm');
    return isConfirmed;
  };
}

/** Reports a refusal and returns its exit code. */
export function refuse(
  { terminal }: Pick<GlobalInvocation, 'terminal'>,
  refusal: Problem & { readonly path?: string; readonly allow?: string },
  more: object = {},
): number {
  const { code, path: file, message, hint, allow } = refusal;
  terminal.printJson({ ok: false, error: { code, message, hint, allow, path: file }, ...more });
  reportProblem(terminal, { message, hint, code });
  return refusalStatus(refusal);
}

export function refusalStatus(refusal: Problem): number {
  return isNotAllowed(refusal) ? EXIT.refused : EXIT.failed;
}

/** Scans the skills again after a change and prints the new index hash. */
export async function refreshed(invocation: GlobalInvocation): Promise<Runtime> {
  const runtime = await openRuntime(invocation);
  if (!invocation.terminal.isJson) invocation.terminal.remark(`index ${runtime.index.indexHash}`);
  return runtime;
}

/**
 * Trusts what the user confirmed, or says why it could not be stored. `confirmed` maps names to tree digests. Notes which of the `others`
 * stay untrusted.
 */
export async function trustConfirmed(
  { surroundings, terminal }: GlobalInvocation,
  runtime: Runtime,
  confirmed: ReadonlyMap<string, string | undefined>,
  others?: readonly string[],
): Promise<void> {
  try {
    const notes = await settleTrust(runtime, surroundings.home, confirmed, others);
    terminal.remark(notes.map((note) => `note: ${note}`));
  } catch (error) {
    if (!isSkillError(error)) throw error;
    reportWarning(terminal, `the skills are not trusted yet: ${printable(error.message)}`);
  }
}

/** Tells the user that models do not see skills of the root that are not trusted. */
export async function trustHint({ terminal }: GlobalInvocation, runtime: Runtime, root: string): Promise<void> {
  const below = runtime.index.skills.filter(({ dir }) =>
    path.resolve(dir).startsWith(`${path.resolve(root)}${path.sep}`),
  );
  const distrusted = await runtime.distrust(below);
  if (distrusted.size > 0)
    terminal.remark(
      `${String(distrusted.size)} of ${printable(root)} hidden from models until you trust the project: skillwright trust`,
    );
}

/** A vocabulary with one root searches neither the home folder nor the shelf. */
export function searchHint(terminal: GlobalInvocation['terminal'], runtime: Runtime, root: string): void {
  const { config, index } = runtime;
  if (runtime.plugins().some(({ dir }) => path.dirname(dir) === realPath(root))) return;
  if (index.report.roots.some(({ path: searched }) => realPath(searched) === realPath(root))) return;
  terminal.remark(
    `${printable(root)} is not searched in the vocabulary ${config.vocabulary ?? 'skillwright'}: add it to skill_roots, or pass --root`,
  );
}

const STEPS: Readonly<Record<string, string>> = {
  fetch: 'fetching',
  unpack: 'unpacking',
  copy: 'copying',
  inspect: 'inspecting',
  check: 'checking',
  write: 'writing to disk',
  apply: 'installing',
};

/** The current step of an install, an update or a pack. */
export function progressText({ step, done, total }: Progress): string {
  const count = done === undefined ? '' : ` ${String(done)}${total === undefined ? '' : ` of ${String(total)}`}`;
  return `${STEPS[step] ?? step}${count}`;
}

interface Progress {
  readonly step: string;
  readonly done?: number;
  readonly total?: number;
}

/** Calls `act` with a function that shows the current step until `act` is done. */
export async function withProgress<T>(
  { terminal }: GlobalInvocation,
  act: (show: (progress: Progress) => void, end: () => void) => Promise<T>,
): Promise<T> {
  const progress = openProgress(terminal);
  try {
    return await act(
      (step) => progress.show(progressText(step)),
      () => progress.end(),
    );
  } finally {
    progress.end();
  }
}

/** Reports the result of uninstall, restore and rollback. */
export async function reportChange(
  invocation: GlobalInvocation,
  changed: Changed,
  line: (name: string) => string,
): Promise<number> {
  const { terminal, flags } = invocation;
  const { names, kept, notes, unplaced, isDone, root } = changed;
  terminal.remark(notes.map((note) => (isDone ? `note: ${printable(note)}` : printable(note))));
  if (flags.json !== true && isDone) {
    terminal.out(names.map(line));
    terminal.remark(kept.map(({ part, id, name }) => `${printable(name)} kept in ${part}/${id}`));
  }
  const indexHash = isDone ? (await refreshed(invocation)).index.indexHash : undefined;
  terminal.printJson({ ok: unplaced.length === 0, done: isDone, root, names, kept, unplaced, indexHash });
  return reportUnplaced(invocation, changed);
}

/** `pdf-forms  1.2.0  2026-01-02T03:04:05Z  20260102T030405Z-…` */
export function backupLine({ name, lock, at, id }: Changed['kept'][number]): string {
  return `${printable(name)}  ${printable(lock?.version ?? '-')}  ${at}  ${id}`;
}
