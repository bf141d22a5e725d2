/** What activating or removing would change in the files of one agent, as texts before and after. Writes nothing. */
import path from 'node:path';

import { shellWord, type Problem } from '#core';
import { expandFolder } from '#packs';
import { isInside, isPresent, readTextFile, realPath, tryRealPath } from '#platform';
import type { Agent } from '../agents/agent.ts';
import { hookFiles, hookFolder } from '../hook/hook-folder.ts';
import type { HintContext } from '../hook/hint-source.ts';
import type { AgentRecord } from './activation-record.ts';
import { addHookEntry, hookCommands, removeHookEntry } from './hook-entry.ts';
import { parseTree } from './json-tree.ts';

export interface AgentChange {
  readonly agent: string;
  /** As the agent names it. */
  readonly file: string;
  /** With links resolved: what is written. */
  readonly real: string;
  /** Undefined for a file that does not exist. */
  readonly before: string | undefined;
  /** Undefined if the file goes. */
  readonly after: string | undefined;
  /** For the record; undefined if the hook is removed, or if the file had it. */
  readonly record?: AgentRecord;
  readonly problem?: Problem;
}

type HookContext = Pick<HintContext, 'home' | 'env'>;

const MAX_FILE = 5_000_000;

export function planChange(
  agent: Agent,
  {
    place,
    records,
    isRemoving,
  }: { readonly place: HookContext; readonly records: readonly AgentRecord[]; readonly isRemoving: boolean },
): AgentChange {
  const file = expandFolder(agent.hook.file, { ...place }) ?? '';
  const record = records.find((one) => one.agent === agent.id);
  const target = isRemoving ? (record?.file ?? file) : file;
  const real = resolveMissing(target);
  const none = { agent: agent.id, file: target, real, before: undefined, after: undefined };
  const refuse = (message: string, hint: string): AgentChange => ({
    ...none,
    problem: { code: 'input/invalid', message, hint },
  });
  if (tryRealPath(target) === undefined && isPresent(target))
    return refuse(`${target} is a link to a file that does not exist`, 'create that file, or remove the link');
  const home = realPath(place.home);
  const isElsewhere = !isInside(real, home) && isInside(path.resolve(target), path.resolve(place.home));
  if (isElsewhere)
    return refuse(
      `${target} leads to ${real} outside your home folder through a link`,
      'replace the link, or add the hook by hand',
    );
  const read = readTextFile(real, MAX_FILE);
  if (read.type === 'failed' || (read.type === 'read' && !read.validUtf8))
    return refuse(
      `${target} cannot be read: ${read.type === 'failed' ? read.reason : 'it is not UTF-8'}`,
      'repair the file',
    );
  const before = read.type === 'read' ? read.text : undefined;
  const found = { ...none, before };
  try {
    const change = isRemoving
      ? removeFrom(agent, before, { place, record })
      : addTo(agent, before, { place, record, real });
    return { ...found, ...change };
  } catch (error) {
    if (error instanceof SyntaxError)
      return refuse(
        `${target} is not changed: ${error.message}`,
        `repair the file, or add the hook by hand: ${hookCommand(agent, place)}`,
      );
    throw error;
  }
}

/** Whether a file of the agent has our hook as this version writes it. Throws SyntaxError. */
export function findHook(agent: Agent, place: HookContext): 'no' | 'old' | 'yes' {
  const file = expandFolder(agent.hook.file, place) ?? '';
  const read = readTextFile(file, MAX_FILE);
  if (read.type !== 'read') return 'no';
  const { hook } = agent;
  if (hook.type === 'file') return read.text === ownContent(hook, agent, place) ? 'yes' : 'old';
  const own = hookCommands(read.text, hook.event).filter((command) => isOurs(command, agent));
  return own.length === 0 ? 'no' : own.includes(hookCommand(agent, place)) ? 'yes' : 'old';
}

/** Whether a file of the agent has a hook of ours, of any version. False for a file that cannot be parsed. */
export function isHooked(agent: Agent, place: HookContext): boolean {
  try {
    return findHook(agent, place) !== 'no';
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The line that an agent gives to sh. The script is missing after a removal by hand; the prompt goes on. */
function hookCommand(agent: Agent, place: HookContext): string {
  return `sh ${shellWord(hookFiles(hookFolder(place.home)).script)} ${agent.id} || :`;
}

function isOurs(command: string, agent: Agent): boolean {
  return command.includes('/.agent/activation/hook.sh') && command.includes(` ${agent.id} `);
}

function ownContent(hook: Extract<Agent['hook'], { type: 'file' }>, agent: Agent, place: HookContext): string {
  return hook.content({ command: hookCommand(agent, place), script: hookFiles(hookFolder(place.home)).script });
}

interface Known {
  readonly place: HookContext;
  readonly record: AgentRecord | undefined;
}

function addTo(
  agent: Agent,
  before: string | undefined,
  { place, record, real }: Known & { readonly real: string },
): Pick<AgentChange, 'after' | 'record'> {
  const { hook } = agent;
  const folders = record?.folders ?? missingFolders(path.dirname(real));
  const base = { agent: agent.id, file: real, isNew: before === undefined, folders };
  if (hook.type === 'file') {
    const text = ownContent(hook, agent, place);
    if (before === text) return { after: before, record: record ?? { ...base, isNew: true, inserted: text } };
    const isKnown = record !== undefined && before === record.inserted;
    if (before !== undefined && !isKnown) throw new SyntaxError('it has other content than Skillwright writes');
    return { after: text, record: { ...base, ...(isKnown ? record : {}), inserted: text } };
  }
  const command = hookCommand(agent, place);
  if (before !== undefined && record !== undefined && hookCommands(before, hook.event).includes(command))
    return { after: before, record };
  const clean = before === undefined ? undefined : removeFrom(agent, before, { place, record }).after;
  const { text, inserted } = addHookEntry(clean ?? '', { event: hook.event, command, timeout: hook.timeout });
  return { after: text, record: { ...base, isNew: clean === undefined, inserted } };
}

/** Cuts what was added. If the file was formatted again since, the entry goes and the rest stays as it is. */
function removeFrom(agent: Agent, before: string | undefined, { place, record }: Known): Pick<AgentChange, 'after'> {
  const { hook } = agent;
  if (before === undefined) return { after: undefined };
  if (record !== undefined && before === record.inserted && record.isNew) return { after: undefined };
  if (hook.type === 'file') {
    if (record === undefined) return { after: before === ownContent(hook, agent, place) ? undefined : before };
    throw new SyntaxError('it was edited after Skillwright wrote it; delete it yourself');
  }
  const parts = record === undefined ? [] : before.split(record.inserted);
  const rest = parts.length === 2 ? parts.join('') : undefined;
  if (rest !== undefined && isJson(rest)) return { after: rest };
  return { after: removeHookEntry(before, { event: hook.event, isOurs: (command) => isOurs(command, agent) }) };
}

/** Not so if an entry was added behind ours since. */
function isJson(text: string): boolean {
  try {
    parseTree(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The path with links resolved, also if its end does not exist yet. */
function resolveMissing(file: string): string {
  const real = tryRealPath(file);
  if (real !== undefined || path.dirname(file) === file) return real ?? file;
  return path.join(resolveMissing(path.dirname(file)), path.basename(file));
}

function missingFolders(folder: string): readonly string[] {
  if (isPresent(folder) || path.dirname(folder) === folder) return [];
  return [...missingFolders(path.dirname(folder)), folder];
}
