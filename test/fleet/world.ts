/** A fleet server in this process, with a database of its own and no worker: tests write what workers would have recorded. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { createRuntime } from '../../src/packs/open-runtime.ts';
import { openFleetServer, type FleetServer, type FleetServerOptions } from '../../src/fleet/fleet-server.ts';
import { createKey, type Right } from '../../src/fleet/keys.ts';
import { openMirror } from '../../src/fleet/mirror.ts';
import { openFleet, type Fleet } from '../../src/fleet/open-fleet.ts';
import { claimRun } from '../../src/fleet/run-table.ts';
import { pinSkills } from '../../src/fleet/skill-sets.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { REPORT } from '../agent/support.ts';
import { writeSkill } from '../skills/registry/support.ts';
import { openPostgres, type Postgres } from './postgres.ts';

export interface Reply {
  readonly status: number;
  readonly text: string;
}

export interface ApiWorld {
  readonly root: string;
  readonly postgres: Postgres;
  readonly fleet: Fleet;
  readonly runtime: Runtime;
  readonly url: string;
  readonly notes: readonly string[];
  /** Starts another server of the same fleet. */
  readonly serve: (options?: Partial<FleetServerOptions>) => Promise<FleetServer>;
  readonly key: (project: string, ...rights: readonly Right[]) => Promise<string>;
  readonly ask: (key: string, method: string, target: string, body?: unknown) => Promise<Reply>;
  /** Claims a queued run as a worker that is alive. */
  readonly claim: (run: string, attempt?: number) => Promise<{ mirror: ReturnType<typeof openMirror> }>;
  readonly close: () => Promise<void>;
}

export const WORKER = 'worker-of-the-test';

/** `given`: options of its server. */
export async function openApiWorld(given: Partial<FleetServerOptions> = {}): Promise<ApiWorld> {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'skillwright-api-')));
  for (const [name, skill] of Object.entries(REPORT)) writeSkill(path.join(root, 'skills', name), skill);
  const postgres = await openPostgres();
  const fleet = await openFleet({ database: postgres.url, env: {}, connections: 20 });
  const surroundings = { cwd: root, home: path.join(root, 'home'), env: {} };
  const roots = [path.join(root, 'skills')];
  const runtime = await createRuntime({ ...surroundings, roots, onlyRoots: true, vouched: roots, cache: false });
  const skillSet = await pinSkills(fleet, runtime);
  await fleet.pool.query(
    `insert into skillwright.workers (id, host, version, format, slots, seen_at)
     values ($1, 'h', '1', 1, 1, now() + interval '1 day')`,
    [WORKER],
  );
  const notes: string[] = [];
  const serve = (options: Partial<FleetServerOptions> = {}): Promise<FleetServer> =>
    openFleetServer({
      ...fleet,
      skillSet: () => Promise.resolve(skillSet),
      base: mkdtempSync(path.join(root, 'base-')),
      page: { runtime, surroundings, pages: path.join(root, 'no-pages') },
      onNote: (note) => void notes.push(note),
      ...options,
    });
  const server = await serve(given);
  return {
    root,
    postgres,
    fleet,
    runtime,
    url: server.url,
    notes,
    serve,
    key: async (project, ...rights) => (await createKey(fleet.pool, { name: 'test', project, rights }, 'test')).secret,
    async ask(key, method, target, body) {
      const response = await fetch(`${server.url}${target}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    },
    async claim(run, attempt = 1) {
      const claim = { run, attempt, worker: WORKER };
      if ((await claimRun(fleet.pool, claim)) === undefined) throw new Error(`${run} cannot be claimed`);
      return { mirror: openMirror(fleet, claim) };
    },
    async close() {
      await server.close();
      await fleet.close();
      postgres.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
