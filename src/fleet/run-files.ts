/** The output files of runs: names in a table, bytes among the contents, so that they outlive the worker. */
import type { Pool } from 'pg';

import { sha256 } from '#platform';
import { readCleanResults, type Session } from '#runtime';
import type { QueuedRun } from './queue.ts';
import type { RecordTables } from './run-store.ts';

type Execution = NonNullable<Session['execution']>;

export interface RunFiles {
  readonly afterProgram: (execution: Execution) => void;
  readonly keepChanges: () => Promise<void>;
  /** Stores every result that can be stored, and returns a note for each other one. */
  readonly keepAll: (session: Pick<Session, 'execution'>) => Promise<readonly string[]>;
}

/** The results of one attempt. Results of earlier attempts stay until this one writes a file of the same name. */
export function openRunFiles({ run, attempt }: QueuedRun, { pool, contents }: RecordTables): RunFiles {
  /** Digests by the names that this attempt has stored. */
  const stored = new Map<string, string>();
  let changed: Execution | undefined;
  const keepAll: RunFiles['keepAll'] = async (session) => {
    const { files, notes } = await readCleanResults(session);
    const names = new Set(files.map(({ name }) => name));
    for (const { name, bytes } of files) {
      const digest = sha256(bytes);
      if (stored.get(name) === digest) continue;
      await contents.save([{ digest, bytes }]);
      // A worker that was cut off does not replace the files of the attempt that continues the run.
      await pool.query(
        `insert into skillwright.run_files (run, name, digest, bytes)
         select id, $3, $4, $5 from skillwright.runs where id = $1 and attempt = $2
         on conflict (run, name) do update set digest = excluded.digest, bytes = excluded.bytes`,
        [run, attempt, name, digest, bytes.length],
      );
      stored.set(name, digest);
    }
    const removed = [...stored.keys()].filter((name) => !names.has(name));
    if (removed.length > 0)
      await pool.query(
        `delete from skillwright.run_files where run = $1 and name = any($3)
         and exists (select 1 from skillwright.runs where id = $1 and attempt = $2)`,
        [run, attempt, removed],
      );
    for (const name of removed) stored.delete(name);
    return notes;
  };
  return {
    afterProgram(execution) {
      changed = execution;
    },
    async keepChanges() {
      const execution = changed;
      if (execution === undefined) return;
      // Before the files are read: a program that ends meanwhile is left to the next call.
      changed = undefined;
      try {
        await keepAll({ execution });
      } catch (error) {
        changed = execution;
        throw error;
      }
    },
    keepAll,
  };
}

interface RunFile {
  readonly name: string;
  readonly bytes: number;
  readonly digest: string;
}

export async function listRunFiles(pool: Pool, project: string, run: string): Promise<readonly RunFile[]> {
  const { rows } = await pool.query<RunFile>(
    `select f.name, f.bytes::float as bytes, f.digest from skillwright.run_files f join skillwright.runs r on r.id = f.run
     where r.project = $1 and r.id = $2 order by f.name`,
    [project, run],
  );
  return rows;
}
