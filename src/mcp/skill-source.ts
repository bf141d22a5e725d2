/** Skills as resources of the MCP Skills extension (SEP-2640). */
import type { Skill, SkillReadResult, SkillSource } from '@modelcontextprotocol/server/ext/skills';
import type { Resource } from '@modelcontextprotocol/server';
import { isUtf8 } from 'node:buffer';

import { mediaTypeOf } from '../core/media-type.ts';
import { isFailed } from '../core/observation.ts';
import { toRelativePath } from '../core/path.ts';
import { findLoaded } from '../core/session.ts';
import { isForModel } from '../core/skill.ts';
import type { SkillEntry } from '../core/skill.ts';
import { filesOf } from '../loader/files.ts';
import { inSkill } from '../loader/skill-directory.ts';
import type { ConfinedDirectory } from '../platform/fs/confined-directory.ts';
import { fingerprintTree } from '../platform/fs/tree-stat.ts';
import { TreeRefused } from '../platform/fs/tree-walk.ts';
import { sha256 } from '../platform/hash.ts';
import type { Session } from '../runtime/session.ts';

const PAGE = 100;
const SCHEME = 'skill://';
const DIRECTORY = 'inode/directory';

/** The limits of the extension for one skill. */
const MAX_FILES = 512;
const MAX_BYTES = 16 * 1024 * 1024;

/** Builds the entry of a skill from its files; the library of the extension does. */
export type BuildEntry = (path: string, files: Record<string, Uint8Array>) => Promise<Skill>;

export interface SkillSourceParts {
  readonly session: () => Session;
  readonly buildEntry: BuildEntry;
  /** Called once for each skill that cannot be published. */
  readonly onWarning: (message: string) => void;
}

/**
 * Serves the skills that a model may use. Files are read through the skill's folder, checked against the published digests, and every
 * read is an action of the session: policy, trust and the record apply.
 */
export function openSkillSource({ session, buildEntry, onWarning }: SkillSourceParts): SkillSource {
  const published = new Map<string, Published>();
  const entryOf = (skill: SkillEntry, isListing = false): Promise<Skill | undefined> => {
    const known = published.get(skill.dir);
    // A list shows files as they are now; a read is checked against what was listed.
    if (known !== undefined && !isListing) return known.entry;
    const stamp = fingerprint(skill);
    if (known?.stamp === stamp) return known.entry;
    const made = publish(skill, buildEntry).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      onWarning(`the skill ${skill.name} is not offered as a resource: ${reason}`);
      return undefined;
    });
    published.set(skill.dir, { stamp, entry: made });
    return made;
  };
  const skills = (): readonly SkillEntry[] => session().index.skills.filter(({ state }) => isForModel(state));
  const find = (uri: string): Located | undefined => {
    if (!uri.startsWith(SCHEME)) return undefined;
    const [name = '', ...rest] = uri.slice(SCHEME.length).split('/').map(decoded);
    const skill = skills().find((each) => each.name === name);
    return skill === undefined ? undefined : { skill, path: rest.join('/') };
  };
  return {
    async list({ cursor }) {
      const all = skills();
      const start = Math.max(0, Math.trunc(Number(cursor ?? 0)) || 0);
      const entries = await Promise.all(all.slice(start, start + PAGE).map((skill) => entryOf(skill, true)));
      const next = start + PAGE;
      return {
        skills: entries.filter((entry) => entry !== undefined),
        ...(next < all.length ? { nextCursor: String(next) } : {}),
      };
    },
    async get(uri) {
      const found = find(uri);
      return found?.path === 'SKILL.md' ? entryOf(found.skill, true) : undefined;
    },
    async read(uri) {
      const found = find(uri);
      const entry = found === undefined ? undefined : await entryOf(found.skill);
      if (found === undefined || entry === undefined || entry.resources === 'dynamic') return undefined;
      const listed = entry.resources.find((resource) => resource.uri === uri);
      if (listed === undefined) return undefined;
      await recordRead(session(), found);
      const bytes = readBytes(found);
      if (bytes === undefined || `sha256:${sha256(bytes)}` !== listed.digest)
        throw new Error(`${uri} changed after its skill was listed; list the skills again`);
      return contentOf(found.path, bytes);
    },
    async readDirectory(uri, { cursor }) {
      const found = find(uri.replace(/\/+$/, ''));
      const entry = found === undefined ? undefined : await entryOf(found.skill);
      if (entry === undefined || entry.resources === 'dynamic') return undefined;
      const children = childrenOf(
        uri.replace(/\/+$/, ''),
        entry.resources.map((resource) => resource.uri),
      );
      if (children.length === 0) return undefined;
      const start = Math.max(0, Math.trunc(Number(cursor ?? 0)) || 0);
      const next = start + PAGE;
      return {
        resources: children.slice(start, next),
        ...(next < children.length ? { nextCursor: String(next) } : {}),
      };
    },
  };
}

