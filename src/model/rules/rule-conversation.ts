/** Reconstructs the progress from the messages alone: a rule model has no memory, so that every run can be resumed. */
import { isObject } from '../../core/json/json-schema.ts';
import type { ModelMessage, ModelToolCall } from '../../core/model.ts';
import { toRelativePath } from '../../core/path.ts';
import { readJson } from './seen-skills.ts';

export interface DoneCall {
  readonly name: string;
  readonly input: unknown;
  readonly result: string;
  readonly isError: boolean;
}

export interface Conversation {
  /** The latest request of the user. */
  readonly request: string;
  /** The calls for that request, in order. */
  readonly calls: readonly DoneCall[];
  /** The calls before it. */
  readonly earlier: readonly DoneCall[];
}

type OpenCall = Pick<DoneCall, 'name' | 'input'> & { readonly id: string };

/**
 * A user message is a new request if no call waits for its result. In the action protocol, results are user messages; a message of the
 * loop after a result is neither.
 */
export function readConversation(messages: readonly ModelMessage[]): Conversation {
  let request = '';
  const earlier: DoneCall[] = [];
  let calls: DoneCall[] = [];
  let open: readonly OpenCall[] = [];
  let before: ModelMessage['role'] | 'result' = 'assistant';
  for (const message of messages) {
    if (message.role === 'assistant') {
      open = openCalls(message);
      before = 'assistant';
      continue;
    }
    const answered = open.find(({ id }) => id === (message.role === 'tool' ? message.callId : ''));
    if (answered !== undefined) {
      calls.push({ ...answered, ...resultOf(message) });
      open = open.filter((call) => call !== answered);
      before = 'result';
    } else if (message.role === 'user' && before === 'assistant') {
      request = message.content;
      earlier.push(...calls);
      calls = [];
      before = 'user';
    } else if (message.role === 'user' && before === 'user') request += `\n${message.content}`;
  }
  return { request, calls, earlier };
}

function openCalls({ content, toolCalls }: Extract<ModelMessage, { readonly role: 'assistant' }>): readonly OpenCall[] {
  if (toolCalls.length > 0) return toolCalls.map(toOpenCall);
  const value = readJson(content);
  const action = isObject(value) ? value['action'] : undefined;
  if (!isObject(action) || typeof action['type'] !== 'string' || action['type'] === 'final_answer') return [];
  return [{ id: '', name: action['type'], input: action['payload'] }];
}

function toOpenCall({ id, name, input }: ModelToolCall): OpenCall {
  return { id, name, input: readJson(input) };
}

function resultOf(
  message: Exclude<ModelMessage, { readonly role: 'assistant' }>,
): Pick<DoneCall, 'result' | 'isError'> {
  if (message.role === 'tool') return { result: message.content, isError: message.isError };
  const result = withoutHeading(message.content);
  const value = readJson(result);
  return { result, isError: isObject(value) && (value['ok'] === false || value['success'] === false) };
}

/** A loop may write a line or two above the JSON of a result. */
function withoutHeading(content: string): string {
  const start = content.search(/^[{[]/m);
  const rest = start > 0 ? content.slice(start) : '';
  return readJson(rest) === undefined ? content : rest;
}

export interface GivenFile {
  /** As given: `workspace://work/inputs/orders.csv`. */
  readonly reference: string;
  /** As a script of a skill opens it. */
  readonly path: string;
}

const SCHEME = 'workspace://';
const MAX_FILES = 1000;
/** Longer lines are ignored. */
const MAX_LINE = 4096;
/** In quotes, or a word of a sentence. */
const REFERENCE = /["'`<](workspace:\/\/[^"'`<>]+)["'`>]|(workspace:\/\/[^\s"'`<>]+)/g;
/** The skill folder contains `inputs`, `work` and `out` of the workspace. */
const FOLDERS: readonly (readonly [string, string])[] = [
  ['work/inputs/', 'inputs/'],
  ['work/', 'work/'],
  ['out/', 'out/'],
];

/** Returns the files that were given with a request. Paths that lead elsewhere are ignored. */
export function filesIn(request: string): readonly GivenFile[] {
  const files = new Map<string, GivenFile>();
  for (const line of request.split('\n')) {
    for (const reference of referencesIn(line)) {
      const file = fileOf(reference);
      if (file !== undefined && files.size < MAX_FILES) files.set(file.path, file);
    }
  }
  return [...files.values()];
}

/** Returns the request without the list of files. */
export function withoutFiles(request: string): string {
  const lines = request.split('\n').filter((line) => listedReference(line) === undefined);
  return lines
    .map((line) => line.slice(0, MAX_LINE).replaceAll(REFERENCE, ' '))
    .join('\n')
    .trim();
}

function referencesIn(line: string): readonly string[] {
  if (!line.includes(SCHEME) || line.length > MAX_LINE) return [];
  const listed = listedReference(line);
  if (listed !== undefined) return [listed];
  return [...line.matchAll(REFERENCE)].map(
    ([, quoted, word = '']) => quoted ?? word.replace(/[.,;:!?)\]}。，；：！？）]+$/, ''),
  );
}

/** `- workspace://work/inputs/my orders.csv (12 KB)`: a name with spaces, and a remark that is not part of it. */
function listedReference(line: string): string | undefined {
  const item = /^[-*] /.test(line.trimStart()) ? line.trim().slice(2).trimStart() : '';
  if (!item.startsWith(SCHEME)) return undefined;
  const remark = item.endsWith(')') ? item.lastIndexOf(' (') : -1;
  return remark === -1 ? item : item.slice(0, remark).trimEnd();
}

function fileOf(reference: string): GivenFile | undefined {
  const reading = toRelativePath(reference.slice(SCHEME.length));
  if (reading.type === 'refused') return undefined;
  const folder = FOLDERS.find(([place]) => reading.path.startsWith(place));
  if (folder === undefined) return undefined;
  return { reference: SCHEME + reading.path, path: folder[1] + reading.path.slice(folder[0].length) };
}
