import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openUploads, type Uploads } from '../../src/server/uploads.ts';
import { scratch } from '../skills/registry/support.ts';

interface World {
  readonly uploads: Uploads;
  readonly stored: () => number;
  readonly add: (count: number) => readonly string[];
  readonly running: Set<string>;
  wait: (milliseconds: number) => void;
}

function world(): World {
  const folder = path.join(scratch(), 'uploads');
  const running = new Set<string>();
  let now = 0;
  const uploads = openUploads(() => folder, { isRunning: (run) => running.has(run), now: () => now });
  return {
    uploads,
    running,
    stored: () => readdirSync(folder).length,
    add: (count) => Array.from({ length: count }, () => uploads.store('a.csv', Buffer.from('a')).id),
    wait: (milliseconds) => (now += milliseconds),
  };
}

const HOUR = 3_600_000;
const isThere = ({ uploads }: World, id: string | undefined): boolean => existsSync(uploads.find(id ?? '') ?? '');

test('files that ended runs have used make room, oldest first; those of a run in progress stay', () => {
  const here = world();
  const [first = '', second = '', ...rest] = here.add(200);
  here.running.add('now');
  here.uploads.use([first], 'now');
  here.uploads.use([second, ...rest], 'before');
  here.add(150);
  expect([here.stored(), isThere(here, first), isThere(here, second), isThere(here, rest.at(-1))]).toEqual([
    200,
    true,
    false,
    true,
  ]);
});

test('files that wait for a run stay for an hour; a refused upload leaves nothing', () => {
  const here = world();
  const [first = ''] = here.add(200);
  for (let tries = 0; tries < 3; tries += 1)
    expect(() => here.add(1)).toThrow(
      expect.objectContaining({ raised: expect.objectContaining({ code: 'http/429' }) }),
    );
  expect([here.stored(), isThere(here, first)]).toEqual([200, true]);
  here.wait(HOUR + 1);
  here.add(1);
  expect([here.stored(), isThere(here, first)]).toEqual([200, false]);
});

test('a removed file makes room and is gone; an id is not a path', () => {
  const here = world();
  const [first = ''] = here.add(200);
  expect([here.uploads.remove('..'), here.uploads.remove(first), here.uploads.remove(first)]).toEqual([
    false,
    true,
    false,
  ]);
  expect([here.stored(), here.uploads.find(first), here.uploads.find('../..')]).toEqual([199, undefined, undefined]);
  here.add(1);
});
