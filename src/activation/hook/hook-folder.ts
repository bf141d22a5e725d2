/** The folder of the hook: its script, the socket of the resident process, and what was changed in files of agents. */
import { lstatSync, statSync } from 'node:fs';
import path from 'node:path';

import { quietly, readPrivateFile, writeFileAtomically } from '#platform';

export const DEADLINE_MS = 300;

/** The word that makes the program of the hook serve. */
export const SERVE = '--serve';
/** The exit code with which the program asks the script to start the resident process. */
export const START = 9;

/** Variables on which the folders and budgets of agents depend. The script sends them to the resident process. */
export const HOOK_VARIABLES = [
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_CODE_DISABLE_BUNDLED_SKILLS',
  'SLASH_COMMAND_TOOL_CHAR_BUDGET',
  'CODEX_HOME',
  'COPILOT_HOME',
  'XDG_CONFIG_HOME',
] as const;

export function hookFolder(home: string): string {
  return path.join(home, '.agent/activation');
}

export function hookFiles(
  folder: string,
): Readonly<Record<'script' | 'socket' | 'failure' | 'record' | 'compiled', string>> {
  const file = (name: string): string => path.join(folder, name);
  return {
    script: file('hook.sh'),
    socket: file('socket'),
    failure: file('last-failure'),
    record: file('agents.json'),
    // src/cli/hook.ts writes it.
    compiled: file('compiled.bin'),
  };
}

/** Why the folder must not be used, if so: what another user can write could answer as if it were ours. */
export function checkFolder(folder: string): string | undefined {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return `${folder} is missing`;
  if (!stats.isDirectory()) return `${folder} is not a folder`;
  const uid = process.getuid?.();
  if (uid !== undefined && stats.uid !== uid) return `${folder} belongs to another user`;
  return (stats.mode & 0o077) === 0 ? undefined : `other users have access to ${folder}`;
}

/** For `doctor`, which may read while hooks and the resident process write. A full disk is no reason to fail. */
export function noteFailure(folder: string, text: string): void {
  quietly(() => writeFileAtomically(hookFiles(folder).failure, Buffer.from(`${text}\n`, 'utf8'), { mode: 0o600 }));
}

export function readFailure(folder: string): { readonly text: string; readonly at: Date } | undefined {
  const { failure } = hookFiles(folder);
  const read = readPrivateFile(failure, { maxBytes: 10_000 });
  const stats = quietly(() => statSync(failure, { throwIfNoEntry: false }));
  return read.type === 'read' && stats !== undefined
    ? { text: read.bytes.toString('utf8').trim(), at: stats.mtime }
    : undefined;
}
