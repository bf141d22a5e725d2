import { quoted, SkillError, toRelativePath } from '#core';

/** An artifact belongs to one session or, with the prefix `user:`, to all sessions of a user. */
export type ArtifactScope = 'session' | 'user';

export interface ArtifactName {
  readonly scope: ArtifactScope;
  /** Normalized, with its prefix. */
  readonly name: string;
}

const USER = 'user:';

/** Parses a name: a relative path such as `out/report.pdf` or `user:report.pdf`. Throws `input/invalid`. */
export function readArtifactName(text: string): ArtifactName {
  const scope = text.startsWith(USER) ? 'user' : 'session';
  const reading = toRelativePath(scope === 'user' ? text.slice(USER.length) : text);
  // `name@3` means version 3 of a name.
  if (reading.type === 'path' && !/@\d+$/.test(reading.path))
    return { scope, name: scope === 'user' ? USER + reading.path : reading.path };
  throw new SkillError({
    code: 'input/invalid',
    message: `${quoted(text)} is not a valid artifact name${reading.type === 'refused' ? `: ${reading.failure.message}` : ''}`,
    hint: 'use a relative path without .., with the prefix user: to share the artifact between sessions',
    data: { expected: 'a relative path' },
  });
}