interface Published {
  readonly stamp: string;
  readonly entry: Promise<Skill | undefined>;
}

function fingerprint({ dir }: SkillEntry): string {
  try {
    return fingerprintTree(dir, {});
  } catch (error) {
    if (error instanceof TreeRefused) return '';
    throw error;
  }
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

async function publish(skill: SkillEntry, buildEntry: BuildEntry): Promise<Skill> {
  const files = inSkill(skill, allFiles);
  if ('failure' in files) throw new Error(files.failure.message);
  return buildEntry(skill.name, files.contents);
}

function allFiles(directory: ConfinedDirectory): { readonly contents: Record<string, Uint8Array> } {
  const { files, unusable, isCut } = filesOf(directory);
  const [bad] = unusable;
  if (bad !== undefined) throw new Error(`${bad.path}: ${bad.reason}`);
  if (isCut || files.length > MAX_FILES) throw new Error(`it has more than ${String(MAX_FILES)} files`);
  const contents: Record<string, Uint8Array> = {};
  let total = 0;
  for (const { path } of files) {
    const reading = toRelativePath(path);
    if (reading.type === 'refused') throw new Error(reading.failure.message);
    const read = directory.read(reading.path, { maxBytes: MAX_BYTES, allowHardLinks: true });
    if (read.type === 'failed') throw new Error(`${path} cannot be read (${read.code})`);
    total += read.bytes.length;
    if (total > MAX_BYTES) throw new Error(`it has more than ${String(MAX_BYTES)} bytes`);
    contents[path === 'skill.md' ? 'SKILL.md' : path] = read.bytes;
  }
  return { contents };
}

/** Reading a file counts as loading the skill, and as reading the file where the session has an action for it. */
async function recordRead(session: Session, { skill, path }: Located): Promise<void> {
  const isLoaded = findLoaded(session.state, skill.id) !== undefined;
  const loaded = isLoaded ? undefined : await session.perform({ type: 'load_skill', skill: skill.id });
  if (loaded !== undefined && isFailed(loaded)) throw new Error(loaded.message);
  if (path === 'SKILL.md') return;
  const read = await session.perform({ type: 'read_resource', skill: skill.id, path });
  if (isFailed(read) && !/^(?:path|file|lines)\//.test(read.code)) throw new Error(read.message);
}

function readBytes({ skill, path }: Located): Uint8Array | undefined {
  const reading = toRelativePath(path === 'SKILL.md' ? skill.file : path);
  if (reading.type === 'refused') return undefined;
  const read = inSkill(skill, (directory) =>
    directory.read(reading.path, { maxBytes: MAX_BYTES, allowHardLinks: true }),
  );
  return 'bytes' in read ? read.bytes : undefined;
}

function contentOf(path: string, bytes: Uint8Array): SkillReadResult {
  const { mediaType: mimeType, isBinary } = mediaTypeOf(path, Buffer.from(bytes));
  return isBinary || !isUtf8(bytes) ? { bytes, mimeType } : { text: Buffer.from(bytes).toString('utf8'), mimeType };
}

/** The files and folders directly below a folder. */
function childrenOf(folder: string, uris: readonly string[]): readonly Resource[] {
  const children = new Map<string, Resource>();
  for (const uri of uris) {
    if (!uri.startsWith(`${folder}/`)) continue;
    const [name = '', ...rest] = uri.slice(folder.length + 1).split('/');
    const child = `${folder}/${name}`;
    const shown = decoded(name);
    children.set(
      child,
      rest.length > 0
        ? { uri: child, name: shown, mimeType: DIRECTORY }
        : { uri: child, name: shown, mimeType: mediaTypeOf(shown, Buffer.alloc(0)).mediaType },
    );
  }
  return [...children.values()].toSorted((a, b) => (a.uri < b.uri ? -1 : 1));
}
