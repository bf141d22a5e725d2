/** Skills as resources of the MCP Skills extension (SEP-2640). */
import type { Skill, SkillReadResult, SkillSource } from '@modelcontextprotocol/server/ext/skills';
import { ProtocolError, ProtocolErrorCode, type Resource } from '@modelcontextprotocol/server';
import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

import {
  cleanText,
  isForModel,
  isObject,
  detectMediaType,
  parseJson,
  toRelativePath,
  type Action,
  type ActionFailed,
  serverOfSource,
  type SkillEntry,
  isProblem,
} from '#core';
import { listFiles, inSkill } from '#skills';
import { sha256, type ConfinedDirectory, cacheEntry, isDirectory, isInside, realPath } from '#platform';
import type { Session } from '#runtime';

const PAGE = 100;
const SCHEME = 'skill://';
const DIRECTORY = 'inode/directory';

/** The limits of the extension for one skill. */
const MAX_FILES = 512;
const MAX_BYTES = 16 * 1024 * 1024;
/** The list of plain resources has no pages. */
const MAX_RESOURCES = 1_000;

/** Builds the entry of a skill from its frontmatter; the library of the extension does. */
type BuildEntry = (path: string, files: Record<string, Uint8Array>) => Promise<Skill>;

export interface SkillSourceParts {
  readonly session: () => Promise<Session>;
  /** Called if a read could not be recorded; the next read gets another session. */
  readonly onUnrecorded: () => void;
  readonly buildEntry: BuildEntry;
  /** Called once for each skill that cannot be published. */
  readonly onWarning: (message: string) => void;
  /** Keeps the digests of unchanged files between two starts. */
  readonly cacheFile?: string | undefined;
}

/**
 * Serves the skills that a model may use. Files are read through the skill's folder, checked against the published digests, and every
 * read is an action of the session: policy, trust and the record apply.
 */
export function openSkillSource(parts: SkillSourceParts): SkillSource {
  const { session, buildEntry, onWarning, cacheFile } = parts;
  let remembered: Map<string, Published> | undefined;
  let isRemembered = true;
  const known = (): Map<string, Published> => (remembered ??= readPublished(cacheFile));
  const entryOf = async (skill: SkillEntry, isListing = false): Promise<Skill | undefined> => {
    const before = known().get(skill.dir);
    // A list shows files as they are now; a read is checked against what was listed.
    if (before !== undefined && (!isListing || before.stamp === stampFiles(skill.dir, before.paths)))
      return before.entry;
    const fresh = await publish(skill, buildEntry).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      onWarning(`the skill ${skill.name} is not offered as a resource: ${reason}`);
      return { entry: undefined, stamp: '', paths: [] };
    });
    known().set(skill.dir, fresh);
    isRemembered = false;
    return fresh.entry;
  };
  const skills = async (): Promise<readonly SkillEntry[]> =>
    // What another server offers is not ours to publish.
    (await session()).index.skills.filter(
      ({ state, source }) => isForModel(state) && serverOfSource(source) === undefined,
    );
  const remember = (): void => {
    if (isRemembered) return;
    writePublished(cacheFile, known());
    isRemembered = true;
  };
  const find = async (uri: string): Promise<Located | undefined> => {
    if (!uri.startsWith(SCHEME)) return undefined;
    const [name = '', ...rest] = uri.slice(SCHEME.length).split('/').map(decoded);
    const skill = (await skills()).find((each) => each.name === name);
    return skill === undefined ? undefined : { skill, path: rest.join('/') };
  };
  return {
    async list({ cursor }) {
      const all = await skills();
      const start = pageStart(cursor);
      const entries = await Promise.all(all.slice(start, start + PAGE).map((skill) => entryOf(skill, true)));
      const next = start + PAGE;
      if (next >= all.length) remember();
      return {
        skills: entries.filter((entry) => entry !== undefined),
        ...(next < all.length ? { nextCursor: String(next) } : {}),
      };
    },
    async listResources() {
      const listed: Resource[] = [];
      for (const skill of await skills()) {
        const entry = await entryOf(skill, true);
        if (entry !== undefined) listed.push(...plainResources(entry, skill));
      }
      remember();
      // One answer has them all, so many skills are listed without their files, which a client reads by the links in SKILL.md.
      return listed.length > MAX_RESOURCES ? listed.filter(({ uri }) => isManifest(uri)) : listed;
    },
    async get(uri) {
      const found = await find(uri);
      return found?.path === 'SKILL.md' ? entryOf(found.skill, true) : undefined;
    },
    async read(uri) {
      const found = await find(uri);
      const entry = found === undefined ? undefined : await entryOf(found.skill);
      if (found === undefined || entry === undefined || entry.resources === 'dynamic') return undefined;
      const listed = entry.resources.find((resource) => resource.uri === uri);
      if (listed === undefined) return undefined;
      await recordRead(await session(), found, parts.onUnrecorded);
      const bytes = readBytes(found);
      if (bytes === undefined || `sha256:${sha256(bytes)}` !== listed.digest)
        throw new Error(`${uri} changed after its skill was listed; list the skills again`);
      return toReadResult(found.path, bytes);
    },
    async readDirectory(uri, { cursor }) {
      const found = await find(uri.replace(/\/+$/, ''));
      const entry = found === undefined ? undefined : await entryOf(found.skill);
      if (entry === undefined || entry.resources === 'dynamic') return undefined;
      const folders = found === undefined ? undefined : readFolders(found);
      const children = listChildren(
        uri.replace(/\/+$/, ''),
        entry.resources.map((resource) => resource.uri),
        folders,
      );
      if (children.length === 0 && folders === undefined) return undefined;
      const start = pageStart(cursor);
      const next = start + PAGE;
      return {
        resources: children.slice(start, next),
        ...(next < children.length ? { nextCursor: String(next) } : {}),
      };
    },
  };
}

