/**
 * A fleet under load. Its workers, servers and database are ended by kill -9, and their connections to the database are cut, at random moments
 * and at chosen statements. Afterwards everything that was accepted must have ended, and its effects must have happened once.
 */
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { openFleetClient, type FleetClient, type FleetRun } from '../../src/client.ts';
import { sendJson, serve, type LocalServer } from '../model/local-server.ts';
import { serveConversation } from './conversation-model.ts';
import { openDatabaseProxy, type DatabaseProxy, type Moment } from './database-proxy.ts';
import { openEffects, openFleetProcesses, retried, stop, until } from './fleet-processes.ts';
import { NOTE, isAsked, isCancelled, isRefused } from './storm-requests.ts';
import { stormProblems, type StormProblems } from './storm-problems.ts';

export interface StormOptions {
  /** Where the built command is. */
  readonly project: string;
  /** Processes that are ended by kill -9; about as many connections are cut besides. */
  readonly kills: number;
  /** Runs that are submitted at least. */
  readonly runs: number;
  readonly seed: number;
  readonly workers?: number;
  readonly servers?: number;
  /** Runs that are open at the same time. */
  readonly clients?: number;
  readonly onNote?: (note: string) => void;
}

export interface StormResult extends StormProblems {
  readonly kills: Readonly<Record<string, number>>;
  /** Connections that were cut for less than a heartbeat, and for longer than it takes until a worker counts as lost. */
  readonly cuts: Readonly<Record<string, number>>;
  /** How often each statement was interrupted. */
  readonly moments: Readonly<Record<string, number>>;
  readonly accepted: number;
}

/** What a process was doing when it was killed or cut off. */
interface Phase extends Moment {
  readonly name: string;
  readonly by: 'worker' | 'server';
}

/** Statements by name. Those of a transaction are interrupted at its commit, too. */
const STATEMENTS: readonly (readonly [name: string, by: Phase['by'], statement: string, isTransaction?: true])[] = [
  ['dequeue', 'worker', 'FOR UPDATE NOWAIT'],
  ['claim', 'worker', 'claim\0'],
  ['heartbeat', 'worker', 'skillwright.counters'],
  ['record', 'worker', 'append\0'],
  ['use of an approval', 'worker', 'set used_at = now()'],
  ['question', 'worker', 'insert into skillwright.approvals'],
  ['finish', 'worker', 'end\0'],
  ['take-over or return', 'worker', 'queue-next', true],
  ['submission', 'server', 'submit\0', true],
  ['answer', 'server', 'update skillwright.approvals set verdict', true],
  ['cancellation', 'server', 'set is_cancelled = true', true],
];

const PHASES: readonly Phase[] = STATEMENTS.flatMap(([name, by, statement, isTransaction]) =>
  (['before', 'after', ...(isTransaction === true ? (['commit'] as const) : [])] as const).map((when) => ({
    name: `${when} ${name}`,
    by,
    statement,
    when,
  })),
);

/** How long a fault waits for its statement. */
const FAULT_MS = 3_000;
/** Longer than it takes until a worker counts as lost. */
const LONG_CUT_MS = 3_500;

interface Part {
  readonly kind: Phase['by'];
  readonly name: string;
  readonly proxy: DatabaseProxy;
  readonly start: () => Promise<ChildProcess>;
  child?: ChildProcess | undefined;
}

