/**
 * What a server says about a skill, kept as a SKILL.md before any file of the skill is read: the frontmatter, and the URI and the digest of
 * each file in the body. Trust in this file is therefore trust in exactly these files.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Skill, SkillResourceEntry } from '@modelcontextprotocol/client/ext/skills';
import { stringify } from 'yaml';

import { collisionKey, isObject, isProblem, parseJson, quoted, stableJson, toRelativePath } from '#core';
import { sha256 } from '#platform';

/** A skill as its server lists it, and whether it was asked for by its URI. */
export interface OfferedSkill {
  readonly uri: string;
  readonly frontmatter: Skill['frontmatter'];
  readonly resources: readonly SkillResourceEntry[];
  readonly isAskedFor: boolean;
}

const OPEN = '```json\n';
const CLOSE = '\n```\n';

export function stubText(name: string, { isAskedFor, ...skill }: OfferedSkill): string {
  const head = stringify({ ...skill.frontmatter, name }, { lineWidth: 0, schema: 'core' });
  const files = skill.resources.map(({ uri, size }) => `- ${quoted(uri, 300)}, ${String(size)} bytes`);
  const entry = JSON.stringify({ ...skill, ...(isAskedFor ? { isAskedFor } : {}) });
  return `---\n${head}---\n\nAn MCP server offers this skill. Each file is read when it is needed, and must match its digest.\n\n${files.join('\n')}\n\n${OPEN}${entry}${CLOSE}`;
}

/** Undefined if the file is not one of ours. */
export function readStub(dir: string): OfferedSkill | undefined {
  let text: string;
  try {
    text = readFileSync(path.join(dir, 'SKILL.md'), 'utf8');
  } catch {
    return undefined;
  }
  const start = text.lastIndexOf(OPEN);
  const value = start === -1 ? undefined : parseJson(text.slice(start + OPEN.length, -CLOSE.length));
  if (!isObject(value) || typeof value['uri'] !== 'string' || !Array.isArray(value['resources'])) return undefined;
  if (!isObject(value['frontmatter'])) return undefined;
  // Written by stubText, and part of what the user trusts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ...(value as unknown as OfferedSkill), isAskedFor: value['isAskedFor'] === true };
}

/** The folder of an entry: another set of files is another folder, which needs trust of its own. */
export function stubKey({ uri, frontmatter, resources }: OfferedSkill): string {
  const files = resources.map(({ uri: file, digest, size }) => `${file} ${digest} ${String(size)}`);
  return sha256(stableJson([uri, frontmatter, files.toSorted()])).slice(0, 16);
}

const MAX_FILES = 512;
const MAX_BYTES = 16 * 1024 * 1024;

export interface OfferedFile {
  readonly resource: SkillResourceEntry;
  readonly path: string;
}

/** The files of a skill with safe paths that stay apart on every file system. Throws if one of them cannot be kept. */
export function checkOffered({
  uri,
  resources,
}: Pick<Skill, 'uri'> & { readonly resources: OfferedSkill['resources'] | 'dynamic' }): readonly OfferedFile[] {
  if (resources === 'dynamic') throw new Error('it lists no digests, so its content cannot be approved');
  if (new URL(uri).protocol === 'file:') throw new Error('a file: address names a file of this machine');
  if (resources.length > MAX_FILES) throw new Error(`it has more than ${String(MAX_FILES)} files`);
  const size = resources.reduce((sum, resource) => sum + (resource.size ?? 0), 0);
  if (size > MAX_BYTES) throw new Error(`it has more than ${String(MAX_BYTES)} bytes`);
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
