/** Contents in S3, against a server that is slow, fails, and returns other bytes. */
import { expect, test } from 'vitest';

import { openS3Contents } from '../../src/fleet/s3-contents.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { openBucket } from './bucket.ts';

test('bytes are saved once under their digest, and come back in spite of passing faults', async () => {
  const { faults, puts, env, objects } = await openBucket();
  const store = await openS3Contents({ address: 's3://bucket/fleet', env });
  const bytes = Buffer.from('content');
  const digest = sha256(bytes);
  faults.push('fail');
  await store.save([{ digest, bytes }]);
  await store.save([{ digest, bytes }]);
  expect(puts).toEqual([`/bucket/fleet/sha256/${digest}`]);
  faults.push('fail', 'wrong');
  expect(await store.load(digest)).toEqual(bytes);
  expect(await store.load('0'.repeat(64))).toBeUndefined();
  objects.set(`/bucket/fleet/sha256/${digest}`, Buffer.from('changed'));
  await expect(store.load(digest)).rejects.toThrow(/returns other bytes/);
});

test('a store that is silent or sends its bytes without end is tried again, and then reported', async () => {
  const bucket = await openBucket();
  const patience = { timeoutMs: 1_000, pauseMs: 1 };
  const store = await openS3Contents({ address: 's3://bucket', env: bucket.env, patience });
  const bytes = Buffer.from('content');
  const digest = sha256(bytes);
  bucket.faults.push('silent');
  await store.save([{ digest, bytes }]);
  bucket.faults.push('silent', 'trickle');
  expect(await store.load(digest)).toEqual(bytes);
  const slow = {
    code: 'io/failed',
    message: 'the artifact store does not answer after 4 tries: no complete answer within 0.1 s',
  };
  const hasty = { address: 's3://bucket', env: bucket.env, patience: { timeoutMs: 100, pauseMs: 1 } };
  bucket.usual = 'trickle';
  await expect((await openS3Contents(hasty)).load(digest)).rejects.toMatchObject(slow);
  bucket.usual = 'silent';
  await expect((await openS3Contents(hasty)).save([{ digest, bytes }])).rejects.toMatchObject(slow);
  bucket.usual = undefined;
  expect(await store.load(digest)).toEqual(bytes);
});

test.each([
  ['file:///x', 'does not name a bucket'],
  ['s3://', 'does not name a bucket'],
  ['s3://Upper', 'does not name a bucket'],
])('%s %s', async (address, message) => {
  const { env } = await openBucket();
  await expect(openS3Contents({ address, env })).rejects.toThrow(message);
});

test('without credentials it says which variables to set', async () => {
  await expect(openS3Contents({ address: 's3://bucket', env: {} })).rejects.toMatchObject({
    message: 'there are no credentials for S3',
    hint: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment',
  });
});
