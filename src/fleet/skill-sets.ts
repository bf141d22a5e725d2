/**
 * The skills of a run, pinned by digest. The server stores the files of its skills by their digests; a worker fetches them and checks the
 * tree digest of each skill before it is used, so that neither the database nor the artifact store has to be trusted.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { compareText, quoted, SkillError, toRelativePath, isProblem } from '#core';
import {
  digestName,
  digestOfEntries,
  isPresent,
  isProgram,
  isSystemError,
  readTreeDigest,
  refuseLinksOutside,
  sha256,
  temporaryName,
  walkOpened,
} from '#platform';
import type { Runtime } from '#runtime';
import type { ContentStore } from './content-store.ts';
import type { RecordTables } from './run-store.ts';

/** `content`: the digest of a file, the target of a link, empty for a folder. */
interface PinnedEntry {
  readonly kind: Parameters<typeof digestOfEntries>[0][number]['kind'];
  readonly path: string;
  readonly content: string;
}

interface PinnedSkill {
  readonly name: string;
  readonly digest: string;
  readonly entries: readonly PinnedEntry[];
}

/** Skills have few files; with one store after the other, a slow store delays the start of a server by each skill. */
const SAVED_TOGETHER = 50;

/** Stores all skills that a model of this runtime may use, and returns the id of the set. */
export async function pinSkills(tables: RecordTables, runtime: Runtime): Promise<string> {
  const usable = runtime.index.skills.filter(({ state }) => state !== 'disabled');
  const untrusted = await runtime.distrust(usable);
  return pinFolders(
    tables,
    usable.filter(({ dir }) => !untrusted.has(dir)),
  );
}

export async function pinFolders(
  { pool, contents }: RecordTables,
  folders: readonly { readonly name: string; readonly dir: string }[],
): Promise<string> {
  const skills: PinnedSkill[] = [];
  let unsaved: { readonly digest: string; readonly bytes: Buffer }[] = [];
  for (const { dir, name } of folders) {
    const { entries, files } = readEntries(dir);
    unsaved.push(...files);
    if (unsaved.length >= SAVED_TOGETHER) {
      await contents.save(unsaved);
      unsaved = [];
    }
    skills.push({ name, digest: digestPinnedEntries(entries), entries });
  }
  await contents.save(unsaved);
  const id = setId(skills);
  await pool.query('insert into skillwright.skill_sets (id, skills) values ($1, $2) on conflict do nothing', [
    id,
    JSON.stringify(skills),
  ]);
  return id;
}

function setId(skills: readonly PinnedSkill[]): string {
  return sha256(
    Buffer.from(JSON.stringify(skills.map(({ name, digest }) => `${name} ${digest}`).toSorted(compareText))),
  );
}

function readEntries(dir: string): {
  readonly entries: readonly PinnedEntry[];
  readonly files: readonly { readonly digest: string; readonly bytes: Buffer }[];
} {
  const entries: PinnedEntry[] = [];
  const files: { digest: string; bytes: Buffer }[] = [];
  const links = new Map<string, string>();
  const folders = new Set<string>();
  for (const entry of walkOpened(dir, {})) {
    if (entry.type === 'folder') {
      folders.add(entry.path);
      if (entry.path !== '') entries.push({ kind: 'folder', path: entry.path, content: '' });
    } else if (entry.type === 'link') {
      links.set(entry.path, entry.target);
      entries.push({ kind: 'link', path: entry.path, content: entry.target });
    } else {
      const bytes = readFileSync(entry.descriptor);
      const digest = sha256(bytes);
      files.push({ digest, bytes });
      entries.push({ kind: isProgram(entry.stats) ? 'program' : 'file', path: entry.path, content: digest });
    }
  }
  refuseLinksOutside(links, folders);
  return { entries, files };
}

function digestPinnedEntries(entries: readonly PinnedEntry[]): string {
  return digestOfEntries(
    entries.map(({ kind, path: name, content }) => ({
      kind,
      path: name,
      content: Buffer.from(content, kind === 'link' ? 'utf8' : 'hex'),
    })),
  );
}