export async function storm({
  project,
  kills,
  runs,
  seed,
  workers = 2,
  servers = 1,
  clients = 4,
  onNote = () => undefined,
}: StormOptions): Promise<StormResult> {
  const random = openRandom(seed);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const fleet = await openFleetProcesses(project);
  const effects = openEffects();
  const model = await openModel(effects);
  const proxies: DatabaseProxy[] = [];
  const openProxy = async (): Promise<DatabaseProxy> => {
    const proxy = await openDatabaseProxy(fleet.postgres.url);
    proxies.push(proxy);
    return proxy;
  };
  try {
    const hook = await serve((response) => sendJson(response, {}));
    const granted = ['--webhooks-to', `private://${new URL(hook.url).host}`];
    const secret = fleet.run('fleet', 'keys', 'create', 'admin', '--rights', 'admin').trim();
    const parts: Part[] = [];
    const admins: FleetClient[] = [];
    for (let index = 0; index < servers; index += 1) {
      const proxy = await openProxy();
      const start = (port: string): Promise<ChildProcess> =>
        retried(() => fleet.start(['serve', '--port', port, ...granted], /(http:\S+)\n/, fleet.env(proxy.url))).then(
          ({ child, found }) => {
            url = found;
            return child;
          },
        );
      let url = '';
      const child = await start('0');
      const { port } = new URL(url);
      admins.push(openFleetClient({ url, key: secret }));
      // Restarted at the same port, as behind a service.
      parts.push({ kind: 'server', name: `server-${String(index)}`, proxy, start: () => start(port), child });
      if (index === 0) await postJson(`${url}/api/v1/webhooks`, secret, { url: hook.url });
    }
    for (let index = 0; index < workers; index += 1) {
      const [name, proxy] = [`worker-${String(index)}`, await openProxy()];
      const words = ['worker', '--data', path.join(fleet.folder, name), '--executor', 'local', '--slots', '4'];
      const env = { ...fleet.env(proxy.url), OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_MODEL: 'storm' };
      const start = (): Promise<ChildProcess> =>
        retried(() => fleet.start(words, /^worker (\S+):/m, env)).then(({ child }) => child);
      parts.push({ kind: 'worker', name, proxy, start });
    }
    const restarts = new Set<Promise<void>>();
    const begin = (part: Part): void => {
      const restart: Promise<void> = part
        .start()
        .then((child) => {
          part.child = child;
          // A worker that ends itself is started again, as by its supervisor.
          child.on('exit', () => {
            if (part.child !== child) return;
            part.child = undefined;
            if (!isOver) begin(part);
          });
        })
        .finally(() => restarts.delete(restart));
      restart.catch((error: unknown) => onNote(`${part.name} does not start: ${String(error)}`));
      restarts.add(restart);
    };
    let isOver = false;
    for (const part of parts) if (part.child === undefined) begin(part);
    await Promise.all(restarts);

    const load = openLoad(admins, { random, clients });
    const counts: Record<string, number> = { worker: 0, server: 0, database: 0 };
    const cuts: Record<string, number> = { short: 0, long: 0 };
    const moments: Record<string, number> = {};
    const count = (): number => Object.values(counts).reduce((sum, one) => sum + one, 0);
    const kill = async (part: Part): Promise<void> => {
      const { child } = part;
      if (child === undefined) return;
      counts[part.kind] = (counts[part.kind] ?? 0) + 1;
      part.child = undefined;
      await stop(child, 'SIGKILL');
      begin(part);
    };
    let restarting: Promise<void> | undefined;
    const killDatabase = async (downMs: number): Promise<void> => {
      counts['database'] = (counts['database'] ?? 0) + 1;
      fleet.postgres.kill();
      await sleep(downMs);
      await retried(() => Promise.resolve().then(() => fleet.postgres.start()));
    };
    const cutOff = async ({ proxy }: Part, isLong: boolean): Promise<void> => {
      const kind = isLong ? 'long' : 'short';
      cuts[kind] = (cuts[kind] ?? 0) + 1;
      proxy.cut();
      await sleep(isLong ? LONG_CUT_MS + random() * 2_000 : random() * 300);
      proxy.restore();
    };
    const fault = async (part: Part): Promise<void> => {
      const dice = random();
      if (dice < 0.5) return kill(part);
      if (dice < 0.65)
        return (restarting ??= killDatabase(random() < 0.5 ? 0 : LONG_CUT_MS).finally(() => (restarting = undefined)));
      return cutOff(part, dice < 0.85);
    };
    const busy = new Set<Part>();
    const lane = async (): Promise<void> => {
      while (count() < kills) {
        // A fleet that is down does nothing that could go wrong.
        const isUp = (kind: Phase['by']): boolean => parts.some((one) => one.kind === kind && one.child !== undefined);
        await until(() => isUp('server') && isUp('worker'));
        // Spread over the runs, so that each has its share.
        await until(() => load.accepted.size >= (runs * count()) / kills);
        await sleep(random() * 300);
        const phase = pick(PHASES);
        const part = pick(parts.filter((one) => one.child !== undefined && one.kind === phase?.by && !busy.has(one)));
        if (phase === undefined || part === undefined) continue;
        busy.add(part);
        let fired = random() < 0.2 ? fault(part) : undefined;
        const disarm = part.proxy.at(phase, () => {
          moments[phase.name] = (moments[phase.name] ?? 0) + 1;
          fired ??= fault(part);
        });
        const end = performance.now() + FAULT_MS;
        await until(() => fired !== undefined || performance.now() > end);
        disarm();
        await fired;
        busy.delete(part);
        onNote(`${String(count())} kills, ${String(load.ended())} of ${String(load.accepted.size)} runs ended`);
      }
    };
    await Promise.all([lane(), lane()]);
    onNote(`the last kill; waiting until ${String(runs)} runs are accepted and the processes are up`);
    await until(() => load.accepted.size >= runs);
    await Promise.all(restarts);
    onNote('all processes are up');
    await load.finish();
    onNote(`${String(load.accepted.size)} runs have ended; checking them`);
    const [admin] = admins;
    if (admin === undefined) throw new TypeError('a storm has a server');
    const found = await stormProblems(fleet.postgres, { admin, accepted: load.accepted, effects });
    isOver = true;
    await hook.close();
    return { kills: counts, cuts, moments, accepted: load.accepted.size, ...found };
  } finally {
    await model.close();
    await fleet.close();
    for (const proxy of proxies) proxy.close();
    rmSync(effects, { recursive: true, force: true });
  }
}

