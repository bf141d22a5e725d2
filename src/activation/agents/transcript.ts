/** What an agent keeps of its sessions, as events that are the same for all agents. The file of each agent reads its own format. */
import path from 'node:path';

import { isObject } from '#core';

export interface TranscriptRule {
  /** In the notation of folders. */
  readonly folder: string;
  /** Paths of the transcripts below it, with forward slashes. */
  readonly files: RegExp;
  /** A file with the working directory of a session, relative to the folder of its transcript. */
  readonly projectFile?: string;
  /** The transcripts are SQLite databases; these tables are read, in this order. */
  readonly tables?: readonly string[];
  /** Opens a reader for one file. Its events are empty for a line that does not matter, and undefined for a line of an unknown shape. */
  readonly open: () => (line: Row) => readonly TranscriptEvent[] | undefined;
}

/** A line of a transcript, or a row of a database with `table`, parsed and otherwise unchecked. */
export type Row = Readonly<Record<string, unknown>>;

/** `session` only where one file has several sessions. */
export type TranscriptEvent = (
  | { readonly type: 'session'; readonly id?: string; readonly cwd?: string; readonly version?: string }
  | RequestEvent
  | { readonly type: 'call'; readonly id: string; readonly skill: string }
  /** The text is what the model got. */
  | { readonly type: 'result'; readonly id: string; readonly ok: boolean; readonly text?: string }
  | { readonly type: 'text'; readonly id: string; readonly text: string }
  | LoadEvent
  | TokensEvent
) & { readonly session?: string };

interface RequestEvent {
  readonly type: 'request';
  readonly text: string;
  /** The same in a copy of the session. */
  readonly id?: string;
  readonly at: number;
}

interface LoadEvent {
  readonly type: 'load';
  readonly id: string;
  readonly skill: string;
  readonly text?: string;
  readonly byUser: boolean;
}

export interface TokensEvent extends Tokens {
  readonly type: 'tokens';
  /** A later event with this id replaces the earlier one. */
  readonly id?: string;
  /** With its provider: `anthropic/claude-opus-5`. */
  readonly model?: string;
  /** What the agent itself computed. */
  readonly usd?: number;
}

export interface Tokens {
  /** With the cached and the written ones. */
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly written: number;
}

export function objectIn(value: unknown, ...names: readonly string[]): Row {
  const found = names.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), value);
  return isObject(found) ? found : {};
}

export function listIn(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value.filter((one) => isObject(one)) : [];
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A count; 0 for anything else. */
export function countIn(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Milliseconds since 1970; NaN for a text that is no date. */
export function timeIn(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

/** Money that an agent computed. It writes 0 where it knows no price. */
export function moneyIn(value: unknown): number | undefined {
  const usd = countIn(value);
  return usd === 0 ? undefined : usd;
}

/** The text blocks of a message, joined. */
export function joinTexts(blocks: unknown): string {
  return typeof blocks === 'string'
    ? blocks
    : listIn(blocks)
        .flatMap(({ text }) => textIn(text) ?? [])
        .join('\n');
}

/** The text after its first empty line: before it stands where the skill is. */
export function afterIntroduction(text: string): string {
  const at = text.indexOf('\n\n');
  return at === -1 ? text : text.slice(at + 2);
}

/** What agents call their tool that reads a file, and its parameter. */
const READ_TOOLS = new Set(['Read', 'read', 'read_file', 'view']);
const READ_PATHS = ['file_path', 'absolute_path', 'filePath', 'path'];

/** The skill whose SKILL.md a tool call reads: a model may follow the path in a hint instead of calling the tool for skills. */
export function skillReadBy(tool: unknown, input: unknown): string | undefined {
  if (typeof tool !== 'string' || !READ_TOOLS.has(tool)) return undefined;
  const file = READ_PATHS.map((name) => textIn(objectIn(input)[name])).find((one) => one !== undefined);
  const skill = file === undefined ? '' : /([^\\/]+)[\\/]SKILL\.md$/.exec(file)?.[1];
  return skill === '' ? undefined : skill;
}

const SKILL_FILE = /([^\s"'`;|&<>()=]+)[\\/]SKILL\.md\b/;

/** The name of the skill whose SKILL.md a path or a command names. */
export function skillOfPath(text: string): string | undefined {
  const folder = SKILL_FILE.exec(text)?.[1];
  return folder === undefined ? undefined : path.posix.basename(folder.replaceAll('\\', '/'));
}
