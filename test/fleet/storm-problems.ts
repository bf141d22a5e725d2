/** What must not be after a storm. */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import type { FleetClient, FleetRun } from '../../src/client.ts';
import { retried, until } from './fleet-processes.ts';
import type { Postgres } from './postgres.ts';
import { NOTE, isAsked, isCancelled, isRefused } from './storm-requests.ts';

export interface StormProblems {
  readonly outcomes: Readonly<Record<string, number>>;
  /** Attempts by how they ended. */
  readonly attempts: Readonly<Record<string, number>>;
  /** Repairs by what was found. */
  readonly repairs: Readonly<Record<string, number>>;
  readonly approvals: number;
  /** Runs that were set aside because three workers were killed while they had it. */
  readonly setAside: number;
  /** Executions of programs. */
  readonly ran: number;
  /** Programs that were interrupted and ran again under the same key, as the page says. */
  readonly repeated: number;
  /** Records by status. */
  readonly records: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

interface Stormed {
  readonly admin: FleetClient;
  /** Numbers of requests by run. */
  readonly accepted: ReadonlyMap<string, number>;
  readonly effects: string;
}

const IN_FLIGHT = `from dbos.workflow_status where queue_name = 'runs' and status in ('ENQUEUED', 'DELAYED', 'PENDING')`;

export async function stormProblems(postgres: Postgres, { admin, accepted, effects }: Stormed): Promise<StormProblems> {
  const problems: string[] = [];
  const table = (sql: string): readonly (readonly string[])[] =>
    postgres
      .query(sql)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('|'));
  const counts = (sql: string): Readonly<Record<string, number>> =>
    Object.fromEntries(table(sql).map(([name = '', count]) => [name, Number(count)]));
  const outcomes = counts(
    `select state || coalesce(' ' || outcome, ''), count(*) from skillwright.runs group by 1 order by 1`,
  );
  const [[stored, counted] = []] = table(
    `select count(*), (select sum(count) from skillwright.totals where kind = 'end') from skillwright.runs`,
  );
  if (stored !== String(accepted.size) || counted !== stored)
    problems.push(
      `${String(accepted.size)} runs were accepted, ${String(stored)} are stored, ${String(counted)} ends are counted`,
    );
  for (const [run, endings] of table(
    `select r.id, (select count(*) from skillwright.attempts a where a.run = r.id and a.ending = r.outcome) from skillwright.runs r
     where r.outcome = 'done'`,
  ))
    if (endings !== '1') problems.push(`${String(run)} was done ${String(endings)} times`);
  for (const [run, count] of table(
    `select r.id, count(d.id) from skillwright.runs r left join skillwright.deliveries d on d.body->>'run' = r.id group by r.id having count(d.id) <> 1`,
  ))
    problems.push(`${String(run)} was announced ${String(count)} times`);
  // Places of lost workers are removed seconds later.
  const end = performance.now() + 60_000;
  await until(() => performance.now() > end || postgres.query(`select count(*) ${IN_FLIGHT}`) === '0');
  for (const [entry, status] of table(`select workflow_uuid, status ${IN_FLIGHT}`))
    problems.push(`the queue still has ${String(entry)}: ${String(status)}`);

  const endings = new Map(
    table('select run, attempt, ending from skillwright.attempts').map(([run = '', attempt = '', ending = '']) => [
      `${run} ${attempt}`,
      ending,
    ]),
  );
  const again = counts(
    `select run, count(*) from skillwright.lines where seq = 1 and line::jsonb->'event'->'agent'->'resumes' ? 'again' group by run`,
  );
  const executed = executions(effects);
  const records: Record<string, number> = {};
  let [setAside, ran, repeated] = [0, 0, 0];
  for (const [id, number] of accepted) {
    const run = await retried(() => admin.run(id));
    if (run.reason?.startsWith('set aside') === true) setAside += 1;
    else problems.push(...runProblems(run, number));
    for (const { attempt, status, problems: found } of (await retried(() => admin.integrity(id))).records) {
      records[status] = (records[status] ?? 0) + 1;
      const ending = endings.get(`${id} ${String(attempt)}`) ?? '';
      const isCutShort = ['lost', 'returned'].includes(ending);
      if (status !== 'intact' && !(isCutShort && status === 'torn'))
        problems.push(`${id}, attempt ${String(attempt)} (${ending}), is ${status}: ${found.join('; ')}`);
    }
    const done = executed.get(number) ?? new Map<string, number>();
    if (done.size > 1) problems.push(`the action of ${id} was done under ${String(done.size)} keys`);
    const times = [...done.values()].reduce((sum, one) => sum + one, 0);
    if (times > 0 && isRefused(number)) problems.push(`${id} did what was refused`);
    if (times === 0 && run.outcome === 'done' && isAsked(number)) problems.push(`the program of ${id} had no effect`);
    ran += times;
    if (times > 1) repeated += times - 1;
    if (times > 1 + (again[id] ?? 0))
      problems.push(
        `the program of ${id} ran ${String(times)} times, and ${String(again[id] ?? 0)} records say that it ran again`,
      );
  }
  const approvals = table(
    `select a.run, a.id, a.verdict, a.used_at is not null from skillwright.approvals a join skillwright.runs r on r.id = a.run
     where r.outcome = 'done'`,
  );
  for (const [run, id, verdict, isUsed] of approvals)
    if (verdict === '' || isUsed !== 't') problems.push(`the approval ${String(id)} of ${String(run)} was not applied`);
  return {
    outcomes,
    attempts: counts(`select coalesce(ending, 'open'), count(*) from skillwright.attempts group by 1 order by 1`),
    repairs: counts(`select label, sum(count) from skillwright.totals where kind = 'repair' group by 1 order by 1`),
    approvals: approvals.length,
    setAside,
    ran,
    repeated,
    records,
    problems,
  };
}

/** How often the program of each request ran, by idempotency key. */
function executions(effects: string): ReadonlyMap<number, ReadonlyMap<string, number>> {
  const found = new Map<number, Map<string, number>>();
  for (const name of readdirSync(effects)) {
    const number = Number(name.slice(0, name.indexOf('.')));
    const lines = readFileSync(path.join(effects, name), 'utf8').split('\n').length - 1;
    const keys = found.get(number) ?? new Map<string, number>();
    found.set(number, keys.set(name, lines));
  }
  return found;
}

function runProblems({ run, state, outcome, answer, reason }: FleetRun, number: number): readonly string[] {
  const expected = isRefused(number)
    ? ['refused', `done ${String(number)}: ${NOTE}`]
    : ['done', `done ${String(number)}`];
  if (state === 'ended' && outcome === expected[0] && answer === expected[1]) return [];
  if (state === 'ended' && outcome === 'cancelled' && isCancelled(number)) return [];
  return [`${run} (storm ${String(number)}) is ${state}: ${outcome ?? ''} ${answer ?? ''} ${reason ?? ''}`];
}
