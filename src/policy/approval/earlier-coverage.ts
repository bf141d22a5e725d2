import { parseJson } from '#core';

/**
 * Whether version 0.1 made the coverage: it named no project, so that an approval was for all of them. No request has such a coverage any
 * more, and the ids of its questions are not those of this version.
 */
export function isEarlierCoverage(coverage: string): boolean {
  const parts = parseJson(coverage);
  return Array.isArray(parts) && parts.length === EARLIER_PARTS;
}

/** The tool, the skill, its digest and the accesses. */
const EARLIER_PARTS = 4;
