import path from 'node:path';

import { isObject, parseJson } from '#core';
import { readPrivateFile, writeFileAtomically } from '#platform';
import { hookFiles } from '../hook/hook-folder.ts';

/** What was added for one agent, so that it can be removed to the byte. */
export interface AgentRecord {
  readonly agent: string;
  /** The file that was changed, links resolved. */
  readonly file: string;
  /** The characters that were added, in one piece: all of a file that did not exist. */
  readonly inserted: string;
  readonly isNew: boolean;
  /** Folders that were created for the file, outermost first. */
  readonly folders: readonly string[];
}

const MAX_BYTES = 1_000_000;

/** The record of all agents. What is not a record is left out: it is only used to restore bytes. */
export function readRecords(folder: string): readonly AgentRecord[] {
  const read = readPrivateFile(hookFiles(folder).record, { maxBytes: MAX_BYTES });
  const value = read.type === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function writeRecords(folder: string, records: readonly AgentRecord[]): void {
  const text = `${JSON.stringify(records, undefined, 2)}\n`;
  writeFileAtomically(hookFiles(folder).record, Buffer.from(text, 'utf8'), { sync: true });
}

function isRecord(value: unknown): value is AgentRecord {
  if (!isObject(value)) return false;
  const { agent, file, inserted, isNew, folders } = value;
  return (
    [agent, file, inserted].every((one) => typeof one === 'string' && one !== '') &&
    path.isAbsolute(String(file)) &&
    typeof isNew === 'boolean' &&
    Array.isArray(folders) &&
    folders.every((one) => typeof one === 'string' && path.isAbsolute(one))
  );
}
