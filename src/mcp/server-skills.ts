/**
 * Skills that MCP servers offer (SEP-2640), as files in a private folder. Every file is checked against the digests that the server lists
 * and read once; from then on the skill is what is on disk, and a change on the server makes another skill that needs trust again.
 */
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import type { Client } from '@modelcontextprotocol/client';
import { SkillsClient, type Skill, type SkillResourceEntry } from '@modelcontextprotocol/client/ext/skills';
import { parse } from 'yaml';

import { collisionKey, isObject, quoted, stableJson, toRelativePath, isProblem } from '#core';
import { createTree, isPresent, sha256 } from '#platform';
import { toErrorMessage } from './program-transport.ts';

type TreeFile = Parameters<typeof createTree>[1][number];

export interface ServerSkills {
  readonly names: readonly string[];
  readonly problems: readonly string[];
}

export interface SyncOptions {
  readonly folder: string;
  readonly timeout: number;
}

const MAX_SKILLS = 200;
const MAX_FILES = 512;
const MAX_SKILL_BYTES = 8 * 1024 * 1024;
const MAX_SERVER_BYTES = 64 * 1024 * 1024;

/** Brings the folder up to date with what the server lists, and removes what it no longer lists. */
export async function syncSkills(client: Client, { folder, timeout }: SyncOptions): Promise<ServerSkills> {
  const skills = new SkillsClient(client, { skipInvalid: true, parseFrontmatter });
  const problems: string[] = [];
  const names: string[] = [];
  const kept = new Set<string>();
  if (skills.supported) {
    const listed = await skills.list(undefined, { timeout });
    for (const { uri = '', reason } of listed.invalid)
      problems.push(`the skill ${quoted(uri, 200)} is left out: ${toErrorMessage(reason)}`);
    if (listed.skills.length > MAX_SKILLS) problems.push(`only ${String(MAX_SKILLS)} of its skills are used`);
    let bytes = 0;
    for (const skill of listed.skills.slice(0, MAX_SKILLS)) {
      const { name } = skill.frontmatter;
      const key = sha256(stableJson([skill.uri, skill.resources])).slice(0, 16);
      const place = path.join(folder, key, name);
      try {
        const files = checkListedFiles(skill);
        if (!isPresent(place)) {
          const read = await readFiles(skills, skill, files, { timeout, left: MAX_SERVER_BYTES - bytes });
          bytes += read.reduce((sum, { text }) => sum + text.length, 0);
          createTree(place, read);
        }
        kept.add(key);
        names.push(name);
      } catch (error) {
        problems.push(`the skill ${quoted(skill.uri, 200)} is left out: ${toErrorMessage(error)}`);
      }
    }
  }
  for (const old of isPresent(folder) ? readdirSync(folder) : [])
    if (!kept.has(old)) rmSync(path.join(folder, old), { recursive: true, force: true });
  return { names, problems };
}

/** The parser of the SDK knows a part of YAML only. */
function parseFrontmatter(text: string): Record<string, unknown> {
  const value: unknown = parse(text, { schema: 'core', maxAliasCount: 0 });
  if (!isObject(value)) throw new Error('the frontmatter is not a mapping');
  return { ...value };
}

interface ListedFile {
  readonly resource: SkillResourceEntry;
  readonly path: string;
}

/** The files of a skill with safe paths that stay apart on every file system. Throws if one of them cannot be kept. */
function checkListedFiles({ uri, resources }: Skill): readonly ListedFile[] {
  if (resources === 'dynamic') throw new Error('it lists no digests, so its content cannot be approved');
  if (new URL(uri).protocol === 'file:') throw new Error('a file: address names a file of this machine');
  if (resources.length > MAX_FILES) throw new Error(`it has more than ${String(MAX_FILES)} files`);
  const size = resources.reduce((sum, resource) => sum + (resource.size ?? 0), 0);
  if (size > MAX_SKILL_BYTES) throw new Error(`it has more than ${String(MAX_SKILL_BYTES)} bytes`);
  const root = uri.slice(0, uri.lastIndexOf('/') + 1);
  const seen = new Set<string>();
  return resources.map((resource) => {
    if (!resource.uri.startsWith(root)) throw new Error(`${quoted(resource.uri, 200)} is outside the skill`);
    const reading = toRelativePath(decodeURIComponent(resource.uri.slice(root.length)));
    if (isProblem(reading)) throw new Error(reading.message);
    const key = collisionKey(reading);
    if (seen.has(key)) throw new Error(`two files have the same name on some file systems: ${quoted(reading)}`);
    seen.add(key);
    return { resource, path: reading };
  });
}

async function readFiles(
  skills: SkillsClient,
  skill: Skill,
  files: readonly ListedFile[],
  { timeout, left }: { readonly timeout: number; readonly left: number },
): Promise<readonly TreeFile[]> {
  const read: TreeFile[] = [];
  let bytes = 0;
  for (const { resource, path: name } of files) {
    const file = await skills.read(skill, resource.uri, { timeout, cacheMode: 'bypass' });
    bytes += file.bytes.length;
    if (bytes > MAX_SKILL_BYTES) throw new Error(`it has more than ${String(MAX_SKILL_BYTES)} bytes`);
    if (bytes > left) throw new Error(`the skills of the server have more than ${String(MAX_SERVER_BYTES)} bytes`);
    read.push({ path: name, text: file.bytes, isExecutable: false });
  }
  return read;
}
