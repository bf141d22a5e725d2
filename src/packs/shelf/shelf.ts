/**
 * The shelf: a root of the user that no agent lists. A fit moves entries of an agent's folder there and can be undone exactly. It is
 * recorded before the first move; an interrupted one is undone by the next command.
 */
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { shelfFolder } from '#runtime';
import { diagnose, invalidInput, problemError, quoted, type Diagnostic, type Surroundings } from '#core';
import { isPresent, isSystemError, makeFolders, realPath, tryRealPath, writeFileAtomically } from '#platform';
import { isLinkTo } from '../agents/place-skills.ts';
import { LOCK_FILE_NAME, lockFileText, readLockAt, type LockedSkill } from '../lock/lock-file.ts';
import { accepted, asRefusal, packRefusal, refused, systemRefusal, type PackRefusal } from '../problems.ts';
import type { OnStep } from '../root/apply.ts';
import { withRoot } from '../root/open-root.ts';
import {
  finishFit,
  finishUndo,
  isFitPending,
  keptFolder,
  listFits,
  readFit,
  readPending,
  startUndo,
  writePending,
  type FitRecord,
  type LockChange,
  type Made,
  type Move,
} from './fit-record.ts';
import { lockedRoots, lookAt, planMoves, type MovePlan } from './plan-moves.ts';

interface FitRequest {
  readonly agent: string;
  /** Folders of skills, or links to them, as the agent finds them. Those of an earlier fit of the agent are restored unless they are named. */
  readonly entries: readonly string[];
  readonly pins: readonly string[];
  /** A skill to create: its folder, and its SKILL.md. */
  readonly add?: { readonly path: string; readonly text: string };
  readonly at: Date;
}

interface ShelfOptions {
  readonly surroundings: Surroundings;
  readonly signal?: AbortSignal;
  readonly onNote?: (note: string) => void;
  /** For tests: called after every change that other processes can see. */
  readonly onStep?: OnStep;
}

interface LastFit extends Pick<FitRecord, 'pins' | 'made'> {
  readonly moves: readonly (Pick<Move, 'from' | 'target'> & { readonly at: string })[];
}

interface Shelf {
  readonly path: string;
  /** The last fit of an agent, and where the skills are that it moved; undefined before the first fit. */
  readonly last: (agent: string) => LastFit | undefined;
  /** The entries that a fit would leave, and why. */
  readonly leaves: (agent: string, entries: readonly string[]) => MovePlan['left'];
  /** Replaces the last fit of the agent. */
  readonly fit: (request: FitRequest) => Promise<MovePlan | PackRefusal>;
  /** Restores what the last fit of the agent moved. */
  readonly undo: (agent: string) => Promise<{ readonly restored: readonly string[] } | PackRefusal>;
}

/** Throws a refusal if an interrupted fit cannot be undone. */
export async function openShelf(options: ShelfOptions): Promise<Shelf> {
  const { surroundings, signal, onNote = () => undefined, onStep = () => undefined } = options;
  const { home } = surroundings;
  if (home === undefined) throw invalidInput('there is no home folder', 'a home folder', 'set HOME');
  const folder = shelfFolder(realPath(home));
  const context = { shelf: folder, surroundings };
  await recoverShelf(folder, { signal, onNote });
  const locked = <T>(act: () => T): Promise<T | PackRefusal> =>
    inRoots([...new Set([...lockedRoots(context), folder])], signal, () => {
      // Another process may have been killed since.
      undoPending(folder, onNote);
      return Promise.resolve(act());
    });
  return {
    path: folder,
    last(agent) {
      const fit = readFit(folder, agent);
      const locate = (move: Move): string => move.target ?? (isPresent(move.to) ? move.to : shelfPath(move, folder));
      return fit && { ...fit, moves: fit.moves.map((move) => ({ ...move, at: locate(move) })) };
    },
    leaves: (agent, entries) => planMoves(entries, { ...context, agent }).left,
    fit: ({ agent, entries, pins, add, at }) =>
      locked(() => {
        undoFit(folder, agent, { onNote, onStep });
        const { left, ...plan } = planMoves(entries, { ...context, agent });
        const isNew = add !== undefined && plan.moves.length > 0 && !isPresent(add.path);
        const parent = isNew ? [lookAt(path.dirname(add.path))] : [];
        const touched = [
          ...plan.touched,
          ...parent.filter((one) => plan.touched.every((other) => other.path !== one.path)),
        ];
        const made = isNew ? [...plan.made, add] : plan.made;
        apply(folder, { ...plan, made, touched, agent, pins, at: at.toISOString() }, onStep);
        return { ...plan, left };
      }),
    async undo(agent) {
      if (readFit(folder, agent) !== undefined)
        return locked(() => ({ restored: undoFit(folder, agent, { onNote, onStep }) }));
      return packRefusal('install/not-installed', `there is no fit of ${quoted(agent)} to undo`, {
        hint: `skillwright fit --agent ${agent} makes one`,
      });
    },
  };
}

