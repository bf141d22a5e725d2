/** Uninstalls skills, restores them from the trash and rolls them back to an earlier version. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { findAgentBase } from './agents/agents.ts';
import { checkCopies } from './agents/lock-places.ts';
import { requestChanges, type AgentTarget } from './agents/place-targets.ts';
import { readSkillHead } from './lock/locked-skills.ts';
import { isRefusal, packRefusal, refused, type PackRefusal } from './problems.ts';
import { quoted, type Surroundings } from '#core';
import { isPresent, removeTree } from '#platform';
import { openTrust } from '#policy';
import { openPlugin } from '#skills';
import type { SkillBackup } from './root/skill-backups.ts';
import { inRoot, type ChangeOutcome, type OpenRoot } from './root/open-root.ts';

interface ChangeOptions {
  readonly settings: { readonly root: string; readonly surroundings?: Surroundings };
  readonly dryRun?: boolean;
  /** Gets a description of the change. The change is made only if it resolves to true. */
  readonly confirm: (what: string) => Promise<boolean>;
  readonly signal?: AbortSignal;
  readonly onNote?: (note: string) => void;
}

export interface Changed extends ChangeOutcome {
  readonly type: 'changed';
  readonly root: string;
  readonly names: readonly string[];
}

export interface UninstallOptions extends ChangeOptions {
  readonly names: readonly string[] | 'all';
  /** Only removes the links and copies of these agents; the skills stay. */
  readonly targets?: readonly AgentTarget[];
  /** Deletes the skills instead of moving them to the trash. */
  readonly purge?: boolean;
  /** Also removes named skills that were placed by hand. */
  readonly force?: boolean;
}

/** Uninstalls all skills or none. Refuses to remove a skill that another installed skill requires. */
export async function uninstallSkills(options: UninstallOptions): Promise<Changed | PackRefusal> {
  const { purge = false, force = false, targets } = options;
  return await inRoot(options, async (root) => {
    const names =
      options.names === 'all'
        ? [...root.lock.skills.keys()]
        : [...new Set(options.names.map((name) => findFolder(root, name)))];
    if (targets === undefined) refuseNeeded(root, names);
    const changes = names.map((name) => ({ type: 'remove', name, to: purge ? 'nowhere' : 'trash', force }) as const);
    const [refusal] = root.refusals(changes).values();
    if (refusal !== undefined) return refusal;
    if (targets !== undefined) return await unlink(root, options, names, targets);
    const { home } = options.settings.surroundings ?? {};
    const plugins = names.flatMap((name) => {
      const plugin = purge ? openPlugin(path.join(root.path, name)) : undefined;
      return typeof plugin === 'object' && plugin.servers.length > 0 ? [plugin] : [];
    });
    const also = plugins.length === 0 ? '' : ', with the data of MCP servers and the trust in them';
    const what = `${purge ? 'delete permanently' : 'move to the trash'}: ${names.join(', ')}${also}`;
    return await change(root, options, names, {
      what,
      async act(signal) {
        const done = await root.commit(changes, { signal });
        if (isRefusal(done) || home === undefined) return done;
        for (const { dir, dataFolder } of plugins) {
          await openTrust({ home, bind: 'digest' }).forget(dir);
          await removeTree(dataFolder(home));
        }
        return done;
      },
    });
  });
}

/** The folder of a skill, which may be named as it is listed: by the `name` of its SKILL.md. */
function findFolder(root: OpenRoot, name: string): string {
  const folders = readdirSync(root.path);
  if (root.lock.skills.has(name) || folders.includes(name)) return name;
  const declaring = folders.filter((folder) => readSkillHead(path.join(root.path, folder), folder)?.name === name);
  const [only = name] = declaring;
  if (declaring.length < 2) return only;
  throw refused('install/not-installed', `${String(declaring.length)} folders have a skill called ${quoted(name)}`, {
    hint: `name its folder: ${declaring.toSorted().join(', ')}`,
  });
}

