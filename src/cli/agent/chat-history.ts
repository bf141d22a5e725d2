/** The message history of a project's chats, in one private file per project. */
import path from 'node:path';

import { isSkillError } from '#core';
import { isSystemError, makeFolders, readPrivateFile, sha256, writeFileAtomically } from '#platform';
import { toLine } from './chat-paste.ts';

export interface ChatHistory {
  readonly lines: () => readonly string[];
  readonly add: (message: string) => void;
}

const MAX_LINES = 500;
/** Longer messages are pasted; users do not look for them with the arrow keys. */
const MAX_CHARACTERS = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Opens the history. Without a cache folder it lives in memory; read and write errors are ignored, because the chat works without it. */
export function openChatHistory(cacheDir: string | undefined, project: string): ChatHistory {
  const file = cacheDir === undefined ? undefined : path.join(cacheDir, 'chat', `${sha256(project).slice(0, 32)}.json`);
  let lines = file === undefined ? [] : readLines(file);
  return {
    lines: () => lines,
    add(message) {
      const line = toLine(message);
      if (line.length > MAX_CHARACTERS || line.trim() === '') return;
      lines = [line, ...lines.filter((other) => other !== line)].slice(0, MAX_LINES);
      if (file !== undefined) writeLines(file, lines);
    },
  };
}

function readLines(file: string): readonly string[] {
  const read = readPrivateFile(file, { maxBytes: MAX_BYTES, isSecret: true });
  if (read.type !== 'read') return [];
  try {
    const value: unknown = JSON.parse(read.bytes.toString('utf8'));
    if (!Array.isArray(value)) return [];
    return value
      .filter((line): line is string => typeof line === 'string')
      .map(toLine)
      .slice(0, MAX_LINES);
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function writeLines(file: string, lines: readonly string[]): void {
  try {
    makeFolders(path.dirname(file), 0o700);
    writeFileAtomically(file, Buffer.from(JSON.stringify(lines)), { mode: 0o600 });
  } catch (error) {
    if (!isSystemError(error) && !isSkillError(error)) throw error;
  }
}