/** Undoes an interrupted fit, if there is one. */
async function recoverShelf(
  shelf: string,
  { signal, onNote }: { readonly signal?: AbortSignal | undefined; readonly onNote: (note: string) => void },
): Promise<void> {
  if (!isFitPending(shelf)) return;
  const record = readPending(shelf);
  const roots = record?.locks.map(({ root }) => root).filter(isPresent) ?? [];
  accepted(await inRoots([...new Set([...roots, shelf])], signal, () => Promise.resolve(undoPending(shelf, onNote))));
}

/** `recoverShelf` for the roots of a runtime. A shelf that cannot be recovered is read as it is. */
export async function recoverShelves(roots: readonly string[], signal?: AbortSignal): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  for (const root of roots) {
    const onNote = (message: string): void =>
      void diagnostics.push(diagnose({ code: 'root/interrupted', path: root, message }, 'lenient'));
    const recovered = await withRefusal(() => recoverShelf(root, { signal, onNote }));
    if (recovered !== undefined) onNote(recovered.message);
  }
  return diagnostics;
}

async function withRefusal(act: () => Promise<void>): Promise<PackRefusal | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return asRefusal(error);
  }
}

/** Holds the locks of several roots, always in the same order. */
async function inRoots<T>(
  roots: readonly string[],
  signal: AbortSignal | undefined,
  act: () => Promise<T>,
): Promise<T | PackRefusal> {
  const [first, ...others] = roots.toSorted();
  if (first === undefined) return act();
  const done = await withRoot(first, { signal, create: true }, () => inRoots(others, signal, act));
  return done;
}

function apply(shelf: string, record: FitRecord, onStep: OnStep): void {
  try {
    writePending(shelf, record);
    onStep('recorded');
    for (const { from, to } of record.moves) {
      renameSync(from, to);
      onStep(`moved ${from}`);
    }
    for (const made of record.made) {
      make(made);
      onStep(`made ${made.path}`);
    }
    changeLocks(shelf, record.locks, ({ after, shelved }) => ({ inRoot: after, onShelf: shelved }), onStep);
    finishFit(shelf, record.agent);
    onStep('finished');
  } catch (error) {
    const refusal = systemRefusal(error, `${quoted(shelf, 200)} cannot be changed`);
    if (isFitPending(shelf)) undoPending(shelf, () => undefined);
    throw problemError(refusal);
  }
}

function make(made: Made): void {
  if ('link' in made) return symlinkSync(made.link, made.path, 'dir');
  mkdirSync(made.path);
  writeFileSync(path.join(made.path, 'SKILL.md'), made.text, { flag: 'wx' });
}

interface UndoContext {
  readonly onNote: (note: string) => void;
  readonly onStep: OnStep;
}

function undoFit(shelf: string, agent: string, context: UndoContext): readonly string[] {
  const fit = readFit(shelf, agent);
  if (fit === undefined) return [];
  const made = new Set(fit.made.map((one) => one.path));
  const later = listFits(shelf).find(
    (other) => other.agent !== agent && other.moves.some(({ from }) => made.has(from)),
  );
  if (later !== undefined)
    throw refused('install/exists', `the fit of ${later.agent} moved links that the fit of ${agent} made`, {
      hint: `undo it first: skillwright fit --agent ${later.agent} --undo`,
    });
  startUndo(shelf, agent);
  context.onStep('undo started');
  return reverse(shelf, readPending(shelf), context);
}

function undoPending(shelf: string, onNote: (note: string) => void): void {
  const record = readPending(shelf);
  if (record === undefined) return;
  reverse(shelf, record, { onNote, onStep: () => undefined });
  onNote(`an interrupted fit of ${record.agent} was undone`);
}

/** Undoes as much of the record as was done, in any state between none and all. */
function reverse(shelf: string, record: FitRecord | undefined, { onNote, onStep }: UndoContext): readonly string[] {
  if (record === undefined) return [];
  const restored: string[] = [];
  try {
    for (const made of record.made) {
      const note = unmake(made);
      if (note !== undefined) onNote(note);
      onStep(`removed ${made.path}`);
    }
    // A link is restored only if its target is back.
    for (const move of record.moves.toSorted(
      (a, b) => Number(a.target !== undefined) - Number(b.target !== undefined),
    )) {
      const note = moveBack(move, shelf);
      if (note === undefined) restored.push(move.from);
      else onNote(note);
      onStep(`restored ${move.from}`);
    }
    changeLocks(shelf, record.locks, (change, current) => lockBefore(shelf, change, current), onStep);
    shelveDuplicates(shelf);
    restoreTimes(record);
    removeKept(shelf, record.agent);
    finishUndo(shelf);
    onStep('undone');
    return restored;
  } catch (error) {
    const refusal = systemRefusal(error, 'the fit cannot be undone');
    throw problemError({ ...refusal, hint: 'resolve the reason; the next command continues' });
  }
}

