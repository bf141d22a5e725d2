/**
 * Skills that MCP servers offer (SEP-2640). Listing keeps what the server says about each skill, in a folder of its own; no file is read. A
 * file is read when a skill that the user trusts needs it, must match its listed digest and size, and is checked again at each use.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import type { Client } from '@modelcontextprotocol/client';
import { SkillsClient, type Skill } from '@modelcontextprotocol/client/ext/skills';
import { parse } from 'yaml';

import { isObject, quoted, type SkillEntry } from '#core';
import { createTree, digestOfEntries, isInside, isPresent, realPath, sha256, writeFileAtomically } from '#platform';
import { openTrust } from '#policy';
import { findFrontmatter } from '#skills';
import { toErrorMessage } from './program-transport.ts';
import { nameSkills } from './skill-names.ts';
import { checkOffered, readStub, stubKey, stubText, type OfferedFile, type OfferedSkill } from './skill-stub.ts';

export interface ServerSkills {
  readonly names: readonly string[];
  readonly problems: readonly string[];
}

export interface SkillFolders {
  /** What the server says about its skills, one folder for each; a root of the index. */
  readonly stubs: string;
  /** Files that were read. */
  readonly contents: string;
  /** Has the trust of the user, which ends when a skill changes. */
  readonly home: string | undefined;
}

const MAX_SKILLS = 1_000;

export function openSkillsClient(client: Client): SkillsClient {
  return new SkillsClient(client, { skipInvalid: true, parseFrontmatter });
}

/** Brings the folder up to date with what the server lists, and removes what it no longer offers. */
export async function syncSkills(skills: SkillsClient, folders: SkillFolders, timeout: number): Promise<ServerSkills> {
  if (!skills.supported) {
    await forgetSkills(folders);
    return { names: [], problems: [] };
  }
  const listed = await skills.list(undefined, { timeout });
  const problems = listed.invalid.map(({ uri = '', reason }) => leftOut(uri, reason));
  const isListed = new Set(listed.skills.map(({ uri }) => uri));
  const earlier = readStubs(folders).filter(({ isAskedFor, uri }) => isAskedFor && !isListed.has(uri));
  const asked = await Promise.all(
    earlier.map(({ uri }) => skills.get(uri, { timeout }).catch((error: unknown) => leftOut(uri, error))),
  );
  problems.push(...asked.filter((each) => typeof each === 'string'));
  const offered = [
    ...listed.skills.map((skill) => ({ skill, isAskedFor: false })),
    ...asked.flatMap((each) => (typeof each === 'string' ? [] : [{ skill: each.skill, isAskedFor: true }])),
  ];
  if (offered.length > MAX_SKILLS) problems.push(`only ${String(MAX_SKILLS)} of its skills are used`);
  // An entry that cannot be used keeps its name too.
  const byListing = nameSkills([...isListed, ...listed.invalid.map(({ uri = '' }) => uri)]);
  const byRequest = nameSkills(
    earlier.map(({ uri }) => uri),
    new Set(byListing.values()),
  );
  const kept = new Map<string, string>();
  for (const { skill, isAskedFor } of offered.slice(0, MAX_SKILLS)) {
    const name = byListing.get(skill.uri) ?? byRequest.get(skill.uri) ?? '';
    try {
      kept.set(placeStub(folders, name, skill, isAskedFor), name);
    } catch (error) {
      problems.push(leftOut(skill.uri, error));
    }
  }
  await forgetSkills(folders, kept);
  return { names: [...kept.values()], problems };
}

function leftOut(uri: string, reason: unknown): string {
  return `the skill ${quoted(uri, 200)} is left out: ${toErrorMessage(reason)}`;
}

/** Keeps a skill that the server does not list. Returns its name, or throws. */
export async function askForSkill(
  skills: SkillsClient,
  folders: SkillFolders,
  uri: string,
  timeout: number,
): Promise<string> {
  const { skill } = await skills.get(uri, { timeout });
  const others = readStubs(folders).filter((each) => each.uri !== skill.uri);
  await forgetSkills(folders, new Map(others.map((each) => [stubKey(each), each.name])));
  const taken = new Set(nameSkills(others.map((each) => each.uri)).values());
  const name = nameSkills([skill.uri], taken).get(skill.uri) ?? '';
  placeStub(folders, name, skill, true);
  return name;
}

/** Returns the folder of the stub below the folder of all stubs. Throws if the skill cannot be used. */
function placeStub({ stubs }: SkillFolders, name: string, skill: Skill, isAskedFor: boolean): string {
  checkOffered(skill);
  const { uri, frontmatter, resources } = skill;
  if (resources === 'dynamic') throw new TypeError('checked above');
  const offered: OfferedSkill = { uri, frontmatter, resources, isAskedFor };
  const key = stubKey(offered);
  const text = stubText(name, offered);
  const folder = path.join(stubs, key);
  const file = path.join(folder, name, 'SKILL.md');
  if (isPresent(file) && readFileSync(file, 'utf8') === text) return key;
  rmSync(folder, { recursive: true, force: true });
  createTree(path.join(folder, name), [{ path: 'SKILL.md', text, isExecutable: false }]);
  return key;
}

