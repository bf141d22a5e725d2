/** Contents in an S3 bucket, by digest. Keys and region come from the environment, as other S3 programs read them. */
import { setTimeout as sleep } from 'node:timers/promises';

import { invalidInput, type SkillError } from '#core';
import { loadOptional, sha256 } from '#platform';
import { paced, type ContentStore } from './content-store.ts';
import { ioFailed, reasonText } from './database.ts';

export interface S3Options {
  readonly address: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly patience?: Patience;
}

interface Patience {
  /** A request whose answer is not complete after this is ended and tried again. */
  readonly timeoutMs: number;
  /** The pause before the second try; it grows fourfold. */
  readonly pauseMs: number;
}

const TRIES = 4;
const PATIENCE: Patience = { timeoutMs: 15_000, pauseMs: 400 };

/** Throws `input/invalid` for an address without a bucket, or if no credentials are set. */
export async function openS3Contents({ address, env, patience = PATIENCE }: S3Options): Promise<ContentStore> {
  const [, bucket = '', prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?$/.exec(address) ?? [];
  if (bucket === '')
    throw invalidInput(`${JSON.stringify(address)} does not name a bucket`, 's3://BUCKET or s3://BUCKET/PREFIX');
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw invalidInput(
      'there are no credentials for S3',
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment',
      'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment',
    );
  const region = env['AWS_REGION'] ?? 'us-east-1';
  const endpoint = env['AWS_ENDPOINT_URL'] ?? `https://s3.${region}.amazonaws.com`;
  const { S3mini } = await loadOptional('s3mini', () => import('s3mini'));
  const s3 = new S3mini({
    accessKeyId,
    secretAccessKey,
    region,
    endpoint: `${endpoint.replace(/\/$/, '')}/${bucket}`,
    requestAbortTimeout: patience.timeoutMs,
  });
  const place = (digest: string): string => `${prefix === '' ? '' : prefix.replace(/\/?$/, '/')}sha256/${digest}`;
  const saveOne = paced(async ({ digest, bytes }: { readonly digest: string; readonly bytes: Uint8Array }) => {
    const isThere = await retried(() => s3.objectExists(place(digest)), patience);
    if (isThere !== true) await retried(() => s3.putObject(place(digest), Buffer.from(bytes)), patience);
  });
  return {
    save: async (files) => void (await Promise.all(files.map(saveOne))),
    async removeObjects(digests) {
      // Tried once: rows are locked meanwhile, and the next prune finds what is left.
      const removed = await s3.deleteObjects(digests.map(place)).catch((error: unknown) => {
        throw storeFailure(error, 1, patience);
      });
      const left = digests.filter((_, at) => removed[at] !== true);
      if (left.length > 0)
        throw ioFailed(
          `the artifact store did not remove ${String(left.length)} of ${String(digests.length)} contents, e.g. ${place(left[0] ?? '')}`,
          'check that the credentials may delete objects (s3:DeleteObject), then run the command again',
          { path: 's3', cause: 'delete' },
        );
    },
    load: paced(async (digest) => {
      // Wrong bytes may be a passing fault of the store, so they are asked for again before they are reported as missing.
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const bytes = await retried(() => s3.getObjectArrayBuffer(place(digest)), patience);
        if (bytes === null) return undefined;
        const read = Buffer.from(bytes);
        if (sha256(read) === digest) return read;
      }
      throw ioFailed(
        `the artifact store returns other bytes for ${digest} than were saved`,
        'check the bucket: its objects must never be changed',
        { path: place(digest), cause: 'digest' },
      );
    }),
  };
}

/** Tries again with growing pauses: S3 may be slow or fail for a moment. */
async function retried<T>(act: () => Promise<T>, patience: Patience): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (attempt === TRIES) throw storeFailure(error, TRIES, patience);
      await sleep(patience.pauseMs * 4 ** (attempt - 1));
    }
  }
}

function storeFailure(error: unknown, tries: number, { timeoutMs }: Patience): SkillError {
  const isSlow = causes(error).some(({ name }) => name === 'TimeoutError');
  const cause = isSlow ? `no complete answer within ${String(timeoutMs / 1_000)} s` : reasonText(error);
  return ioFailed(
    `the artifact store does not answer after ${String(tries)} ${tries === 1 ? 'try' : 'tries'}: ${cause}`,
    'check AWS_ENDPOINT_URL, the bucket and the credentials',
    { path: 's3', cause, error },
  );
}

function causes(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [];
}
