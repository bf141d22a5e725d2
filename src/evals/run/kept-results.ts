/** Results on the disk: those of this suite as they come, so that it can go on after a kill; and those of any suite by key. */
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { CaseResult } from '../report/result.ts';
import { isObject } from '../../core/json/json-schema.ts';
import { writeFileAtomically } from '../../platform/fs/atomic-replace.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { isSystemError } from '../../platform/fs/paths.ts';

export interface KeptResults {
  /** What is known for a key; nothing where it must be run. */
  find(key: string): CaseResult | undefined;
  keep(key: string, result: CaseResult): void;
}

export interface KeptResultsOptions {
  /** `results.jsonl` of the suite. */
  readonly file: string;
  /** Take what an earlier, unfinished suite left in the file. */
  readonly resume: boolean;
  /** Of all suites; absent: nothing is taken from others. */
  readonly cache: string | undefined;
}

/** Errors are kept in the file for people and never taken from it: what broke is tried again. */
export function openKeptResults({ file, resume, cache }: KeptResultsOptions): KeptResults {
  makeFolders(path.dirname(file));
  const known = new Map<string, CaseResult>();
  if (resume) for (const { key, result } of readLines(file)) if (isVerdict(result)) known.set(key, result);
  return {
    find(key) {
      const own = known.get(key);
      if (own !== undefined || cache === undefined) return own;
      const [line] = readLines(cacheFile(cache, key));
      return line?.key === key && isVerdict(line.result) ? line.result : undefined;
    },
    keep(key, result) {
      const line = `${JSON.stringify({ key, result })}\n`;
      appendFileSync(file, line, { mode: 0o600 });
      if (cache === undefined || result.isCached || !isVerdict(result)) return;
      writeEntry(cacheFile(cache, key), line);
    },
  };
}

/** A cache that cannot be written is no failure. */
function writeEntry(file: string, line: string): void {
  try {
    makeFolders(path.dirname(file), 0o700);
    writeFileAtomically(file, Buffer.from(line));
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

function isVerdict({ status }: CaseResult): boolean {
  return status === 'passed' || status === 'failed';
}

function cacheFile(cache: string, key: string): string {
  return path.join(cache, key.slice(0, 2), `${key}.json`);
}

interface Line {
  readonly key: string;
  readonly result: CaseResult;
}

/** Whole lines of ours; the last one may be torn, and is then as if it were not there. */
function readLines(file: string): readonly Line[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    const value = parsed(line);
    return isLine(value) ? [value] : [];
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Written by us, in a folder of ours: only that it is whole is asked. */
function isLine(value: unknown): value is Line {
  return (
    isObject(value) &&
    typeof value['key'] === 'string' &&
    isObject(value['result']) &&
    Array.isArray(value['result']['checks'])
  );
}

/** All results of a file, in the order in which they came. */
export function keptResults(file: string): readonly CaseResult[] {
  return readLines(file).map(({ result }) => result);
}