function foldersIn(folder: string): readonly string[] {
  return isPresent(folder) ? readdirSync(folder) : [];
}

function readStubs({ stubs }: SkillFolders): readonly (OfferedSkill & { readonly name: string })[] {
  return foldersIn(stubs).flatMap((key) =>
    foldersIn(path.join(stubs, key)).flatMap((name) => {
      const stub = readStub(path.join(stubs, key, name));
      return stub === undefined ? [] : [{ ...stub, name }];
    }),
  );
}

/** The name of a skill that is known by its URI. */
export function knownSkill(folders: SkillFolders, uri: string): string | undefined {
  return readStubs(folders).find((stub) => stub.uri === uri)?.name;
}

/** Removes all skills but some, with their files and the trust in them: a skill that comes back changed is another one. */
export async function forgetSkills(
  { stubs, contents, home }: SkillFolders,
  kept: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const trust = openTrust({ home, bind: 'digest' });
  for (const key of foldersIn(stubs)) {
    const folder = path.join(stubs, key);
    const gone = foldersIn(folder).filter((name) => name !== kept.get(key));
    if (kept.has(key) && gone.length === 0) continue;
    const real = realPath(folder);
    for (const trusted of trust.list().folders) if (isInside(trusted.folder, real)) await trust.revoke(trusted.folder);
    rmSync(folder, { recursive: true, force: true });
  }
  for (const key of foldersIn(contents))
    if (!kept.has(key)) rmSync(path.join(contents, key), { recursive: true, force: true });
}

export interface OpenedSkill {
  /** The skill in the folder of its files. Files that are not read yet have their size and no content. */
  readonly skill: SkillEntry;
  /** Tree digest of the whole skill, as the server lists it. */
  readonly digest: string;
  /** Where the wanted files that have to be read from the server go. */
  readonly missing: readonly (OfferedFile & { readonly target: string })[];
  readonly offered: OfferedSkill;
}

/** Throws if the skill is not one that a server offers, or `wanted` is not listed. */
export function openServerSkill(
  skill: SkillEntry,
  { contents }: SkillFolders,
  wanted: readonly string[] | undefined,
): OpenedSkill {
  const offered = readStub(skill.dir);
  if (offered === undefined) throw new Error('it is not known what the server offers; run skillwright mcp check');
  const files = checkOffered(offered);
  const dir = path.join(contents, stubKey(offered), skill.dir.slice(skill.dir.lastIndexOf('/') + 1));
  const placed = files.map((file) => ({ ...file, target: path.join(dir, file.path) }));
  for (const { target, resource } of placed) if (!isPresent(target)) createHole(target, resource.size);
  const names = wanted?.map((name) => path.posix.normalize(name));
  const missing = placed.filter(
    (file) => (names === undefined || names.includes(file.path)) && !isCurrent(file.target, file.resource.digest),
  );
  return {
    skill: withHead({ ...skill, dir: dir.replaceAll('\\', '/') }),
    digest: listedDigest(files),
    missing,
    offered,
  };
}

/** Reads the missing files. Throws if one cannot be read or is not what the server listed. */
export async function readMissing(
  skills: SkillsClient,
  { offered, missing }: OpenedSkill,
  options: { readonly timeout: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { uri, frontmatter, resources } = offered;
  const entry: Skill = { uri, frontmatter: { ...frontmatter }, resources: [...resources] };
  for (const { resource, target } of missing) {
    const { bytes } = await skills.read(entry, resource.uri, { ...options, cacheMode: 'bypass' });
    writeFileAtomically(target, bytes, { mode: 0o644 });
  }
}

/** A file of the listed size, so that lists of files are complete. */
function createHole(target: string, size: number): void {
  mkdirSync(path.dirname(target), { recursive: true });
  const file = openSync(target, 'w', 0o644);
  try {
    ftruncateSync(file, size);
  } finally {
    closeSync(file);
  }
}

function isCurrent(target: string, digest: string): boolean {
  return `sha256:${sha256(readFileSync(target))}` === digest;
}

/** The digest of the frontmatter is that of the file, once it is read. */
function withHead(skill: SkillEntry): SkillEntry {
  const bytes = readFileSync(path.join(skill.dir, skill.file));
  const bounds = findFrontmatter(bytes, bytes.length, true);
  return bounds.type === 'found' ? { ...skill, digest: `sha256:${sha256(bytes.subarray(0, bounds.end))}` } : skill;
}

function listedDigest(files: readonly OfferedFile[]): string {
  const folders = new Set<string>();
  for (const { path: file } of files)
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) folders.add(file.slice(0, at));
  return digestOfEntries([
    ...[...folders].map((folder) => ({ kind: 'folder' as const, path: folder, content: '' })),
    ...files.map(({ path: file, resource }) => ({
      kind: 'file' as const,
      path: file,
      content: resource.digest.slice('sha256:'.length),
    })),
  ]);
}

/** The parser of the SDK knows a part of YAML only. */
function parseFrontmatter(text: string): Record<string, unknown> {
  const value: unknown = parse(text, { schema: 'core', maxAliasCount: 0 });
  if (!isObject(value)) throw new Error('the frontmatter is not a mapping');
  return { ...value };
}
