/** What a submission brings along: files that were uploaded or that another run left, and the name of a model. */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { Pool } from 'pg';

import { invalidInput, quoted } from '#core';
import { sha256 } from '#platform';
import { httpError, type uploadRoutes } from '#server';
import type { ContentStore } from './content-store.ts';
import type { RecordTables } from './run-store.ts';
import type { InputFile } from './run-table.ts';
import { checked } from './stored-attempt.ts';

const MAX_UPLOADS = 10_000;

/** The uploads of a project. Their bytes are contents, which other runs may have as well. */
export function openStoredUploads(
  { pool, contents }: RecordTables,
  project: string,
): Parameters<typeof uploadRoutes>[0] {
  return {
    async store(name, bytes) {
      const [id, digest] = [randomUUID(), sha256(bytes)];
      await contents.save([{ digest, bytes }]);
      const { rowCount } = await pool.query(
        `insert into skillwright.uploads (id, project, name, digest, bytes) select $1, $2, $3, $4, $5
         where (select count(*) from skillwright.uploads where project = $2) < ${String(MAX_UPLOADS)}`,
        [id, project, name, digest, bytes.length],
      );
      if (rowCount === 1) return { id, name, bytes: bytes.length, digest };
      const hint = 'remove some: DELETE /api/v1/uploads/ID; skillwright fleet prune removes old ones';
      throw httpError(429, `too many uploads: this project has ${String(MAX_UPLOADS)}`, hint);
    },
    async remove(id) {
      const { rowCount } = await pool.query('delete from skillwright.uploads where id = $1 and project = $2', [
        id,
        project,
      ]);
      return rowCount === 1;
    },
  };
}

/**
 * The files of a submission. Throws `input/invalid` for one that the project has not uploaded and that none of its runs left: a digest alone
 * gives no right to the bytes.
 */
export async function findInputs(
  pool: Pool,
  project: string,
  { uploads = [], files = [] }: { readonly uploads?: readonly string[]; readonly files?: readonly InputFile[] },
): Promise<readonly InputFile[]> {
  if (uploads.length === 0 && files.length === 0) return [];
  const named = files.map(({ name, digest }) => ({ name, digest: digest.replace('sha256:', '') }));
  const { rows: uploaded } = await pool.query<InputFile & { readonly id: string }>(
    'select id, name, digest from skillwright.uploads where project = $1 and id = any($2)',
    [project, uploads],
  );
  const { rows: known } = await pool.query<{ digest: string }>(
    `select digest from unnest($2::text[]) as digest where
       exists (select 1 from skillwright.uploads u where u.project = $1 and u.digest = digest.digest)
       or exists (select 1 from skillwright.run_files f join skillwright.runs r on r.id = f.run where f.digest = digest.digest and r.project = $1)`,
    [project, named.map(({ digest }) => digest)],
  );
  const found = uploads.map((id) => uploaded.find((one) => one.id === id) ?? missing(`upload ${quoted(id)}`));
  for (const { digest } of named)
    if (!known.some((one) => one.digest === digest)) missing(`file with the digest ${quoted(digest)}`);
  return [...found.map(({ name, digest }) => ({ name, digest })), ...named];
}

function missing(what: string): never {
  throw invalidInput(
    `this project has no ${what}`,
    'an uploaded file',
    'upload it first: POST /api/v1/uploads?name=NAME',
  );
}

/** Writes the files below a folder, each into one of its own, because two may have the same name. */
export async function placeInputs(
  contents: ContentStore,
  folder: string,
  files: readonly InputFile[],
): Promise<readonly string[]> {
  const places: string[] = [];
  for (const [index, { name, digest }] of files.entries()) {
    const place = path.join(folder, String(index), name);
    await mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
    await writeFile(place, await checked(contents, digest), { mode: 0o600 });
    places.push(place);
  }
  return places;
}

/** Throws `input/invalid` for a model that no worker has which was seen in the last minute. */
export async function checkModel(pool: Pool, model: string): Promise<void> {
  const { rows } = await pool.query<{ model: string }>(
    `select distinct unnest(models) as model from skillwright.workers where seen_at > now() - interval '1 minute' order by 1`,
  );
  const names = rows.map((row) => row.model);
  if (names.includes(model)) return;
  throw invalidInput(
    `no worker has the model ${quoted(model)}`,
    names.length === 0 ? 'a model of a worker' : names.join(', '),
    'leave it out for the model of the worker, or start one: skillwright worker --offer-model NAME',
  );
}
