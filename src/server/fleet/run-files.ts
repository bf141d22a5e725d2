/** The output files of runs: names in a table, bytes among the contents, so that they outlive the worker. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Pool } from 'pg';

import { isSkillError } from '../../core/errors.ts';
import { sha256 } from '../../platform/hash.ts';
import { redactedChunks } from '../../runtime/execution/redacted.ts';
import { takeOutputs } from '../../runtime/execution/take-outputs.ts';
import type { Session } from '../../runtime/session.ts';
import { HttpError } from '../http-error.ts';
import { fileRoute } from '../router.ts';
import type { Route } from '../router.ts';
import { filesIn } from '../run-starter.ts';
import type { ContentStore } from './content-store.ts';
import type { QueuedRun } from './run-queue.ts';

interface FilePlace {
  readonly pool: Pool;
  readonly contents: ContentStore;
}

/** Stores the files in `out/` of a session. What may not leave the workspace is left out, as on one machine. */
export async function keepRunFiles(
  session: Session,
  { run, attempt }: QueuedRun,
  { pool, contents, directory }: FilePlace & { readonly directory: string },
): Promise<void> {
  const redactor = session.execution?.redactor;
  const folder = await mkdtemp(path.join(directory, 'outputs-'));
  try {
    await takeOutputs(session, folder, {}).catch((error: unknown) => {
      if (!isSkillError(error)) throw error;
    });
    for (const name of filesIn(folder)) {
      const bytes = Buffer.concat([...redactedChunks([await readFile(path.join(folder, name))], redactor)]);
      const digest = sha256(bytes);
      await contents.save([{ digest, bytes }]);
      // A worker that was cut off does not replace the files of the attempt that continues the run.
      await pool.query(
        `insert into skillwright.run_files (run, name, digest, bytes)
         select id, $3, $4, $5 from skillwright.runs where id = $1 and attempt = $2
         on conflict (run, name) do update set digest = excluded.digest, bytes = excluded.bytes`,
        [run, attempt, redactor?.text(name) ?? name, digest, bytes.length],
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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

export function runFileRoute({ pool, contents }: FilePlace, project: string): Route {
  return fileRoute(
    '/runs/{id}/files/{path}',
    'Download an output file of a run',
    {},
    async ({ params: { id = '', path: name = '' } }) => {
      const file = (await listRunFiles(pool, project, id)).find((one) => one.name === name);
      if (file === undefined) throw new HttpError(404, 'no such file');
      const bytes = await contents.load(file.digest);
      if (bytes === undefined || sha256(bytes) !== file.digest)
        throw new HttpError(500, 'the stored bytes of the file are missing or damaged', 'restore them from a backup');
      return { name: path.basename(name), mediaType: 'application/octet-stream', chunks: [bytes] };
    },
  );
}
