/** Bytes by digest, in the database or in S3. Readers check the digest, so a store need not be trusted. */
import type { Pool } from 'pg';

export interface ContentStore {
  /** Saves bytes under their SHA-256 digests. Bytes that are there are not sent again. */
  save(files: readonly { readonly digest: string; readonly bytes: Uint8Array }[]): Promise<void>;
  load(digest: string): Promise<Buffer | undefined>;
  /** Removes bytes that are not in the database; absent if all are. */
  readonly removeObjects?: (digests: readonly string[]) => Promise<void>;
}

/** With one request at a time, a server with forty files of skills needs two minutes to start if each answer of S3 takes a second. */
const AT_ONCE = 8;

/** Lets this many calls run at a time; the others wait in order. */
export function paced<Input, Result>(act: (input: Input) => Promise<Result>): (input: Input) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let free = AT_ONCE;
  return async (input) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await act(input);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

const MAX_REMEMBERED = 10_000;
/** Contents that nothing names are removed a day after they were saved last, so that must be known to the database. */
const REMEMBERED_MS = 3_600_000;
/** Rows that many runs share are not written for each of them. */
const A_WHILE_AGO = `now() - interval '1 hour'`;

/** Remembers what was saved or found: the skills of a set are in the record of every run that has them. */
export function rememberingContents(store: ContentStore): ContentStore {
  const known = new Set<string>();
  let since = performance.now();
  return {
    ...store,
    async save(files) {
      if (performance.now() - since > REMEMBERED_MS || known.size > MAX_REMEMBERED) {
        known.clear();
        since = performance.now();
      }
      const fresh = files.filter(({ digest }) => !known.has(digest));
      await store.save(fresh);
      for (const { digest } of fresh) known.add(digest);
    },
  };
}

/** Rows for bytes that are stored elsewhere. A row is renewed before its bytes are looked for: see `prune-contents.ts`. */
export function recordedContents(pool: Pool, store: ContentStore): ContentStore {
  return {
    ...store,
    async save(files) {
      if (files.length === 0) return;
      await pool.query(
        `insert into skillwright.contents (digest, size)
         select distinct on (digest) digest, size from unnest($1::text[], $2::bigint[]) as input (digest, size) order by digest
         on conflict (digest) do update set saved_at = now() where contents.saved_at < ${A_WHILE_AGO}`,
        [files.map(({ digest }) => digest), files.map(({ bytes }) => bytes.length)],
      );
      await store.save(files);
    },
  };
}

export function openTableContents(pool: Pool): ContentStore {
  return {
    async save(files) {
      if (files.length === 0) return;
      await pool.query(
        `insert into skillwright.contents (digest, bytes)
         select distinct on (digest) digest, bytes from unnest($1::text[], $2::bytea[]) as input (digest, bytes) order by digest
         on conflict (digest) do update set saved_at = now(), bytes = coalesce(contents.bytes, excluded.bytes)
         where contents.saved_at < ${A_WHILE_AGO} or contents.bytes is null`,
        [files.map(({ digest }) => digest), files.map(({ bytes }) => Buffer.from(bytes))],
      );
    },
    // A run may have more files than the pool has connections.
    load: paced(async (digest) => {
      const { rows } = await pool.query<{ bytes: Buffer | null }>(
        'select bytes from skillwright.contents where digest = $1',
        [digest],
      );
      return rows[0]?.bytes ?? undefined;
    }),
  };
}