/** Removes the links and copies of some agents. An agent that reads the root itself cannot be left out. */
async function unlink(
  root: OpenRoot,
  options: UninstallOptions,
  names: readonly string[],
  targets: readonly AgentTarget[],
): Promise<Changed | PackRefusal> {
  const own = targets.find(({ isRoot }) => isRoot);
  if (own !== undefined)
    return packRefusal(
      'install/agent',
      `${own.agents.join(', ') || 'the root'} reads ${quoted(root.path, 200)} itself`,
      { hint: 'uninstall the skill for every agent: run the command without --agent' },
    );
  const who = targets.flatMap(({ agents }) => agents).join(', ');
  const there = names.filter((name) => targets.some(({ folder }) => isPresent(path.join(folder, name))));
  const absent = names.filter((name) => !there.includes(name)).map((name) => `${name} is not in the folder of ${who}`);
  if (there.length === 0)
    return { type: 'changed', root: root.path, names: [], kept: [], notes: absent, unplaced: [], isDone: true };
  const places = requestChanges(targets, { remove: names }, { root: root.path, kind: 'link' }).flatMap((place) =>
    names.map((name) => {
      const isCopy = root.lock.skills.get(name)?.copies?.includes(place.folder) === true;
      return { ...place, kind: isCopy ? ('copy' as const) : ('link' as const), remove: [name] };
    }),
  );
  const done = await change(root, options, there, {
    what: `remove for ${who}: ${there.join(', ')}`,
    act: (signal) => root.commit([], { signal, places }),
  });
  if (isRefusal(done)) return done;
  const kept = new Set(done.unplaced.map(({ name }) => name));
  return { ...done, names: there.filter((name) => !kept.has(name)), notes: [...done.notes, ...absent] };
}

function refuseNeeded(root: OpenRoot, names: readonly string[]): void {
  for (const { name, requires = [] } of root.lock.skills.values()) {
    const need = names.includes(name) ? undefined : requires.find((required) => names.includes(required));
    if (need !== undefined)
      throw refused('requires/missing', `${quoted(name)} needs ${quoted(need)}`, {
        hint: `uninstall both, or keep both: skillwright uninstall ${need} ${name}`,
      });
  }
}

export interface RestoreSkillOptions extends ChangeOptions {
  readonly name: string;
  /** Selects one of several backups (default: the newest). */
  readonly id?: string;
  /** Replaces an installed skill of the same name when restoring from the trash, after backing it up. */
  readonly force?: boolean;
}

/** Restores a skill from the trash, with its links for agents. Without `name`, every skill of the trash that is not installed. */
export async function restoreSkills(
  options: Omit<RestoreSkillOptions, 'name'> & { readonly name?: string },
): Promise<Changed | PackRefusal> {
  const { name, id, force = false } = options;
  return await inRoot(options, async (root) => {
    const trash = root.backups('trash');
    const newest = trash.filter((kept, at) => trash.findIndex((other) => other.name === kept.name) === at);
    const chosen =
      name === undefined
        ? newest.filter((kept) => !root.lock.skills.has(kept.name))
        : trash.filter((kept) => kept.name === name && (id === undefined || kept.id === id)).slice(0, 1);
    const [first] = chosen;
    if (first === undefined)
      return packRefusal(
        'install/trash',
        name === undefined ? 'the trash has no skill that is not installed' : `${quoted(name)} is not in the trash`,
      );
    refuseOccupiedFolder(root, options, chosen);
    const names = chosen.map((kept) => kept.name);
    return await change(root, options, names, {
      what: name === undefined ? `restore ${names.join(', ')}` : `restore ${name}, removed on ${first.at}`,
      act: (signal) => root.bringBack(chosen, { signal, existing: force ? 'replace' : 'refuse' }),
      hintFor: restoreHint,
    });
  });
}

/** Restores a skill from the trash, with its links for agents. */
export async function restoreSkill(options: RestoreSkillOptions): Promise<Changed | PackRefusal> {
  return await restoreSkills(options);
}

