/** The routes that the console uses besides those of the fleet, in the same shapes as on one machine. */
import { DEFAULT_BUDGET } from '#core';

import { VERSION } from '../version.ts';
import { readingRoutes, type Route, type RunRecords } from '#server';
import type { FleetContext, FleetPage } from './context.ts';
import { runFileRoute } from './run-files.ts';
import type { Identity } from './keys.ts';

const CHANGE_MS = 500;
/** Of runs: those of the fleet answer with every attempt. Of skills: the machine of the server says nothing about the workers. */
const OTHERS: ReadonlySet<string> = new Set(['/runs/{id}/events', '/isolation']);

/** All of them only read. */
export function consoleRoutes(
  { pool, contents }: Pick<FleetContext, 'pool' | 'contents'>,
  { runtime, surroundings }: FleetPage,
  { project, rights }: Identity,
  records: RunRecords,
): readonly Route[] {
  // Asked twice a second for each open page, so it reads open runs only.
  const state = async (): Promise<Readonly<Record<string, string | number>>> => {
    const { rows } = await pool.query<{ runs: number; active: number; newest: string | null; questions: string }>(
      `select count(*)::int as runs, count(*) filter (where state = 'running')::int as active,
         (select id || ' ' || state || ' ' || attempt from skillwright.runs where project = $1 order by submitted_at desc limit 1) as newest,
         (select coalesce(string_agg(a.run || a.id || a.asked_at, ' ' order by a.asked_at), '') from skillwright.approvals a
          join skillwright.runs r on r.id = a.run where r.project = $1 and r.state in ('queued', 'running', 'waiting') and a.verdict is null) as questions
       from skillwright.runs where project = $1 and state in ('queued', 'running', 'waiting')`,
      [project],
    );
    const [{ runs, active, newest, questions } = { runs: 0, active: 0, newest: '', questions: '' }] = rows;
    return {
      approvals: questions === '' ? 0 : questions.split('sha256:').length - 1,
      questions,
      answered: 0,
      runs,
      newest: newest ?? '',
      active,
      skills: runtime.index.indexHash,
    };
  };
  const status = async () => ({
    version: VERSION,
    project,
    model: 'fleet',
    reason: 'the workers of the fleet choose the model',
    isFleet: true,
    rights: (['submit', 'approve'] as const).filter((one) => rights.includes(one) || rights.includes('admin')),
    canInstall: false,
    canEvaluate: false,
    canChooseModel: false,
    runs: Number((await state())['active'] ?? 0),
    limits: { runs: 0, uploadBytes: 0, bodyBytes: 1_048_576 },
    budget: { ...DEFAULT_BUDGET },
  });
  const reading = readingRoutes(records, { options: { runtime }, surroundings, status, state, pollMs: CHANGE_MS });
  return [...reading.filter(({ path }) => !OTHERS.has(path)), runFileRoute({ pool, contents }, project)];
}