/** Where a page starts. Only cursors that the server can have sent are accepted: a page that was not asked for could repeat entries. */
function pageStart(cursor = '0'): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown cursor; list again without one');
}

interface Published {
  readonly entry: Skill | undefined;
  /** Metadata of the files and of their folders when they were read. */
  readonly stamp: string;
  readonly paths: readonly string[];
}

/** What an earlier process read. Each entry counts only if the metadata of its files is the same. */
function readPublished(file: string | undefined): Map<string, Published> {
  const bytes = cacheEntry(file).read();
  const value = bytes === undefined ? undefined : parseJson(Buffer.from(bytes).toString('utf8'));
  if (!isObject(value) || value['schema'] !== 1 || !Array.isArray(value['published'])) return new Map();
  // The user's own cache folder; clients check entries anyway.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return new Map(value['published'] as readonly [string, Published][]);
}

function writePublished(file: string | undefined, published: ReadonlyMap<string, Published>): void {
  const kept = [...published].filter(([, { entry }]) => entry !== undefined);
  cacheEntry(file).write(JSON.stringify({ schema: 1, published: kept }));
}

function stampFiles(dir: string, paths: readonly string[]): string {
  const folders = new Set(paths.map((file) => path.posix.dirname(file)));
  return [...folders, ...paths]
    .map((file) => {
      const stats = lstatSync(path.join(dir, file), { throwIfNoEntry: false });
      return stats === undefined
        ? ''
        : `${String(stats.ino)} ${String(stats.size)} ${String(stats.mtimeMs)} ${String(stats.ctimeMs)}`;
    })
    .join('\n');
}

