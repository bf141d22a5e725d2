import { isSkillError, quoted, SkillError } from '#core';
import { isSystemError } from '#platform';
import { IncompleteWrite } from './append-file.ts';

/** Errors of the disk; everything else is a bug. */
export function isWriteError(error: unknown): error is Error {
  return (
    isSystemError(error) || error instanceof IncompleteWrite || (isSkillError(error) && error.code === 'io/failed')
  );
}

export function recordFailed(place: string, error: Error): SkillError {
  const cause = isSystemError(error) ? error.code : error.message;
  return new SkillError({
    code: 'record/failed',
    message: `cannot record the run in ${quoted(place, 200)}: ${cause}`,
    hint: 'check the free disk space and the folder; no further action is performed',
    data: { path: place, cause },
    cause: error,
  });
}

export function ended(place: string): SkillError {
  return new SkillError({
    code: 'record/failed',
    message: `the run in ${quoted(place, 200)} has ended`,
    hint: 'begin another run',
    data: { path: place, cause: 'ended' },
  });
}