/**
 * Brings the skills of a set to this machine and returns their root. Each skill is checked against its digest when it is written. Skills
 * that several sets share are fetched once.
 */
export async function fetchSkills({ pool, contents }: RecordTables, id: string, directory: string): Promise<string> {
  const { rows } = await pool.query<{ skills: readonly PinnedSkill[] }>(
    'select skills from skillwright.skill_sets where id = $1',
    [id],
  );
  const [set] = rows;
  if (set === undefined || setId(set.skills) !== id) throw damaged('its list of skills does not match its id');
  const root = path.join(directory, 'sets', id);
  if (isPresent(root)) return root;
  const fetched = await Promise.all(
    set.skills.map(async (skill) => ({ name: skill.name, place: await fetchSkill(contents, skill, directory) })),
  );
  // Links into the store of this worker, made complete before the root appears.
  const incoming = temporaryName(root, '.new');
  mkdirSync(incoming, { recursive: true, mode: 0o700 });
  for (const { name, place } of fetched) symlinkSync(place, path.join(incoming, path.basename(name)));
  moveInto(incoming, root);
  return root;
}

async function fetchSkill(contents: ContentStore, skill: PinnedSkill, directory: string): Promise<string> {
  const { name, digest, entries } = skill;
  if (digestPinnedEntries(entries) !== digest) throw damaged(`the files of ${quoted(name)} do not match`);
  const place = path.join(directory, 'skills', digestName(digest), path.basename(name));
  if (isPresent(place)) return place;
  const incoming = temporaryName(path.dirname(place), '.new');
  const folder = path.join(incoming, path.basename(name));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const write = (entry: PinnedEntry): Promise<void> => writeEntry(contents, folder, entry, name);
    await Promise.all(entries.filter(({ kind }) => kind !== 'link').map(write));
    // After the others, and inner ones first, so that no entry is written through a link.
    const links = entries.filter(({ kind }) => kind === 'link').toSorted((a, b) => (a.path < b.path ? 1 : -1));
    for (const link of links) await write(link);
    const written = await readTreeDigest(folder);
    if (written.type !== 'digest' || written.digest !== digest) throw damaged(`the files of ${quoted(name)} changed`);
    moveInto(incoming, path.dirname(place));
    return place;
  } finally {
    rmSync(incoming, { recursive: true, force: true });
  }
}

async function writeEntry(contents: ContentStore, folder: string, entry: PinnedEntry, skill: string): Promise<void> {
  const place = toRelativePath(entry.path);
  if (isProblem(place)) throw damaged(`${quoted(skill)} names a file outside its folder`);
  const target = path.join(folder, place);
  if (entry.kind === 'folder') {
    mkdirSync(target, { recursive: true, mode: 0o755 });
    return;
  }
  mkdirSync(path.dirname(target), { recursive: true, mode: 0o755 });
  if (entry.kind === 'link') {
    symlinkSync(entry.content, target);
    return;
  }
  const bytes = await contents.load(entry.content);
  if (bytes === undefined || sha256(bytes) !== entry.content)
    throw damaged(`${quoted(entry.path)} of ${quoted(skill)} is ${bytes === undefined ? 'missing' : 'changed'}`);
  writeFileSync(target, bytes, { mode: entry.kind === 'program' ? 0o755 : 0o644, flag: 'wx' });
}

/** Another process may have brought the same folder meanwhile; then it is used. */
function moveInto(from: string, to: string): void {
  mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isSystemError(error) || !isPresent(to)) throw error;
    rmSync(from, { recursive: true, force: true });
  }
}

function damaged(reason: string): SkillError {
  return new SkillError({
    code: 'skill/invalid',
    message: `the skills of the run cannot be used: ${reason}`,
    hint: 'submit the run again from a server that has the skills; if it repeats, check the artifact store',
    data: { path: '' },
  });
}
