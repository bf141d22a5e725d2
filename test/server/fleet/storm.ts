/**
 * A fleet under load whose worker, server and database are ended by kill -9 at random moments. Afterwards everything that was accepted
 * must have been done once.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { FleetClient, FleetRun } from '../../../src/client.ts';
import { chunk, sendJson, serve, startStream } from '../../model/local-server.ts';
import type { LocalServer } from '../../model/local-server.ts';
import { openFleetProcesses, retried, stop, until } from './fleet-processes.ts';
import type { FleetProcesses } from './fleet-processes.ts';

export interface StormOptions {
  /** Where the built command is. */
  readonly project: string;
  readonly kills: number;
  readonly seed: number;
  readonly onNote?: (note: string) => void;
}

export interface StormResult {
  readonly kills: Readonly<Record<string, number>>;
  readonly accepted: number;
  readonly handedOver: number;
  readonly approvals: number;
  /** Runs that were set aside because three workers were killed while they had it. */
  readonly setAside: number;
  /** What must not be. */
  readonly problems: readonly string[];
}

const WORKERS = 2;
/** Runs that are open at the same time. */
const CLIENTS = 4;
/** Every so many runs has an action that needs an approval and leaves a line in a file. */
const APPROVED_EACH = 3;

export async function storm({ project, kills, seed, onNote = () => undefined }: StormOptions): Promise<StormResult> {
  const random = openRandom(seed);
  const fleet = await openFleetProcesses(project);
  const effects = path.join(fleet.folder, 'effects');
  mkdirSync(effects);
  const model = await openModel(effects);
  try {
    const hook = await serve((response) => sendJson(response, {}));
    const granted = ['--webhooks-to', `private://${new URL(hook.url).host}`];
    const first = await fleet.serve(...granted);
    // Restarted at the same port, as behind a service.
    const { port } = new URL(first.found);
    const { admin, secret } = first;
    await postJson(`${first.found}/api/v1/webhooks`, secret, { url: hook.url });
    const up = new Map<string, ChildProcess>([['server', first.child]]);
    const startWorker = async (name: string): Promise<void> => {
      const words = ['worker', '--data', path.join(fleet.folder, name), '--executor', 'local', '--slots', '4'];
      const env = { ...fleet.env(), OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_MODEL: 'storm' };
      up.set(name, (await retried(() => fleet.start(words, /^worker (\S+):/m, env))).child);
    };
    const startServer = async (): Promise<void> => {
      const words = ['serve', '--port', port, ...granted];
      up.set('server', (await retried(() => fleet.start(words, /(http:\S+)\n/))).child);
    };
    const workers = Array.from({ length: WORKERS }, (_, index) => `worker-${String(index)}`);
    await Promise.all(workers.map(startWorker));

    const load = openLoad(admin);
    const counts: Record<string, number> = { worker: 0, server: 0, database: 0 };
    const restarts = new Set<Promise<void>>();
    const again = (name: string, start: () => Promise<void>): void => {
      const restart: Promise<void> = start().finally(() => restarts.delete(restart));
      restart.catch((error: unknown) => onNote(`${name} does not start: ${String(error)}`));
      restarts.add(restart);
    };
    for (let kill = 1; kill <= kills; kill += 1) {
      // A fleet that is down does nothing that could go wrong.
      await until(() => up.has('server') && workers.some((name) => up.has(name)));
      await sleep(random() * 500);
      const alive = [...workers.filter((name) => up.has(name)), ...(up.has('server') ? ['server'] : [])];
      const dice = random();
      const victim = dice < 0.2 ? 'database' : (alive[Math.floor(random() * alive.length)] ?? 'database');
      const kind = victim.split('-')[0] ?? '';
      counts[kind] = (counts[kind] ?? 0) + 1;
      if (kill % 20 === 0) onNote(`${String(kill)} kills, ${String(load.accepted.size)} runs accepted`);
      if (victim === 'database') {
        fleet.postgres.kill();
        await retried(() => Promise.resolve().then(() => fleet.postgres.start()));
        continue;
      }
      const child = up.get(victim);
      up.delete(victim);
      if (child !== undefined) await stop(child, 'SIGKILL');
      again(victim, victim === 'server' ? startServer : () => startWorker(victim));
    }
    onNote('the last kill; waiting for the processes');
    await Promise.all(restarts);
    onNote('all processes are up');
    await load.finish();
    onNote(`${String(load.accepted.size)} runs have ended; checking them`);
    const found = await check(fleet, { admin, accepted: load.accepted, effects });
    await hook.close();
    return { kills: counts, accepted: load.accepted.size, ...found };
  } finally {
    await model.close();
    await fleet.close();
  }
}

interface Load {
  /** Numbers of requests by run. */
  readonly accepted: ReadonlyMap<string, number>;
  /** Submits no more, and waits until everything has ended. */
  finish(): Promise<void>;
}