interface Load {
  /** Numbers of requests by run. */
  readonly accepted: ReadonlyMap<string, number>;
  ended(): number;
  /** Submits no more, and waits until everything has ended. */
  finish(): Promise<void>;
}

/** Clients that submit a run, answer its question, perhaps cancel it, and wait for its end. They repeat what fails, as clients of a service do. */
function openLoad(
  admins: readonly FleetClient[],
  { random, clients }: { readonly random: () => number; readonly clients: number },
): Load {
  const accepted = new Map<string, number>();
  const over = new AbortController();
  let [next, ended] = [0, 0];
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const number = next;
      next += 1;
      let turn = number;
      const ask = <T>(act: (admin: FleetClient) => Promise<T>): Promise<T> =>
        retried(() => {
          turn += 1;
          const admin = admins[turn % admins.length];
          return admin === undefined ? Promise.reject(new TypeError('no server')) : act(admin);
        });
      const { run } = await ask((admin) =>
        admin.submit({ request: `storm ${String(number)}`, idempotencyKey: `storm-${String(number)}` }),
      );
      accepted.set(run, number);
      const cancelling = isCancelled(number)
        ? sleep(random() * 3_000).then(() => ask((admin) => admin.cancel(run)))
        : undefined;
      await untilEnded(ask, run, isRefused(number));
      await cancelling;
      ended += 1;
    }
  };
  const all = Array.from({ length: clients }, client);
  return {
    accepted,
    ended: () => ended,
    async finish() {
      over.abort();
      await Promise.all(all);
    },
  };
}

async function untilEnded(
  ask: <T>(act: (admin: FleetClient) => Promise<T>) => Promise<T>,
  run: string,
  isNo: boolean,
): Promise<FleetRun> {
  for (;;) {
    const shown = await ask((admin) => admin.wait(run));
    if (shown.state === 'ended') return shown;
    const questions = await ask((admin) => admin.questions());
    for (const { id } of questions.filter((question) => question.run === run))
      // Answered twice if the first answer was not heard: the second is refused.
      await ask((admin) =>
        admin
          .answer(run, id, isNo ? { verdict: 'no', note: NOTE } : { verdict: 'yes', scope: 'once' })
          .catch(() => undefined),
      );
    await sleep(50);
  }
}

function openModel(effects: string): Promise<LocalServer> {
  return serveConversation((step, text) => {
    const number = /storm (\d+)/.exec(text)?.[1] ?? '';
    const file = `${path.join(effects, number)}."$(printf %s "$SKILLWRIGHT_IDEMPOTENCY_KEY" | tr / _)"`;
    if (step === 0) return ['load_skill', { skill: 'greet' }];
    if (step > 1) return `done ${number}${text.includes(NOTE) ? `: ${NOTE}` : ''}`;
    return isAsked(Number(number))
      ? ['run_command', { skill: 'greet', command: `echo done >> ${file}` }]
      : ['search_skills', { query: 'hello' }];
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
