import path from 'node:path';

/**
 * A name beside a file or folder that nobody else takes: process, time and chance. It is made with `wx` or `mkdir`, which refuse
 * what is there already, so that guessing it gains nothing.
 */
export function temporaryName(target: string, suffix: string): string {
  const unique = `${process.pid.toString(36)}${process.hrtime.bigint().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  return path.join(path.dirname(target), `${temporaryPrefix(target)}${unique}${suffix}`);
}

/** What the names of a target's temporaries start with. */
export function temporaryPrefix(target: string): string {
  return `.${path.basename(target)}.`;
}
