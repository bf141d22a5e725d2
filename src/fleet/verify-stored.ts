import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';

import type { Pool } from 'pg';

import { isSkillError } from '#core';
import { verifyRun } from '#journal';
import type { ContentStore } from './content-store.ts';
import { restoreRecord, storedRecords, type StoredRecord } from './run-store.ts';

export interface StoredVerification {
  readonly record: string;
  readonly attempt: number;
  /** As `verifyRun` says; `torn` is the record of a worker that was lost. */
  readonly status: string;
  readonly problems: readonly string[];
}

/** Verifies the records of a run as if they had been recorded on this machine. They are written below `base` for that. */
export async function verifyStored(
  { pool, contents, base }: { readonly pool: Pool; readonly contents: ContentStore; readonly base: string },
  run: string,
): Promise<readonly StoredVerification[]> {
  const directory = mkdtempSync(path.join(base, 'verify-'));
  try {
    const { rows } = await pool.query<{ attempt: number }>(
      `select attempt from skillwright.runs where id = $1 and state = 'running'`,
      [run],
    );
    const verify = async (stored: StoredRecord): Promise<StoredVerification> => {
      const { record, attempt } = stored;
      try {
        const place = path.join(directory, String(attempt));
        const { folder } = await restoreRecord(pool, contents, { run, ...stored }, place);
        const { status, problems } = verifyRun(folder);
        // Which process lives on this machine says nothing about a worker elsewhere.
        const isUnfinished = status === 'running' || status === 'torn';
        const life = rows[0]?.attempt === attempt ? 'running' : 'torn';
        const messages = problems.map(({ message }) => message);
        return { record, attempt, status: isUnfinished ? life : status, problems: messages };
      } catch (error) {
        if (!isSkillError(error)) throw error;
        return { record, attempt, status: 'tampered', problems: [error.message] };
      }
    };
    const verified: StoredVerification[] = [];
    for (const stored of await storedRecords(pool, run)) verified.push(await verify(stored));
    return verified;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
