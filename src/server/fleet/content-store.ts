/** Bytes by digest, in the database or in S3. Readers check the digest, so a store need not be trusted. */
import type { Pool } from 'pg';

export interface ContentStore {
  /** Saves bytes under their SHA-256 digests. Bytes that are there are not sent again. */
  save(files: readonly { readonly digest: string; readonly bytes: Uint8Array }[]): Promise<void>;
  /** Returns undefined if the store has no such bytes. */
  load(digest: string): Promise<Buffer | undefined>;
}

const MAX_REMEMBERED = 10_000;

/** Remembers what was saved or found: the skills of a set are in the record of every run that has them. */
export function rememberingContents(store: ContentStore): ContentStore {
  const known = new Set<string>();
  return {
    async save(files) {
      const fresh = files.filter(({ digest }) => !known.has(digest));
      await store.save(fresh);
      if (known.size > MAX_REMEMBERED) known.clear();
      for (const { digest } of fresh) known.add(digest);
    },
    load: (digest) => store.load(digest),
  };
}

export function openTableContents(pool: Pool): ContentStore {
  return {
    async save(files) {
      if (files.length === 0) return;
      await pool.query(
        `insert into skillwright.contents (digest, bytes)
         select distinct on (digest) digest, bytes from unnest($1::text[], $2::bytea[]) as given (digest, bytes) on conflict do nothing`,
        [files.map(({ digest }) => digest), files.map(({ bytes }) => Buffer.from(bytes))],
      );
    },
    async load(digest) {
      const { rows } = await pool.query<{ bytes: Buffer }>('select bytes from skillwright.contents where digest = $1', [
        digest,
      ]);
      return rows[0]?.bytes;
    },
  };
}
