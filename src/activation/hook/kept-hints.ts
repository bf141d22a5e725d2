/**
 * What prompts in one place are compared with, in a file of the cache. The resident process writes it; where none serves, a hook answers from
 * it, because it cannot read thousands of skills while a prompt waits.
 */
import path from 'node:path';

import { isObject, parseJson, type Surroundings } from '#core';
import { cacheDirectory, cacheEntry, sha256 } from '#platform';
import { readSearchIndex, type SearchIndex } from '#skills';
import { VERSION } from '../../version.ts';
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
  const key = sha256(JSON.stringify([VERSION, agent, place]));
  return folder === undefined ? undefined : path.join(folder, `hints-${key.slice(0, 32)}.bin`);
}

/** Lengths of the index, the skills and the head, and the number of skills. */
const HEADER_LENGTH = 16;
/** Longer descriptions are not shown whole. */
const MAX_DESCRIPTION = 2000;

/** One file: the lengths, the index, where each skill begins, the skills, the head. */
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
  const [all, head, bytes] = [texts.join(''), JSON.stringify({ watched, frame }), index.toBytes()];
  const lengths = Uint32Array.of(bytes.length, Buffer.byteLength(all), Buffer.byteLength(head), texts.length);
  const parts = [Buffer.from(lengths.buffer), bytes, Buffer.from(starts.buffer), Buffer.from(all), Buffer.from(head)];
  cacheEntry(file).write(Buffer.concat(parts));
}

/** Undefined if there is none, if it is damaged, or if settings, trust or folders changed since. */
export function readKept(file: string | undefined): KeptHints | undefined {
  const bytes = cacheEntry(file).read();
  if (bytes === undefined || bytes.length < HEADER_LENGTH) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const [indexLength, textLength, headLength, count] = [0, 4, 8, 12].map((at) => buffer.readUInt32LE(at));
  if (indexLength === undefined || textLength === undefined || headLength === undefined || count === undefined)
    return undefined;
  const starts = HEADER_LENGTH + indexLength;
  const texts = starts + 4 * (count + 1);
  if (texts + textLength + headLength !== buffer.length) return undefined;
  const head = readHead(buffer.toString('utf8', texts + textLength));
  if (head === undefined || fingerprintOf(head.watched.files) !== head.watched.fingerprint) return undefined;
  const index = readSearchIndex(buffer.subarray(HEADER_LENGTH, starts));
  if (index?.size !== count) return undefined;
  return {
    ...head,
    index,
    skillAt(position) {
      const [from, to] = [starts + 4 * position, starts + 4 * (position + 1)].map((at) => buffer.readUInt32LE(at));
      return readSkill(buffer.toString('utf8', texts + (from ?? 0), texts + (to ?? 0)));
    },
  };
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
