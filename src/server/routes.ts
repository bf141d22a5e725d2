import { openFolderApprovals } from './approvals.ts';
import type { ServerContext } from './context.ts';
import { openFolderRecords } from './records.ts';
import type { Route } from './router.ts';
import { catalogRoutes } from './routes/catalog.ts';
import { approvalRoutes, evaluationRoutes, policyRoutes, statusRoutes } from './routes/govern.ts';
import { packRoutes } from './routes/packs.ts';
import { runControlRoutes } from './routes/run-control.ts';
import { runRoutes } from './routes/runs.ts';
import { skillRoutes } from './routes/skills.ts';

/** Every route of the API. */
export function apiRoutes(context: ServerContext): readonly Route[] {
  const { options, surroundings, starter } = context;
  const records = openFolderRecords({
    directory: options.directory,
    home: surroundings.home,
    own: { isOwn: (run) => starter.find(run) !== undefined, outputs: starter.outputs },
  });
  return [
    ...statusRoutes(context),
    ...skillRoutes(context),
    ...catalogRoutes(context),
    ...packRoutes(context),
    ...runRoutes(records, (run) => starter.find(run)?.live),
    ...runControlRoutes(context),
    ...approvalRoutes(openFolderApprovals(surroundings.home, starter.askedBy)),
    ...policyRoutes(context),
    ...evaluationRoutes(context),
  ];
}
