import { nearest, quoted, SkillError } from '#core';
import type { ArtifactName } from './artifact-name.ts';

/** Maximum size of one artifact. */
export const MAX_ARTIFACT_BYTES = 64 * 1024 * 1024;

/** `own`: other versions of the name, as `name@version`; `others`: other names. */
export function unknownArtifact(
  { name }: ArtifactName,
  version: number | undefined,
  { own, others }: { readonly own: readonly string[]; readonly others: readonly string[] },
): SkillError {
  const near = own.length > 0 ? own.slice(-3) : nearest(name, others);
  return new SkillError({
    code: 'artifact/unknown',
    message: `unknown artifact ${quoted(version === undefined ? name : `${name}@${String(version)}`)}`,
    hint: near.length === 0 ? 'list the artifacts' : `did you mean ${near.map((one) => quoted(one)).join(', ')}?`,
    data: { name, nearest: near },
  });
}

export function tooLarge(name: string, maxBytes: number): SkillError {
  return new SkillError({
    code: 'input/invalid',
    message: `the artifact ${quoted(name)} has more than ${String(maxBytes)} bytes`,
    hint: 'save a smaller file, or raise the limit',
    data: { expected: `at most ${String(maxBytes)} bytes` },
  });
}

export function damagedArtifact(file: string, cause: string): SkillError {
  return new SkillError({
    code: 'io/failed',
    message: `the artifact at ${JSON.stringify(file)} is damaged: ${cause}`,
    hint: 'delete this version and save it again',
    data: { path: file, cause },
  });
}
