import type { Observation, OfType } from '#core';
import { readNotes, type ContinueCall } from './wording.ts';

export const continueWith: ContinueCall = (path, offset) =>
  `load_resource(relative_path=${path}, offset=${String(offset)})`;

export function showRead(read: OfType<Observation, 'resource-read'>): unknown {
  const { skill, report, mediaType, isBinary, lines, totalLines, text: content } = read;
  const notes = readNotes(read, continueWith);
  return {
    ok: true,
    skill: { name: skill.name, source: skill.source },
    relative_path: report.path,
    media_type: mediaType,
    ...(isBinary ? {} : { content, lines: { ...lines, total: totalLines } }),
    truncated: report.truncated,
    sha256: toBareHash(report.digest),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

/** The bare hash, as in the results of skills-agent. */
export function toBareHash(digest: string): string {
  return digest.replace(/^sha256:/, '');
}
