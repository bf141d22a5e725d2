import { sha256 } from '#platform';

/** The id of the trace of a run that belongs to no other: the same for every process that sends spans of the run. */
export function toTraceId(run: string): string {
  return sha256(`skillwright trace ${run}`).slice(0, 32);
}
