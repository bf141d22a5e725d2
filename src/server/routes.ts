import type { ServerContext } from './context.ts';
import type { Route } from './router.ts';
import { catalogRoutes } from './routes/catalog.ts';
import { approvalRoutes, evaluationRoutes, policyRoutes, statusRoutes } from './routes/govern.ts';
import { packRoutes } from './routes/packs.ts';
import { runControlRoutes } from './routes/run-control.ts';
import { runRoutes } from './routes/runs.ts';
import { skillRoutes } from './routes/skills.ts';

/** Every route of the API. */
export function apiRoutes(context: ServerContext): readonly Route[] {
  return [
    ...statusRoutes(context),
    ...skillRoutes(context),
    ...catalogRoutes(context),
    ...packRoutes(context),
    ...runRoutes(context),
    ...runControlRoutes(context),
    ...approvalRoutes(context),
    ...policyRoutes(context),
    ...evaluationRoutes(context),
  ];
}
