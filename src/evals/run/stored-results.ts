/** Stores results on disk: as a list, so that a killed suite can resume, and in a cache by key that all suites share. */
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describeContradiction } from '../report/contradiction.ts';
import { hasVerdict, type CaseResult } from '../report/result.ts';
import { isObject, parseJson, stableJson } from '#core';
import { isSystemError, makeFolders, quietly, sha256, writeFileAtomically } from '#platform';

/** Errors are stored for information only and always run again. */
export function openStoredResults(file: string, resume: boolean, cache: string | undefined) {
  makeFolders(path.dirname(file));
  const known = new Map<string, CaseResult>();
  if (resume) for (const line of readLines(file)) if (isUsable(line)) known.set(line.key, line.result);
  return {
    /** Returns undefined if the attempt must run. */
    find(key: string): CaseResult | undefined {
      const own = known.get(key);
      if (own !== undefined || cache === undefined) return own;
      const [line] = readLines(cacheFile(cache, key));
      return line?.key === key && isUsable(line) ? line.result : undefined;
    },
    keep(key: string, result: CaseResult): void {
      const line = `${JSON.stringify({ key, digest: resultDigest(key, result), result })}\n`;
      appendFileSync(file, line, { mode: 0o600 });
      if (cache === undefined || result.isCached || !hasVerdict(result)) return;
      const entry = cacheFile(cache, key);
      // A cache that cannot be written is ignored.
      quietly(() => {
        makeFolders(path.dirname(entry), 0o700);
        writeFileAtomically(entry, Buffer.from(line));
      }, undefined);
    },
  };
}

/** What was edited runs again. */
function isUsable(line: Line): boolean {
  const { key, digest, result } = line;
  return hasVerdict(result) && digest === resultDigest(key, result) && describeContradiction(result) === undefined;
}

function cacheFile(cache: string, key: string): string {
  return path.join(cache, key.slice(0, 2), `${key}.json`);
}

interface Line {
  readonly key: string;
  /** Absent in lines of earlier versions. */
  readonly digest?: string;
  readonly result: CaseResult;
}

/** Skips a last line that was cut off by a kill. */
function readLines(file: string): readonly Line[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    const value = parseJson(line);
    return isLine(value) ? [value] : [];
  });
}

/** Of what JSON keeps of the result. */
function resultDigest(key: string, result: CaseResult): string {
  return sha256(stableJson([key, parseJson(JSON.stringify(result))]));
}

/** The file is our own, so only its completeness is checked. */
function isLine(value: unknown): value is Line {
  return (
    isObject(value) &&
    typeof value['key'] === 'string' &&
    isObject(value['result']) &&
    Array.isArray(value['result']['checks'])
  );
}

export function readStoredResults(file: string): readonly CaseResult[] {
  return readLines(file).map(({ key, digest, result }) =>
    digest === undefined || digest === resultDigest(key, result)
      ? result
      : { ...result, model: { ...result.model, isEdited: true } },
  );
}
