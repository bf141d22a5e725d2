import { randomBytes } from 'node:crypto';

/** The same form as the id of a record: seconds, then random characters, so that ids sort by time. */
export function newRunId(now: Date): string {
  return `${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z-${randomBytes(4).toString('hex')}`;
}
