/** Stores results on disk: as a list, so that a killed suite can resume, and in a cache by key that all suites share. */
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describeContradiction } from '../report/contradiction.ts';
import { hasVerdict, type CaseResult } from '../report/result.ts';
import { isObject, parseJson, stableJson } from '#core';
import { isSystemError, makeFolders, quietly, sha256, writeFileAtomically } from '#platform';

/**
 * Errors always run again, and are remembered where other outcomes of their session are kept: whoever asks again only what broke may keep
 * what went well. A session in which everything broke, as with a wrong key, leaves nothing to choose from.
 */
export function openStoredResults(file: string, resume: boolean, cache: string | undefined) {
  makeFolders(path.dirname(file));
  const known = new Map<string, CaseResult>();
  const broken = new Map<string, number>();
  let hasOutcome = false;
  const note = (key: string, result: CaseResult): void => {
    if (result.status === 'error') broken.set(key, (broken.get(key) ?? 0) + 1);
    hasOutcome ||= hasVerdict(result) && !result.isCached;
  };
  if (resume)
    for (const { key, result, ...line } of readLines(file)) {
      note(key, result);
      if (isUsable({ key, result, ...line })) known.set(key, result);
    }
  const before = new Map(hasOutcome ? broken : []);
  const unsaved = new Set<string>();
  const earlier = (key: string): number => {
    const text = cache === undefined ? '' : quietly(() => readFileSync(errorsFile(cache, key), 'utf8'), '');
    return Math.max(before.get(key) ?? 0, Number.parseInt(text, 10) || 0);
  };
  return {
    /** How often the attempt ended in an error in earlier sessions. */
    countErrors: earlier,
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
      if (cache === undefined || result.isCached) return;
      note(key, result);
      if (result.status === 'error') unsaved.add(key);
      if (hasOutcome)
        for (const one of unsaved) {
          const count = earlier(one) + 1;
          quietly(() => {
            makeFolders(path.dirname(errorsFile(cache, one)), 0o700);
            writeFileAtomically(errorsFile(cache, one), Buffer.from(`${String(count)}\n`));
          }, undefined);
          unsaved.delete(one);
        }
      if (!hasVerdict(result)) return;
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

function errorsFile(cache: string, key: string): string {
  return path.join(cache, key.slice(0, 2), `${key}.errors`);
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
