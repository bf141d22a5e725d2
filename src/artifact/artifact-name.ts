import { SkillError } from '../core/errors.ts';
import { toRelativePath } from '../core/path.ts';
import { quoted } from '../core/text/text.ts';

/** Whose an artifact is: of one session, or, with `user:` before its name, of all sessions of a user. */
export type ArtifactScope = 'session' | 'user';

export interface ArtifactName {
  readonly scope: ArtifactScope;
  /** With its scope, in the one way it is written. */
  readonly name: string;
}

const USER = 'user:';

/** Names are relative paths, `out/report.pdf` or `user:report.pdf`. Throws `input/invalid` for any other. */
export function readArtifactName(text: string): ArtifactName {
  const scope = text.startsWith(USER) ? 'user' : 'session';
  const reading = toRelativePath(scope === 'user' ? text.slice(USER.length) : text);
  // `name@3` is how a version is asked for.
  if (reading.type === 'path' && !/@\d+$/.test(reading.path))
    return { scope, name: scope === 'user' ? USER + reading.path : reading.path };
  throw new SkillError({
    code: 'input/invalid',
    message: `${quoted(text)} is no name for an artifact${reading.type === 'refused' ? `: ${reading.failure.message}` : ''}`,
    hint: 'name it like a file, relative and without .., with user: before it where all sessions should see it',
    data: { expected: 'a relative path' },
  });
}
