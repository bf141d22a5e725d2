/** The routes of the API, as one table: those of one machine, and those that a server shares whose runs are elsewhere. */
import { z } from 'zod';

import { DEFAULT_BUDGET } from '#core';
import { runIds } from '#journal';
import { openApprovalFiles } from '#policy';
import { VERSION } from '../version.ts';
import { ServerStatus } from './api/govern.ts';
import { openFolderApprovals, type ApprovalBook } from './approvals.ts';
import type { ServerContext, SkillContext } from './context.ts';
import { changes } from './live-stream.ts';
import { openFolderRecords, type RunRecords } from './records.ts';
import { route, type Immutable, type Route } from './router.ts';
import { catalogRoutes } from './routes/catalog.ts';
import { approvalRoutes, evaluationRoutes, policyRoutes } from './routes/govern.ts';
import { packRoutes } from './routes/packs.ts';
import { runControlRoutes } from './routes/run-control.ts';
import { runRoutes } from './routes/runs.ts';
import { skillRoutes } from './routes/skills.ts';

const CHANGE_MS = 200;

interface PageSource extends SkillContext {
  readonly records: RunRecords;
  readonly book: ApprovalBook;
  readonly live?: Parameters<typeof runRoutes>[0]['live'];
  readonly status: () => Immutable<ServerStatus> | Promise<Immutable<ServerStatus>>;
  readonly state: Parameters<typeof changes>[0];
  /** How often the state is read for each open page, which learns about every difference. */
  readonly pollMs: number;
}

/** Every route of the server of one machine. */
export function apiRoutes(context: ServerContext): readonly Route[] {
  const { options, limits, surroundings, starter } = context;
  const { home } = surroundings;
  const readState = (): Readonly<Record<string, string | number>> => {
    const waiting = home === undefined ? [] : openApprovalFiles(home).questions().questions;
    const open = waiting.filter(({ isAnswered }) => !isAnswered);
    return {
      approvals: open.length,
      // A question that is answered and asked again is another state.
      questions: waiting.map(({ asking }) => asking).join(' '),
      answered: waiting.length - open.length,
      runs: runIds(options.directory).length,
      newest: runIds(options.directory)[0] ?? '',
      active: starter.active(),
      mode: options.mode?.name ?? '',
      skills: options.runtime.index.indexHash,
    };
  };
  return [
    ...pageRoutes({
      ...context,
      records: openFolderRecords(options.directory, { home, starter, price: options.price }),
      book: openFolderApprovals(home, starter.askedBy),
      live: (run) => starter.find(run)?.live,
      status: () => ({
        version: VERSION,
        project: surroundings.cwd,
        model: options.model.id,
        reason: options.reasonForModel ?? '',
        rights: ['submit', 'approve'],
        canInstall: true,
        canEvaluate: options.evaluations !== undefined,
        canChooseModel: options.openModel !== undefined,
        mode: options.mode?.name,
        runs: starter.active(),
        limits: { runs: limits.runs, uploadBytes: limits.uploadBytes, bodyBytes: limits.bodyBytes },
        budget: { ...DEFAULT_BUDGET, ...options.agent?.budget },
      }),
      state: readState,
      pollMs: CHANGE_MS,
    }),
    ...packRoutes(context),
    ...runControlRoutes(context),
    ...evaluationRoutes(options.evaluations),
  ];
}

function pageRoutes({ records, book, live, status, state, pollMs, ...context }: PageSource): readonly Route[] {
  return [
    route(
      'GET /status',
      'Show the version, the project, the model and the limits of the server',
      { answer: ServerStatus },
      status,
    ),
    route(
      'GET /changes',
      'Learn about new questions, runs and skills',
      { query: z.strictObject({}), answer: 'events' },
      ({ signal }) => changes(state, { signal, pollMs }),
    ),
    ...skillRoutes(context),
    ...catalogRoutes(context),
    ...runRoutes({ records, live, price: context.options.price }),
    ...approvalRoutes(book),
    ...policyRoutes(context),
  ];
}

/** What changes nothing, or only the runs; the isolation of this machine says nothing about others. */
const SHARED: ReadonlySet<string> = new Set(['POST /policy/explain', 'POST /approvals/{id}']);

/** The routes of the console for a server whose runs are elsewhere. */
export function sharedRoutes(source: PageSource): readonly Route[] {
  return pageRoutes(source).filter(
    ({ method, path }) => (method === 'GET' && path !== '/isolation') || SHARED.has(`${method} ${path}`),
  );
}
