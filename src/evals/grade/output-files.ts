/** The files that a run left, in their last state, as its record has them. */
import { isUtf8 } from 'node:buffer';

import { detectMediaType, type RunEvent, type RunResult } from '#core';
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
  if (observation?.type === 'program-ran') return toFileFacts(observation.result, seq);
  if (observation?.type === 'command-seen' && observation.result !== undefined)
    return toFileFacts(observation.result, seq);
  if (observation?.type !== 'file-written') return [];
  const { path, bytes, digest } = observation;
  // The record of an edit has only the passages; `withOutputs` adds the text.
  if (action?.type !== 'write_file')
    return [
      {
        seq,
        name: stripWorkspace(path),
        mediaType: detectMediaType(path, Buffer.alloc(0)).mediaType,
        bytes,
        sha256: stripDigestPrefix(digest),
      },
    ];
  const content = Buffer.from(action.content, 'utf8');
  const name = stripWorkspace(path);
  // A redacted record does not hold the bytes that were written.
  const isWhole = content.length === bytes;
  const { mediaType } = detectMediaType(name, content);
  return [
    { seq, name, mediaType, bytes, sha256: stripDigestPrefix(digest), ...(isWhole ? { text: action.content } : {}) },
  ];
}

function toFileFacts({ output_files: files, primary_output: primary }: RunResult, seq: number): readonly FileFact[] {
  return files.map((file) => fileFact(file, primary?.name === file.name ? primary : file, seq));
}

function fileFact(
  file: RunResult['output_files'][number],
  shown: RunResult['output_files'][number],
  seq: number,
): FileFact {
  const { name, mime_type: mediaType, size_bytes: bytes, digest } = file;
  const whole = [file, shown].find((one) => one.content !== undefined && !one.truncated);
  return {
    seq,
    name,
    mediaType,
    bytes,
    sha256: digest === undefined ? undefined : stripDigestPrefix(digest),
    text: whole?.content === undefined ? undefined : whole.content,
  };
}

/** The files that another agent left in the project. `withOutputs` adds their texts. */
export function filesOfSubject(
  { files }: Extract<RunEvent, { readonly type: 'subject-end' }>,
  seq: number,
): readonly FileFact[] {
  return files.map(({ path, bytes, digest }) => ({
    seq,
    name: path,
    mediaType: detectMediaType(path, Buffer.alloc(0)).mediaType,
    bytes,
    sha256: stripDigestPrefix(digest),
  }));
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
