/** Reads a SKILL.md as far as agents differ about it. Agents use other parsers than `#skills`, so this keeps what each of them could see. */
import path from 'node:path';

import { isInside, readTextFile, realPath } from '#platform';

export interface SkillFile {
  readonly path: string;
  /** The name of the folder of the skill. */
  readonly folder: string;
  readonly hasFrontmatter: boolean;
  readonly hasByteOrderMark: boolean;
  /** The frontmatter as YAML; undefined if it is not valid YAML. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  /** The frontmatter read line by line as `key: value`, which finds a description with a colon in it. */
  readonly lines: Readonly<Record<string, string>>;
  /** The first line with text after the frontmatter, without the marks of a heading. */
  readonly bodyStart: string;
  /** The text after the frontmatter; absent unless it was asked for. */
  readonly body?: string;
  /** Why the file cannot be read. */
  readonly problem?: string;
}

const MAX_BYTES = 1_000_000;
/** The YAML reader takes quadratic time for some broken texts. */
const MAX_HEAD = 32_000;
const FENCED = /^---[ \t]*\r?\n([\s\S]*?)(?:\r?\n|^)---[ \t]*(?:\r?\n|$)([\s\S]*)$/;
const LINE = /^([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$/;
/** A value that YAML reads as the same text. */
const PLAIN = /^(?![\d.+-]*$|(?:true|false|null|yes|no|on|off)$)[\p{L}\d](?:[^:#\n]|:(?=\S)|(?<=\S)#)*$/iu;

/** With `maxBody` the file has so much of its body: bodies of many skills are large. */
export async function readSkillFile(file: string, maxBody = 0): Promise<SkillFile> {
  const read = readOwnFile(file, MAX_BYTES, path.dirname(file));
  const folder = path.basename(path.dirname(file));
  const empty = { path: file, folder, hasFrontmatter: false, hasByteOrderMark: false, fields: {}, lines: {} };
  if (read.type !== 'read')
    return { ...empty, bodyStart: '', problem: read.type === 'absent' ? 'it does not exist' : read.reason };
  const hasByteOrderMark = read.text.startsWith('\uFEFF');
  const text = hasByteOrderMark ? read.text.slice(1) : read.text;
  const [, head, body = text] = FENCED.exec(text) ?? [];
  const found = {
    ...empty,
    hasByteOrderMark,
    bodyStart: startOf(body),
    ...(maxBody > 0 ? { body: body.slice(0, maxBody) } : {}),
  };
  if (head === undefined) return found;
  if (head.length > MAX_HEAD)
    return { ...found, problem: `its frontmatter has more than ${String(MAX_HEAD)} characters` };
  const rows = head.split(/\r?\n/).flatMap((row) => {
    const [, key, value = ''] = LINE.exec(row) ?? [];
    return key === undefined ? [] : [[key, value.trim()] as const];
  });
  const lines: Readonly<Record<string, string>> = Object.fromEntries(rows);
  const isPlain = rows.length === head.split('\n').length && rows.every(([, value]) => PLAIN.test(value));
  return { ...found, hasFrontmatter: true, lines, fields: isPlain ? lines : await parseYaml(head) };
}

/**
 * Reads a file of a skill. The skill may be a link to a folder, but a file of it must not be a link to another file outside of it: its
 * text would be shown as that of the skill.
 */
export function readOwnFile(file: string, maxBytes: number, folder: string): ReturnType<typeof readTextFile> {
  const real = realPath(file);
  if (path.basename(real) !== path.basename(file) && !isInside(real, realPath(folder)))
    return { type: 'failed', reason: 'it is a link to a file outside of the skill' };
  return readTextFile(file, maxBytes);
}

async function parseYaml(text: string): Promise<SkillFile['fields']> {
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(text, { logLevel: 'error', maxAliasCount: 100 });
    if (value === null) return {};
    return typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function startOf(body: string): string {
  const line = /^[ \t]*\S.*$/m.exec(body)?.[0] ?? '';
  return line.replace(/^[ \t]*#*[ \t]*/, '').trim();
}
