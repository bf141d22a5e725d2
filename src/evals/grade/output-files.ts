/** The files that a run left, in their last state, as its record has them. */
import { isUtf8 } from 'node:buffer';

import { detectMediaType, type OfType, type RunEvent, type RunResult } from '#core';
import { sha256 } from '#platform';
import type { FileFact, RunFacts, StepFact } from './run-facts.ts';

const WORKSPACE = 'workspace://';
const DIGEST = 'sha256:';

export function filesOfSteps(steps: readonly StepFact[]): readonly FileFact[] {
  const files = new Map<string, FileFact>();
  for (const step of steps) {
    const { observation } = step;
    if (observation?.type === 'file-deleted') files.delete(stripWorkspace(observation.path));
    for (const file of listFiles(step)) files.set(file.name, file);
  }
  return [...files.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function listFiles({ seq, action, observation }: StepFact): readonly FileFact[] {
  if (observation?.type === 'program-ran' || observation?.type === 'command-seen')
    return observation.result === undefined ? [] : toFileFacts(observation.result, seq);
  if (observation?.type !== 'file-written') return [];
  // The record of an edit has only the passages; `withOutputs` adds the text.
  if (action?.type !== 'write_file') return [toFileFact(observation, seq)];
  const content = Buffer.from(action.content, 'utf8');
  // A redacted record does not hold the bytes that were written.
  const text = content.length === observation.bytes ? action.content : undefined;
  return [{ ...toFileFact(observation, seq, content), text }];
}

function toFileFacts({ output_files: files, primary_output: primary }: RunResult, seq: number): readonly FileFact[] {
  return files.map((file) => {
    const { name, mime_type: mediaType, size_bytes: bytes, digest } = file;
    const shown = primary?.name === name ? primary : file;
    const text = [file, shown].find((one) => one.content !== undefined && !one.truncated)?.content;
    return { seq, name, mediaType, bytes, sha256: digest && stripDigestPrefix(digest), text };
  });
}

type LeftFile = OfType<RunEvent, 'subject-end'>['files'][number];

function toFileFact({ path, bytes, digest }: LeftFile, seq: number, content = Buffer.alloc(0)): FileFact {
  const name = stripWorkspace(path);
  const { mediaType } = detectMediaType(name, content);
  return { seq, name, mediaType, bytes, sha256: stripDigestPrefix(digest) };
}

/** The files that another agent left in the project. `withOutputs` adds their texts. */
export function filesOfSubject({ files }: OfType<RunEvent, 'subject-end'>, seq: number): readonly FileFact[] {
  return files.map((file) => toFileFact(file, seq));
}

function stripWorkspace(path: string): string {
  return path.startsWith(WORKSPACE) ? path.slice(WORKSPACE.length) : path;
}

function stripDigestPrefix(digest: string): string {
  return digest.startsWith(DIGEST) ? digest.slice(DIGEST.length) : digest;
}

/** Returns the bytes of a file that a run left, or undefined if they were not kept. */
export type ReadOutput = (name: string) => Uint8Array | undefined;

/** Adds the texts of files of which the record has only the hash. Bytes with another hash are ignored. */
export function withOutputs(facts: RunFacts, read: ReadOutput): RunFacts {
  return { ...facts, files: facts.files.map((file) => withText(file, read)) };
}

function withText(file: FileFact, read: ReadOutput): FileFact {
  if (file.text !== undefined || file.sha256 === undefined) return file;
  const bytes = read(file.name);
  if (bytes === undefined || sha256(bytes) !== file.sha256 || !isUtf8(bytes)) return file;
  return { ...file, text: Buffer.from(bytes).toString('utf8') };
}
