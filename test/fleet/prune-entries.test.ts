import { expect, test } from 'vitest';

import { pruneEntries } from '../../src/fleet/queue.ts';

type Client = Parameters<typeof pruneEntries>[0];

/** A queue with these finished entries, listed two at a time. */
function queue(ids: readonly string[], isDeleting: boolean): Client {
  let left = ids;
  return {
    listWorkflows: async () =>
      left.slice(0, 2).map((workflowID) => ({
        workflowID,
        status: 'SUCCESS',
        workflowName: 'run',
        workflowClassName: '',
        createdAt: 0,
        priority: 0,
        wasForkedFrom: false,
      })),
    deleteWorkflows: async (deleted) => {
      if (isDeleting) left = left.filter((id) => !deleted.includes(id));
    },
  };
}

test('prunes until nothing is listed, and ends with an error if the database keeps what was deleted', async () => {
  expect(await pruneEntries(queue(['a', 'b', 'c'], true), new Date())).toBe(3);
  await expect(pruneEntries(queue(['a', 'b', 'c'], false), new Date())).rejects.toMatchObject({
    code: 'io/failed',
    message: 'the queue still lists "a" after it was deleted',
  });
});
