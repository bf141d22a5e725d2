import { openConfined } from '../../platform/fs/confined-directory.ts';
import { toRelativePath } from '../../core/path.ts';
import { writeFileAtomically } from '../../platform/fs/atomic-replace.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { isTreeDigest } from '../../platform/fs/tree-digest.ts';
import { ioFailed } from './layout.ts';
import path from 'node:path';

/** What a workspace knows about itself, for people and for a process that takes it up again. Times are ISO 8601. */
export interface WorkspaceMetadata {
  readonly version: 1;
  readonly created: string;
  readonly updated: string;
  readonly skills: readonly SkillRecord[];
  readonly inputs: readonly InputRecord[];
  readonly outputs: readonly OutputRecord[];
}

export interface SkillRecord {
  readonly name: string;
  readonly digest: string;
  readonly stagedAt: string;
}

export interface InputRecord {
  /** As it was asked for. */
  readonly from: string;
  /** Below the workspace. */
  readonly to: string;
  /** What it came to: `artifact://report@3`. */
  readonly resolved: string;
  readonly version?: number;
  readonly mode: 'copy' | 'link';
  readonly pin: boolean;
  readonly at: string;
}

export interface OutputRecord {
  readonly globs: readonly string[];
  readonly savedAs: readonly string[];
  readonly limitsHit: boolean;
  readonly at: string;
}

export interface MetadataReading {
  readonly metadata: WorkspaceMetadata;
  /** Why it begins anew although there was something. */
  readonly warning?: string;
}

const FILE = 'metadata.json';
const MAX_BYTES = 4 * 1024 * 1024;
/** Records of one kind that are kept; the newest. */
const MAX_RECORDS = 1_000;

export function newMetadata(now: string): WorkspaceMetadata {
  return { version: 1, created: now, updated: now, skills: [], inputs: [], outputs: [] };
}

/** Reads what may have been written by a program: nothing is believed that is not shaped right. */
export function readMetadata(root: string, now: string): MetadataReading {
  const file = toRelativePath(FILE);
  const opening = openConfined(root);
  if (opening.type === 'failed' || file.type === 'refused') return anew(now, 'the folder cannot be read');
  try {
    const read = opening.directory.read(file.path, { maxBytes: MAX_BYTES });
    if (read.type === 'failed')
      return read.code === 'file/missing' ? { metadata: newMetadata(now) } : anew(now, `it is not read (${read.code})`);
    const parsed: unknown = JSON.parse(read.bytes.toString('utf8'));
    return isMetadata(parsed) ? { metadata: parsed } : anew(now, 'it is not of the expected form');
  } catch (error) {
    if (error instanceof SyntaxError) return anew(now, 'it is no JSON');
    throw error;
  } finally {
    opening.directory.close();
  }
}

function anew(now: string, reason: string): MetadataReading {
  return { metadata: newMetadata(now), warning: `metadata.json begins anew: ${reason}` };
}

/** The old file stays whole where the new one cannot be written; then throws `io/failed`. */
export function writeMetadata(root: string, metadata: WorkspaceMetadata): void {
  const cut: WorkspaceMetadata = {
    ...metadata,
    inputs: metadata.inputs.slice(-MAX_RECORDS),
    outputs: metadata.outputs.slice(-MAX_RECORDS),
  };
  const file = path.join(root, FILE);
  try {
    writeFileAtomically(file, Buffer.from(`${JSON.stringify(cut, undefined, 2)}\n`, 'utf8'));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw ioFailed(file, error);
  }
}

function isMetadata(value: unknown): value is WorkspaceMetadata {
  return (
    isRecord(value) &&
    value['version'] === 1 &&
    typeof value['created'] === 'string' &&
    typeof value['updated'] === 'string' &&
    isListOf(value['skills'], isSkillRecord) &&
    isListOf(value['inputs'], isInputRecord) &&
    isListOf(value['outputs'], isOutputRecord)
  );
}

function isSkillRecord(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value['name'] === 'string' &&
    typeof value['digest'] === 'string' &&
    isTreeDigest(value['digest']) &&
    typeof value['stagedAt'] === 'string'
  );
}

function isInputRecord(value: unknown): boolean {
  return (
    isRecord(value) &&
    ['from', 'to', 'resolved', 'at'].every((key) => typeof value[key] === 'string') &&
    (value['version'] === undefined || Number.isSafeInteger(value['version'])) &&
    (value['mode'] === 'copy' || value['mode'] === 'link') &&
    typeof value['pin'] === 'boolean'
  );
}

function isOutputRecord(value: unknown): boolean {
  return (
    isRecord(value) &&
    isListOf(value['globs'], isText) &&
    isListOf(value['savedAs'], isText) &&
    typeof value['limitsHit'] === 'boolean' &&
    typeof value['at'] === 'string'
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length <= MAX_RECORDS && value.every(isItem);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
