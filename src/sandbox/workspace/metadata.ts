import { inConfined, isSystemError, writeFileAtomically } from '#platform';
import { readField, parseJson, shape, toRelativePath, isProblem } from '#core';
import { METADATA_FILE, ioFailed } from './layout.ts';
import path from 'node:path';

/** The record of a workspace, for users and for the process that reopens it. Times are ISO 8601. */
export interface WorkspaceMetadata {
  readonly version: 1;
  readonly created: string;
  readonly updated: string;
  readonly skills: readonly SkillRecord[];
  readonly inputs: readonly InputRecord[];
  readonly outputs: readonly OutputRecord[];
}

interface SkillRecord {
  readonly name: string;
  /** Folder on the host, which tells skills of one name apart. Earlier versions did not write it. */
  readonly dir?: string;
  readonly digest: string;
  readonly stagedAt: string;
}

export interface InputRecord {
  /** As requested. */
  readonly from: string;
  /** Path relative to the workspace. */
  readonly to: string;
  /** The resolved source, such as `artifact://report@3`. */
  readonly resolved: string;
  readonly version?: number;
  readonly mode: 'copy' | 'link';
  readonly pin: boolean;
  readonly at: string;
}

interface OutputRecord {
  readonly globs: readonly string[];
  readonly savedAs: readonly string[];
  readonly limitsHit: boolean;
  readonly at: string;
}

export interface MetadataReading {
  readonly metadata: WorkspaceMetadata;
  /** Why existing metadata was discarded. */
  readonly warning?: string;
}

const MAX_BYTES = 4 * 1024 * 1024;
/** Maximum number of inputs and of outputs; the newest are kept. */
const MAX_RECORDS = 1_000;

export function newMetadata(now: string): WorkspaceMetadata {
  return { version: 1, created: now, updated: now, skills: [], inputs: [], outputs: [] };
}

/** Reads and validates the file, which a program may have written. */
export function readMetadata(root: string, now: string): MetadataReading {
  const file = toRelativePath(METADATA_FILE);
  const read = isProblem(file)
    ? undefined
    : inConfined(
        root,
        (folder) => folder.read(file, { maxBytes: MAX_BYTES }),
        () => undefined,
      );
  if (read === undefined) return discarded(now, 'the folder cannot be read');
  if (read.type === 'failed')
    return read.code === 'file/missing'
      ? { metadata: newMetadata(now) }
      : discarded(now, `it cannot be read (${read.code})`);
  const parsed = parseJson(read.bytes.toString('utf8'));
  if (parsed === undefined) return discarded(now, 'it is not valid JSON');
  return isMetadata(parsed) ? { metadata: parsed } : discarded(now, 'its content is invalid');
}

function discarded(now: string, reason: string): MetadataReading {
  return { metadata: newMetadata(now), warning: `metadata.json was discarded: ${reason}` };
}

/** Replaces the file atomically. Throws `io/failed` and keeps the old file where that fails. */
export function writeMetadata(root: string, metadata: WorkspaceMetadata): void {
  const cut: WorkspaceMetadata = {
    ...metadata,
    inputs: metadata.inputs.slice(-MAX_RECORDS),
    outputs: metadata.outputs.slice(-MAX_RECORDS),
  };
  const file = path.join(root, METADATA_FILE);
  try {
    writeFileAtomically(file, Buffer.from(`${JSON.stringify(cut, undefined, 2)}\n`, 'utf8'));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw ioFailed(file, error);
  }
}

type Check = (value: unknown) => boolean;

const METADATA = shape({ text: 'created updated', list: 'skills inputs outputs' });
const SKILL = shape({ text: 'name digest stagedAt' });
const INPUT = shape({ text: 'from to resolved at', boolean: 'pin' });
const OUTPUT = shape({ list: 'globs savedAs', boolean: 'limitsHit', text: 'at' });

function isMetadata(value: unknown): value is WorkspaceMetadata {
  const has = (name: string, isOne: Check, isValid: Check): boolean => {
    const list = readField(value, name);
    return Array.isArray(list) && list.length <= MAX_RECORDS && list.every((item) => isOne(item) && isValid(item));
  };
  return (
    METADATA(value) &&
    readField(value, 'version') === 1 &&
    has('skills', SKILL, isSkill) &&
    has('inputs', INPUT, isInput) &&
    has('outputs', OUTPUT, (output) => isTexts(readField(output, 'globs')) && isTexts(readField(output, 'savedAs')))
  );
}

function isSkill(value: unknown): boolean {
  const [digest, dir] = [readField(value, 'digest'), readField(value, 'dir')];
  return /^sha256-tree:[0-9a-f]{64}$/.test(String(digest)) && (dir === undefined || typeof dir === 'string');
}

function isInput(value: unknown): boolean {
  const [version, mode] = [readField(value, 'version'), readField(value, 'mode')];
  return (version === undefined || Number.isSafeInteger(version)) && (mode === 'copy' || mode === 'link');
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_RECORDS && value.every((item) => typeof item === 'string');
}