/** Clients that submit a run, answer its question and wait for its end. They repeat what fails, as clients of a service do. */
function openLoad(admin: FleetClient): Load {
  const accepted = new Map<string, number>();
  const over = new AbortController();
  let next = 0;
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const number = next;
      next += 1;
      const { run } = await retried(() =>
        admin.submit({ request: `storm ${String(number)}`, idempotencyKey: `storm-${String(number)}` }),
      );
      accepted.set(run, number);
      await untilEnded(admin, run);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  return {
    accepted,
    async finish() {
      over.abort();
      await Promise.all(clients);
    },
  };
}

async function untilEnded(admin: FleetClient, run: string): Promise<void> {
  for (;;) {
    const { state } = await retried(() => admin.wait(run));
    if (state === 'ended') return;
    const questions = await retried(() => admin.questions());
    for (const { id } of questions.filter((question) => question.run === run))
      // Answered twice if the first answer was not heard: the second is refused.
      await admin.answer(run, id, { verdict: 'yes', scope: 'once' }).catch(() => undefined);
    await sleep(50);
  }
}

async function check(
  { postgres }: FleetProcesses,
  {
    admin,
    accepted,
    effects,
  }: { readonly admin: FleetClient; readonly accepted: ReadonlyMap<string, number>; readonly effects: string },
): Promise<Omit<StormResult, 'kills' | 'accepted'>> {
  const problems: string[] = [];
  const table = (sql: string): readonly (readonly string[])[] =>
    postgres
      .query(sql)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('|'));
  const stored = table('select id from skillwright.runs');
  if (stored.length !== accepted.size)
    problems.push(`${String(accepted.size)} runs were accepted, ${String(stored.length)} are stored`);
  for (const [run, endings] of table(
    `select r.id, (select count(*) from skillwright.attempts a where a.run = r.id and a.ending = r.outcome) from skillwright.runs r
     where r.outcome = 'done'`,
  ))
    if (endings !== '1') problems.push(`${String(run)} was done ${String(endings)} times`);
  for (const [run, count] of table(
    `select r.id, count(d.id) from skillwright.runs r left join skillwright.deliveries d on d.body->>'run' = r.id group by r.id having count(d.id) <> 1`,
  ))
    problems.push(`${String(run)} was announced ${String(count)} times`);
  let setAside = 0;
  for (const [id, number] of accepted) {
    const run = await admin.run(id);
    if (run.reason?.startsWith('set aside') === true) setAside += 1;
    else problems.push(...runProblems(run, number));
    for (const { attempt, status, problems: found } of (await admin.integrity(id)).records)
      if (status !== 'intact' && status !== 'torn')
        problems.push(`${id}, attempt ${String(attempt)}, is ${status}: ${found.join('; ')}`);
    // An interrupted program runs again under the same key.
    const keys = readdirSync(effects).filter((name) => name.startsWith(`${String(number)}.`));
    if (keys.length > 1) problems.push(`the action of ${id} was done under ${String(keys.length)} keys`);
  }
  const approvals = table(
    `select a.run, a.id, a.verdict, a.used_at is not null from skillwright.approvals a join skillwright.runs r on r.id = a.run
     where r.outcome = 'done'`,
  );
  for (const [run, id, verdict, isUsed] of approvals) {
    if (verdict !== 'yes' || isUsed !== 't')
      problems.push(`the approval ${String(id)} of ${String(run)} was not applied`);
  }
  const [[handedOver] = []] = table(`select count(*) from skillwright.attempts where ending = 'lost'`);
  return { problems, setAside, approvals: approvals.length, handedOver: Number(handedOver) };
}

function runProblems({ run, state, outcome, answer, reason }: FleetRun, number: number): readonly string[] {
  if (state === 'ended' && outcome === 'done' && answer === `done ${String(number)}`) return [];
  return [`${run} (storm ${String(number)}) is ${state}: ${outcome ?? ''} ${answer ?? ''} ${reason ?? ''}`];
}

/** A model that decides by the conversation alone, so it does not matter which worker asks. */
function openModel(effects: string): Promise<LocalServer> {
  return serve((response, _turn, { body }) => {
    const text = JSON.stringify(body);
    const number = /storm (\d+)/.exec(text)?.[1] ?? '';
    const step = [...text.matchAll(/"role":"tool"/g)].length;
    const isApproved = Number(number) % APPROVED_EACH === 0;
    const script: readonly (readonly [name: string, input: object])[] = [
      ['load_skill', { skill: 'greet' }],
      isApproved
        ? [
            'run_command',
            {
              skill: 'greet',
              command: `: > ${path.join(effects, number)}."$(printf %s "$SKILLWRIGHT_IDEMPOTENCY_KEY" | tr / _)"`,
            },
          ]
        : ['search_skills', { query: 'hello' }],
    ];
    const call = script[step];
    const stream = startStream(response);
    if (call === undefined) stream.write(chunk({ role: 'assistant', content: `done ${number}` }));
    else {
      const [name, input] = call;
      const made = { name, arguments: JSON.stringify(input) };
      const calls = [{ index: 0, id: `call-${String(step)}`, type: 'function', function: made }];
      stream.write(chunk({ role: 'assistant', tool_calls: calls }));
    }
    stream.end(`${chunk({}, call === undefined ? 'stop' : 'tool_calls')}data: [DONE]\n\n`);
  });
}

async function postJson(url: string, key: string, body: object): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function openRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