/** Refuses to restore a skill if a file that skillwright did not create is where its link or copy belongs: the lock would forget that location. */
function refuseOccupiedFolder(
  root: OpenRoot,
  { settings: { surroundings = { cwd: root.path, home: undefined, env: {} } } }: ChangeOptions,
  chosen: readonly SkillBackup[],
): void {
  const base = findAgentBase(root.path, surroundings);
  const blocking = chosen
    .filter(({ name }) => !root.lock.skills.has(name))
    .flatMap(({ lock }) => (lock === undefined ? [] : checkCopies(lock, root.path, base)))
    .find(({ status }) => status === 'changed' || status === 'edited');
  if (blocking === undefined) return;
  const why =
    blocking.status === 'edited' ? 'was edited after it was copied' : 'exists and was not created by skillwright';
  throw refused('install/agent', `${quoted(blocking.path, 200)} ${why}, so ${quoted(blocking.name)} was not restored`, {
    hint: 'move it away and run the command again',
  });
}

/** Exchanges a skill with the version before it. */
export async function rollbackSkill(options: RestoreSkillOptions): Promise<Changed | PackRefusal> {
  const { name, id } = options;
  return await inRoot(options, async (root) => {
    const found = root.backups('previous', name).find((kept) => id === undefined || kept.id === id);
    if (found === undefined) return packRefusal('install/trash', `there is no earlier version of ${quoted(name)}`);
    return await change(root, options, [name], {
      what: `roll ${name} back to ${found.lock?.version ?? 'the version'} from before ${found.at}`,
      act(signal) {
        if (root.lock.skills.has(name)) return root.bringBack([found], { signal, existing: 'replace' });
        throw refused('install/not-installed', `${quoted(name)} is not installed in ${quoted(root.path, 200)}`);
      },
    });
  });
}

/** `restore` has other flags than `install`. */
function restoreHint({ code }: PackRefusal): string | undefined {
  if (code === 'install/exists') return 'skillwright restore NAME --force replaces it; its files are kept';
  return code === 'install/foreign'
    ? 'move the folder away, or run skillwright restore NAME --force, which moves it to the trash'
    : undefined;
}

interface Work {
  readonly what: string;
  /** The hint for a refusal of this command, where it differs. */
  readonly hintFor?: (refusal: PackRefusal) => string | undefined;
  readonly act: (signal: AbortSignal | undefined) => Promise<Omit<ChangeOutcome, 'isDone'> | PackRefusal>;
}

async function change(
  root: OpenRoot,
  { dryRun, confirm, signal }: ChangeOptions,
  names: readonly string[],
  { what, act, hintFor }: Work,
): Promise<Changed | PackRefusal> {
  const done = { type: 'changed', root: root.path, names, kept: [], notes: [], unplaced: [] } as const;
  if (dryRun === true) return { ...done, notes: [`would ${what}`], isDone: false };
  if ((await confirm(what)) !== true) return packRefusal('install/refused', 'not confirmed: nothing was changed');
  const committed = await act(signal);
  if (isRefusal(committed)) {
    const hint = hintFor?.(committed);
    return hint === undefined ? committed : { ...committed, hint, allow: '--force' };
  }
  const { kept, notes, unplaced } = committed;
  return { ...done, kept, notes, unplaced, isDone: true };
}

/** Lists the trash of a root, or the earlier versions of one skill. Changes nothing. */
export async function listSkillBackups(
  options: Omit<ChangeOptions, 'confirm'>,
  part: 'trash' | { readonly versionsOf: string },
): Promise<readonly SkillBackup[] | PackRefusal> {
  return await inRoot(options, (root) =>
    Promise.resolve(part === 'trash' ? root.backups('trash') : root.backups('previous', part.versionsOf)),
  );
}

/** Deletes everything in the trash. */
export async function emptyTrash(options: ChangeOptions): Promise<Changed | PackRefusal> {
  return await inRoot(options, async (root) => {
    const names = root.backups('trash').map(({ name }) => name);
    const done = { type: 'changed', root: root.path, names, kept: [], notes: [], unplaced: [] } as const;
    const what = `delete permanently: ${names.join(', ')}`;
    if (options.dryRun === true) return { ...done, notes: names.length === 0 ? [] : [`would ${what}`], isDone: false };
    if (names.length > 0 && (await options.confirm(what)) !== true)
      return packRefusal('install/refused', 'not confirmed: nothing was changed');
    await root.emptyTrash();
    return { ...done, isDone: true };
  });
}
