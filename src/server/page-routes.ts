import { z } from 'zod';

import { Evaluations, ServerStatus } from './api/govern.ts';
import type { SkillContext } from './context.ts';
import { changes } from './live-stream.ts';
import type { RunRecords } from './records.ts';
import { eventRoute, jsonRoute, type Immutable, type Route } from './router.ts';
import { catalogRoutes } from './routes/catalog.ts';
import { policyRoutes } from './routes/govern.ts';
import { runRoutes } from './routes/runs.ts';
import { skillRoutes } from './routes/skills.ts';

interface PageSource extends SkillContext {
  readonly status: () => Promise<Immutable<ServerStatus>>;
  /** Read at this interval for each open page, which learns about every difference. */
  readonly state: () => Promise<Readonly<Record<string, string | number>>>;
  readonly pollMs: number;
}

/** The routes of the console that only read, for a server whose runs are elsewhere. Without a page, those of runs. */
export function readingRoutes(records: RunRecords, page?: PageSource): readonly Route[] {
  const runs = runRoutes(records, () => undefined);
  if (page === undefined) return runs;
  return [
    ...[...runs, ...skillRoutes(page), ...catalogRoutes(page), ...policyRoutes(page)].filter(
      ({ method, path }) => method === 'GET' || path === '/policy/explain',
    ),
    jsonRoute(
      'GET /status',
      'Show the version, the project and the limits of the server',
      { answer: ServerStatus },
      () => page.status(),
    ),
    jsonRoute(
      'GET /evaluations',
      'List evaluations; those of a fleet are stored where `eval --workers` ran',
      { answer: Evaluations },
      () => ({ evaluations: [] }),
    ),
    eventRoute('/changes', 'Learn about new questions, runs and skills', { query: z.strictObject({}) }, ({ signal }) =>
      changes(page.state, { signal, pollMs: page.pollMs }),
    ),
  ];
}
