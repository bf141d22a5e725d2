/** `skillwright activate`: puts a hook into the files of agents, or takes it out. Plan first, show it, then apply it. */
import { chmodSync, lstatSync, rmSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { SkillError, invalidInput, type Surroundings } from '#core';
import { openAgentFolders } from '#packs';
import {
  packageFile,
  isSystemError,
  makeFolders,
  namesIn,
  quietly,
  readTextFile,
  temporaryPrefix,
  withFileLock,
  writeFileAtomically,
  writeTextFile,
} from '#platform';
import { readSettings } from '../agent-view.ts';
import type { Agent } from '../agents/agent.ts';
import { AGENTS } from '../agents/agents.ts';
import { hintsFile } from '../hint-record.ts';
import { checkFolder, hookFiles, hookFolder } from '../hook/hook-folder.ts';
import { hookScript } from '../hook/hook-script.ts';
import { readRecords, writeRecords } from './activation-record.ts';
import { isHooked, planChange, type AgentChange } from './plan-change.ts';

interface ActivateOptions {
  readonly surroundings: Surroundings;
  /** Ids; empty for the agents in use here, or with `isRemoving` for those with a hook. */
  readonly agents: readonly string[];
  readonly isRemoving: boolean;
}

interface Activation {
  readonly changes: readonly AgentChange[];
  /** What the user must do for the hook to run, by agent. */
  readonly remarks: readonly string[];
  /** Writes the changes. Throws SkillError if a file changed since, or cannot be written; the others are done or undone whole. */
  apply(): Promise<void>;
}

/** Throws SkillError without a home folder. */
export function planActivation({ surroundings, agents, isRemoving }: ActivateOptions): Activation {
  const { home, env } = surroundings;
  if (process.platform === 'win32') throw invalidInput('hooks need sh, which Windows does not have', 'WSL', 'use WSL');
  if (home === undefined) throw invalidInput('HOME is not set', 'a home folder', 'set HOME to your home folder');
  const folder = hookFolder(home);
  const records = readRecords(folder);
  // Also where the record is missing, because the folder of the hook was deleted by hand.
  const hasHook = (agent: Agent): boolean => isHooked(agent, { home, env });
  const named = new Set(agents);
  const used =
    named.size > 0
      ? named
      : isRemoving
        ? new Set([...records.map(({ agent }) => agent), ...AGENTS.filter(hasHook).map(({ id }) => id)])
        : openAgentFolders(surroundings).used();
  const chosen = AGENTS.filter(({ id }) => used.has(id));
  const changes = chosen.map((agent) => planChange(agent, { place: { home, env }, records, isRemoving }));
  return {
    changes,
    remarks: isRemoving
      ? []
      : chosen.flatMap((agent) => {
          const { id, hook } = agent;
          const { blocked } = readSettings(agent, surroundings);
          return [
            ...(hook.userTrust === undefined
              ? []
              : [`${id} runs the hook only after you trust it: open ${hook.userTrust}`]),
            ...(blocked === undefined ? [] : [`${id} runs no hooks: ${blocked}`]),
          ];
        }),
    apply: async () => {
      const good = changes.filter(({ problem }) => problem === undefined);
      try {
        await applyChanges(folder, good, isRemoving);
      } catch (error) {
        if (!isSystemError(error)) throw error;
        const file = error.path ?? folder;
        throw failed(file, `${file} cannot be written (${error.code})`);
      }
      if (readRecords(folder).length === 0) removeFolder(folder, home);
    },
  };
}

async function applyChanges(folder: string, changes: readonly AgentChange[], isRemoving: boolean): Promise<void> {
  makeFolders(folder, 0o700);
  if (lstatSync(folder).isDirectory()) chmodSync(folder, 0o700);
  const problem = checkFolder(folder);
  if (problem !== undefined) throw failed(folder, problem);
  await withFileLock(hookFiles(folder).record, () => {
    if (!isRemoving) writeScript(folder);
    for (const change of changes) applyChange(folder, change);
  });
}

function writeScript(folder: string): void {
  const text = hookScript({ node: process.execPath, program: packageFile('dist/command/hook.js') });
  const { script } = hookFiles(folder);
  const read = readTextFile(script, 100_000);
  if (read.type !== 'read' || read.text !== text)
    writeFileAtomically(script, Buffer.from(text, 'utf8'), { mode: 0o600 });
}

/** The record is written before the file: a kill in between leaves nothing that cannot be removed. */
function applyChange(folder: string, { agent, file, real, before, after, record }: AgentChange): void {
  const current = readTextFile(real, 5_000_000);
  const text = current.type === 'read' ? current.text : undefined;
  if (text !== before) throw failed(file, `${file} changed since the plan was shown`);
  const others = readRecords(folder).filter((one) => one.agent !== agent);
  const known = readRecords(folder).find((one) => one.agent === agent);
  if (record !== undefined) writeRecords(folder, [...others, record]);
  removeTemporaries(real);
  if (after === undefined) quietly(() => unlinkSync(real));
  else if (after !== before) {
    makeFolders(path.dirname(real), 0o700);
    writeTextFile(real, after);
  }
  if (record !== undefined) return;
  for (const made of known?.folders.toReversed() ?? []) quietly(() => rmdirSync(made));
  writeRecords(folder, others);
}

/** Those that a killed process left: no other process of ours writes the file meanwhile. */
function removeTemporaries(file: string): void {
  const [folder, start] = [path.dirname(file), temporaryPrefix(file)];
  for (const name of quietly(() => namesIn(folder), []))
    if (name.startsWith(start) && /^[a-z\d]{16,}\.tmp$/.test(name.slice(start.length)))
      quietly(() => unlinkSync(path.join(folder, name)));
}

/** Ends the resident process, which watches its program and its socket, and removes the folder if nothing else is in it. */
function removeFolder(folder: string, home: string): void {
  const { script, socket, failure, record, compiled } = hookFiles(folder);
  for (const file of [script, socket, failure, record, compiled, `${socket}.lock`, hintsFile({ home })])
    quietly(() => rmSync(file ?? '', { force: true }));
  quietly(() => rmdirSync(folder));
  const agent = path.join(home, '.agent');
  if (quietly(() => lstatSync(agent).isDirectory()) === true) quietly(() => rmdirSync(agent));
}

function failed(file: string, message: string): SkillError {
  const hint = 'repair it, then run skillwright activate again';
  return new SkillError({ code: 'io/failed', message, hint, data: { path: file, cause: 'refused' } });
}