interface Located {
  readonly skill: SkillEntry;
  readonly path: string;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function publish(skill: SkillEntry, buildEntry: BuildEntry): Promise<Published> {
  const read = inSkill(skill, (directory) => allFiles(directory, skill.dir));
  if ('failure' in read) throw new Error(read.failure.message);
  const { frontmatter, resources, stamp, paths } = read;
  const head = plainHead(skill.name, frontmatter) ?? (await buildEntry(skill.name, { [MANIFEST]: frontmatter }));
  const root = head.uri.slice(0, -MANIFEST.length);
  const listed = resources.map(({ name, ...rest }) => ({ uri: `${root}${name}`, ...rest }));
  return { entry: { ...head, resources: listed }, stamp, paths };
}

/**
 * The library reads frontmatter, so that clients read it the same way; it also hashes, which takes several times as long as all the rest.
 * Lines of plain words, which most skills have, mean the same to everyone.
 */
function plainHead(name: string, bytes: Uint8Array): Pick<Skill, 'uri' | 'frontmatter'> | undefined {
  const [open, ...lines] = Buffer.from(bytes).toString('utf8').trimEnd().split('\n');
  if (open !== '---' || lines.pop() !== '---') return undefined;
  const found = new Map<string, string>();
  for (const line of lines) {
    const [, key, value] = PLAIN_LINE.exec(line) ?? [];
    if (key === undefined || value === undefined || found.has(key) || /: | #|:$/.test(value) || NOT_TEXT.test(value))
      return undefined;
    found.set(key, value);
  }
  const { name: named, description, ...rest } = Object.fromEntries(found);
  if (named === undefined || description === undefined) return undefined;
  return { uri: `skill://${encodeURIComponent(name)}/${MANIFEST}`, frontmatter: { name: named, description, ...rest } };
}

const PLAIN_LINE = /^([a-z][a-z-]*): ([A-Za-z][\x20-\x7e]*[\x21-\x7e])$/;
const NOT_TEXT = /^(?:true|false|null)$/i;

const MANIFEST = 'SKILL.md';

interface ReadFiles extends Omit<Published, 'entry'> {
  /** SKILL.md up to the end of its frontmatter. */
  readonly frontmatter: Uint8Array;
  readonly resources: readonly { readonly name: string; readonly digest: string; readonly size: number }[];
}

function allFiles(directory: ConfinedDirectory, dir: string): ReadFiles {
  const { files, unusable, isCut } = listFiles(directory);
  const [bad] = unusable;
  if (bad !== undefined) throw new Error(`${bad.path}: ${bad.reason}`);
  if (isCut || files.length > MAX_FILES) throw new Error(`it has more than ${String(MAX_FILES)} files`);
  const paths = files.map(({ path: file }) => file);
  const stamp = stampFiles(dir, paths);
  let frontmatter: Uint8Array = new Uint8Array();
  let total = 0;
  const resources = paths.map((file) => {
    const reading = toRelativePath(file);
    if (isProblem(reading)) throw new Error(reading.message);
    const read = directory.read(reading, { maxBytes: MAX_BYTES, allowHardLinks: true });
    if (read.type === 'failed') throw new Error(`${file} cannot be read (${read.code})`);
    total += read.bytes.length;
    if (total > MAX_BYTES) throw new Error(`it has more than ${String(MAX_BYTES)} bytes`);
    const published = file === 'skill.md' ? MANIFEST : file;
    if (published === MANIFEST) frontmatter = sliceFrontmatter(read.bytes);
    const name = published.split('/').map(encodeURIComponent).join('/');
    return { name, digest: `sha256:${sha256(read.bytes)}`, size: read.bytes.length };
  });
  return { frontmatter, resources: resources.toSorted((a, b) => (a.name < b.name ? -1 : 1)), stamp, paths };
}

function sliceFrontmatter(bytes: Uint8Array): Uint8Array {
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf('\n---', 3);
  return end === -1 ? bytes : Buffer.concat([bytes.subarray(0, end), Buffer.from('\n---\n')]);
}

/** Reading a file counts as loading the skill, and as reading the file where the session has an action for it. */
async function recordRead(session: Session, { skill, path }: Located, onUnrecorded: () => void): Promise<void> {
  const perform = async (action: Action): Promise<ActionFailed | undefined> => {
    const observation = await session.perform(action);
    if (observation.type !== 'failed') return undefined;
    if (observation.code === 'record/failed') onUnrecorded();
    return observation;
  };
  const isLoaded = session.state.loaded.some((one) => one.skill.id === skill.id);
  const loaded = isLoaded ? undefined : await perform({ type: 'load_skill', skill: skill.id });
  if (loaded !== undefined) throw new Error(loaded.message);
  if (path === 'SKILL.md') return;
  const read = await perform({ type: 'read_resource', skill: skill.id, path });
  if (read !== undefined && !/^(?:path|file|lines)\//.test(read.code)) throw new Error(read.message);
}

function isManifest(uri: string): boolean {
  return uri.endsWith(`/${MANIFEST}`);
}

/** A skill for clients that list resources and do not know the extension. */
function plainResources({ resources }: Skill, { name, description }: SkillEntry): readonly Resource[] {
  if (resources === 'dynamic') return [];
  return resources.map(({ uri, size }) => {
    const file = uri.slice(SCHEME.length).split('/').slice(1).map(decoded).join('/');
    return {
      uri,
      name: file === MANIFEST ? name : `${name}/${file}`,
      ...(file === MANIFEST ? { title: name, description: cleanText(description) } : {}),
      mimeType: detectMediaType(file, Buffer.alloc(0)).mediaType,
      size,
    };
  });
}

function readBytes({ skill, path }: Located): Uint8Array | undefined {
  const reading = toRelativePath(path === 'SKILL.md' ? skill.file : path);
  if (isProblem(reading)) return undefined;
  const read = inSkill(skill, (directory) => directory.read(reading, { maxBytes: MAX_BYTES, allowHardLinks: true }));
  return 'bytes' in read ? read.bytes : undefined;
}

function toReadResult(path: string, bytes: Uint8Array): SkillReadResult {
  const { mediaType: mimeType, isBinary } = detectMediaType(path, Buffer.from(bytes));
  return isBinary || !isUtf8(bytes) ? { bytes, mimeType } : { text: Buffer.from(bytes).toString('utf8'), mimeType };
}

/** The names of folders in a folder of a skill, which may be empty. Undefined if there is no such folder. */
function readFolders({ skill, path: folder }: Located): readonly string[] | undefined {
  const place = path.join(skill.dir, folder);
  if (folder !== '' && isProblem(toRelativePath(folder))) return undefined;
  if (!isDirectory(place) || !isInside(realPath(place), realPath(skill.dir))) return undefined;
  return readdirSync(place, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_PUBLISHED.has(entry.name))
    .map(({ name }) => name);
}

const NOT_PUBLISHED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** The files and folders directly below a folder. */
function listChildren(
  folder: string,
  uris: readonly string[],
  folders: readonly string[] | undefined = [],
): readonly Resource[] {
  const children = new Map<string, Resource>();
  for (const name of folders) {
    const uri = `${folder}/${encodeURIComponent(name)}`;
    children.set(uri, { uri, name, mimeType: DIRECTORY });
  }
  for (const uri of uris) {
    if (!uri.startsWith(`${folder}/`)) continue;
    const [name = '', ...rest] = uri.slice(folder.length + 1).split('/');
    const child = `${folder}/${name}`;
    const shown = decoded(name);
    children.set(
      child,
      rest.length > 0
        ? { uri: child, name: shown, mimeType: DIRECTORY }
        : { uri: child, name: shown, mimeType: detectMediaType(shown, Buffer.alloc(0)).mediaType },
    );
  }
  return [...children.values()].toSorted((a, b) => (a.uri < b.uri ? -1 : 1));
}
