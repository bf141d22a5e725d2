/**
 * What prompts in one place are compared with, in a file of the cache. The resident process writes it; where none serves, a hook answers from
 * it, because it cannot read thousands of skills while a prompt waits.
 */
import { closeSync, fstatSync, futimesSync, openSync, readSync } from 'node:fs';
import path from 'node:path';

import { isObject, parseJson, type Surroundings } from '#core';
import { cacheDirectory, cacheEntry, isSystemError, OPEN_FLAGS } from '#platform';
import { readSearchIndex, type SearchIndex } from '#skills';
import { VERSION } from '../../version.ts';
import { shortHash } from '../short-hash.ts';
import type { AnswerFrame } from './compose-answer.ts';
import { fingerprintOf, type WatchedFiles } from './file-stamps.ts';
import type { HintedSkill } from './hint-text.ts';

/** A skill that may be hinted. */
interface KeptSkill extends HintedSkill {
  /** Of SKILL.md when it was read; undefined if it changed just then. */
  readonly stamp: string | undefined;
}

interface KeptHead {
  /** Settings, trust and folders of skills. */
  readonly watched: WatchedFiles;
  readonly frame: AnswerFrame;
}

interface KeptHints extends KeptHead {
  readonly index: SearchIndex;
  /** By the position in the index. Undefined for a skill that the agent shows. */
  readonly skillAt: (position: number) => KeptSkill | undefined;
}

/** Where the hints of an agent are kept for prompts in one place. Undefined without a cache folder. */
export function keptFile(agent: string, place: object, surroundings: Pick<Surroundings, 'env' | 'home'>) {
  const folder = cacheDirectory(surroundings);
  const key = shortHash(JSON.stringify([VERSION, agent, place]));
  return folder === undefined ? undefined : path.join(folder, `hints-${key}.bin`);
}

/** Lengths of the index, the skills and the head, the number of skills, and the sum of what lies before the skills. */
const HEADER_LENGTH = 20;
/** Longer descriptions are not shown whole. */
const MAX_DESCRIPTION = 2000;

/** One file: the lengths, the index, where each skill begins, the head, the skills. A hook reads all but the skills, and of those the best. */
export function writeKept(
  file: string | undefined,
  {
    index,
    skills,
    watched,
    frame,
  }: KeptHead & { readonly index: SearchIndex; readonly skills: readonly (KeptSkill | undefined)[] },
): void {
  const texts = skills.map((skill) => {
    if (skill === undefined) return '';
    const { name, description, path: own, stamp } = skill;
    return JSON.stringify({ name, description: description.slice(0, MAX_DESCRIPTION), path: own, stamp });
  });
  const starts = new Uint32Array(texts.length + 1);
  for (const [at, text] of texts.entries()) starts[at + 1] = (starts[at] ?? 0) + Buffer.byteLength(text);
  const [head, bytes] = [Buffer.from(JSON.stringify({ watched, frame })), index.toBytes()];
  const front = Buffer.concat([bytes, Buffer.from(starts.buffer), head]);
  const header = Uint32Array.of(bytes.length, starts.at(-1) ?? 0, head.length, texts.length, sumBlocks(front));
  cacheEntry(file).write(Buffer.concat([Buffer.from(header.buffer), front, Buffer.from(texts.join(''))]));
}

const BLOCK_LENGTH = 4096;

/**
 * Of one number in each block: a file system that lost blocks in a crash shows zeros or other data there. A sum of all bytes would take
 * longer than the rest of the answer.
 */
function sumBlocks(bytes: Buffer): number {
  let sum = bytes.length;
  for (let at = 0; at + 4 <= bytes.length; at += BLOCK_LENGTH)
    sum = Math.imul(sum ^ bytes.readUInt32LE(at), 0x01000193);
  return sum >>> 0;
}

/** Undefined if nothing is kept, if it is damaged, or if settings, trust or folders changed since. */
export function useKept<T>(file: string | undefined, use: (kept: KeptHints) => T): T | undefined {
  let descriptor: number | undefined;
  try {
    if (file === undefined) return undefined;
    descriptor = openSync(file, OPEN_FLAGS.namedFile);
    const kept = readKept(descriptor);
    return kept && use(kept);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readKept(descriptor: number): KeptHints | undefined {
  const { size } = fstatSync(descriptor);
  const header = readPart(descriptor, 0, HEADER_LENGTH);
  if (header.length < HEADER_LENGTH) return undefined;
  const [indexLength = 0, textLength = 0, headLength = 0, count = 0, sum] = [0, 4, 8, 12, 16].map((at) =>
    header.readUInt32LE(at),
  );
  const headAt = indexLength + 4 * (count + 1);
  const texts = HEADER_LENGTH + headAt + headLength;
  if (texts + textLength !== size) return undefined;
  const front = readPart(descriptor, HEADER_LENGTH, headAt + headLength);
  const head = sum === sumBlocks(front) ? readHead(front.toString('utf8', headAt)) : undefined;
  if (head === undefined || fingerprintOf(head.watched.files) !== head.watched.fingerprint) return undefined;
  const index = readSearchIndex(front.subarray(0, indexLength), { isIntact: true });
  if (index?.size !== count) return undefined;
  // The cache keeps what was used last.
  const now = Date.now() / 1000;
  futimesSync(descriptor, now, now);
  return {
    ...head,
    index,
    skillAt(position) {
      const [from = 0, to = 0] = [position, position + 1].map((at) => front.readUInt32LE(indexLength + 4 * at));
      return readSkill(readPart(descriptor, texts + from, to - from).toString('utf8'));
    },
  };
}

/** Less if the file ends before. */
function readPart(descriptor: number, start: number, length: number): Buffer {
  // Not from the pool of Node, which is not aligned as the index must be.
  const bytes = Buffer.allocUnsafeSlow(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, start));
}

function readHead(text: string): KeptHead | undefined {
  const value = parseJson(text);
  if (!isObject(value) || !isObject(value['watched']) || !isObject(value['frame'])) return undefined;
  const { files, fingerprint } = value['watched'];
  const { agent, answer, transcript } = value['frame'];
  if (!Array.isArray(files) || ![fingerprint, agent, answer].every((one) => typeof one === 'string')) return undefined;
  return {
    watched: { files: files.map(String), fingerprint: String(fingerprint) },
    frame: {
      agent: String(agent),
      answer: String(answer),
      ...(typeof transcript === 'string' ? { transcript } : {}),
    },
  };
}

function readSkill(text: string): KeptSkill | undefined {
  const value = text === '' ? undefined : parseJson(text);
  if (!isObject(value)) return undefined;
  const { name, description, path: file, stamp } = value;
  if (typeof name !== 'string' || typeof description !== 'string' || typeof file !== 'string') return undefined;
  return { name, description, path: file, stamp: typeof stamp === 'string' ? stamp : undefined };
}