function unmake(made: Made): string | undefined {
  const stats = lstatSync(made.path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if ('link' in made) {
    const real = realPath(path.dirname(made.path));
    if (isLinkTo(made.path, { real, target: path.resolve(real, made.link) })) unlinkSync(made.path);
    return undefined;
  }
  const names = stats.isDirectory() ? readdirSync(made.path) : ['?'];
  const isOurs = names.every(
    (name) => name === 'SKILL.md' && made.text.startsWith(readFileSync(path.join(made.path, name), 'utf8')),
  );
  if (!isOurs) return `${quoted(made.path, 200)} was edited and was kept`;
  rmSync(made.path, { recursive: true });
  return undefined;
}

/** Why the entry was not restored; undefined if it is where it was. */
function moveBack(move: Move, shelf: string): string | undefined {
  const { from, target } = move;
  const to = isPresent(move.to) ? move.to : shelfPath(move, shelf);
  const isThere = isPresent(from);
  if (!isPresent(to)) return isThere ? undefined : `${quoted(from, 200)} is no longer on the shelf`;
  if (isThere)
    return to === move.to ? `${quoted(from, 200)} exists again; the one from before is ${quoted(to, 200)}` : undefined;
  if (target !== undefined && tryRealPath(target) === undefined) {
    unlinkSync(to);
    return `${quoted(from, 200)} led to a skill that was removed`;
  }
  makeFolders(path.dirname(from));
  renameSync(to, from);
  return undefined;
}

function shelfPath({ from, to, target }: Move, shelf: string): string {
  return target === undefined ? path.join(shelf, path.basename(from)) : to;
}

/** Fits of several agents share the skills that all of them moved: another agent's copy takes the place of the one that leaves. */
function shelveDuplicates(shelf: string): void {
  for (const move of listFits(shelf).flatMap(({ moves }) => moves)) {
    const place = shelfPath(move, shelf);
    if (isPresent(move.to) && !isPresent(place)) renameSync(move.to, place);
  }
}

interface LockEntries {
  readonly inRoot: LockedSkill | undefined;
  readonly onShelf: LockedSkill | undefined;
}

/** Writes each lock once. */
function changeLocks(
  shelf: string,
  changes: readonly LockChange[],
  decide: (change: LockChange, current: LockEntries) => LockEntries,
  onStep: OnStep,
): void {
  const locks = new Map<string, Map<string, LockedSkill>>();
  const open = (root: string): Map<string, LockedSkill> => {
    const skills = locks.get(root) ?? new Map(accepted(readLockAt(path.join(root, LOCK_FILE_NAME))).skills);
    locks.set(root, skills);
    return skills;
  };
  const set = (root: string, name: string, skill: LockedSkill | undefined): void => {
    if (skill === undefined) open(root).delete(name);
    else open(root).set(name, skill);
  };
  for (const change of changes) {
    const {
      root,
      before: { name },
      shelved,
    } = change;
    const current = { inRoot: open(root).get(name), onShelf: shelved && open(shelf).get(name) };
    const next = decide(change, current);
    set(root, name, next.inRoot);
    if (shelved !== undefined) set(shelf, name, next.onShelf);
  }
  for (const [root, skills] of locks) {
    const file = path.join(root, LOCK_FILE_NAME);
    if (skills.size === 0 && root === shelf) rmSync(file, { force: true });
    else {
      const text = Buffer.from(lockFileText({ schema: 1, skills }));
      if (!isPresent(file) || !readFileSync(file).equals(text))
        writeFileAtomically(file, text, { mode: 0o644, sync: true });
    }
    onStep(`lock of ${root}`);
  }
}

/** The entries from before; of a skill that changed meanwhile only its folders are. */
function lockBefore(shelf: string, { root, before, after, shelved }: LockChange, current: LockEntries): LockEntries {
  const { links, copies, copyDigests } = before;
  const earlier = (now: LockedSkill | undefined, ours: LockedSkill | undefined): LockedSkill | undefined =>
    now === undefined || isDeepStrictEqual(now, ours) || isDeepStrictEqual(now, before)
      ? before
      : { ...now, links, copies, copyDigests };
  if (shelved === undefined) {
    const isGone = after !== undefined && current.inRoot === undefined;
    return { inRoot: isGone ? undefined : earlier(current.inRoot, after), onShelf: undefined };
  }
  const isBack = isPresent(path.join(root, before.name)) && !isPresent(path.join(shelf, before.name));
  if (!isBack) return current;
  return { inRoot: current.inRoot ?? earlier(current.onShelf, shelved), onShelf: undefined };
}

function restoreTimes({ touched }: FitRecord): void {
  for (const { path: place, mtimeMs, content } of touched)
    if (isPresent(place) && lookAt(place).content === content) utimesSync(place, new Date(), mtimeMs / 1000);
}

function removeKept(shelf: string, agent: string): void {
  try {
    rmdirSync(keptFolder(shelf, agent));
  } catch (error) {
    if (!isSystemError(error) || (error.code !== 'ENOTEMPTY' && error.code !== 'ENOENT')) throw error;
  }
}
