import { countText, printable, quoted, type SkillError } from '#core';
import { RIGHTS, type Fleet } from '#fleet';
import { defineCommand, list, option, toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { bytesText, milliseconds } from '../terminal/quantities.ts';
import { FLEET_FLAGS, fleetOptions, openFleetFor } from './fleet-flags.ts';

/** The name under which the audit lists what this command does. */
const ACTOR = 'fleet keys';

const flags = {
  ...FLEET_FLAGS,
  project: option('NAME', 'the project of the key (default: default), of status and prune (default: all)'),
  rights: list('RIGHT', 'a right of the new key (default: submit and read)', { choices: RIGHTS }),
  'older-than': option('TIME', 'prune: remove runs that ended before TIME, e.g. 12h, 30d, 8w'),
  'dry-run': toggle('prune: print how many runs and contents would be removed'),
} as const;

type FleetInvocation = Invocation<typeof flags>;

export const command = defineCommand({
  usage:
    'fleet [status] | fleet migrate | fleet prune --older-than TIME | fleet keys [list] | fleet keys create NAME [--rights RIGHT] | fleet keys revoke ID',
  details: [
    'Shows workers and runs, upgrades the tables, and manages keys, by talking to the database. A key belongs to one project and is shown once.',
    'Rights: submit (submit and cancel runs), read, approve (answer questions), admin (everything in the project).',
    'prune removes old uploads, ended runs with their records, approvals and places in the queue, and contents that nothing names and that were saved more than a day ago; with contents in S3 it needs --artifacts. Artifacts and the audit stay.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright fleet status', 'show workers and runs by state'],
    ['skillwright fleet keys create ci --rights submit --rights read', 'create a key and print it'],
    ['skillwright fleet prune --older-than 90d --dry-run', 'count the runs that would be removed'],
  ],
  positionals: [0, 3],
  async run(invocation) {
    const { flags: flagValues, positionals } = invocation;
    const [verb = 'status', act = 'list', name = ''] = positionals;
    if (!['status', 'migrate', 'prune', 'keys'].includes(verb) || (verb !== 'keys' && positionals.length > 1))
      throw usage();
    const options = fleetOptions(invocation);
    const olderThan = milliseconds(flagValues['older-than'], '--older-than');
    if (verb === 'prune' && olderThan === undefined)
      throw usageError('missing argument: --older-than', 'e.g. skillwright fleet prune --older-than 90d');
    const fleet = await openFleetFor(options);
    try {
      if (olderThan !== undefined && verb === 'prune') return await prune(invocation, fleet, olderThan);
      if (verb === 'status') return await status(invocation, fleet);
      if (verb === 'migrate') {
        invocation.terminal.remark('the tables are up to date');
        return EXIT.done;
      }
      if (act === 'list' && positionals.length <= 2) return await keys(invocation, fleet);
      if (act === 'create' && positionals.length === 3) return await create(invocation, fleet, name);
      if (act === 'revoke' && positionals.length === 3) return await revoke(invocation, fleet, name);
      throw usage();
    } finally {
      await fleet.close();
    }
  },
});

async function status({ flags: options, terminal }: FleetInvocation, { pool }: Fleet): Promise<number> {
  const { fleetState } = await import('#fleet');
  const state = await fleetState(pool, options.project);
  if (terminal.printJson({ ...state })) return EXIT.done;
  for (const { id, version, running, slots, isDraining, seenAt } of state.workers)
    terminal.out(
      `${printable(id)}  ${printable(version)}  ${String(running)} of ${String(slots)} slots${isDraining ? '  draining' : ''}  seen ${seenAt}`,
    );
  if (state.workers.length === 0)
    terminal.remark('no worker was seen in the last minute; start one: skillwright worker');
  const counts = Object.entries(state.runs).map(([name, count]) => `${String(count)} ${name}`);
  terminal.out(`open runs: ${counts.length === 0 ? 'none' : counts.join(', ')}`);
  return EXIT.done;
}

async function prune(
  { flags: options, terminal }: FleetInvocation,
  fleet: Fleet,
  olderThanMs: number,
): Promise<number> {
  const { pruneFleet } = await import('#fleet');
  const isDryRun = options['dry-run'] === true;
  const { unreachable, before, runs, entries, contents, bytes } = await pruneFleet(fleet, olderThanMs, {
    project: options.project,
    isDryRun,
    onProgress: (count) => terminal.isInteractive && terminal.remark(`${String(count)} runs removed`),
  });
  if (unreachable > 0)
    terminal.remark(`contents in a bucket that nothing names: ${String(unreachable)}; pass --artifacts to remove them`);
  const time = before.toISOString();
  if (!terminal.printJson({ runs, entries, contents, bytes, before: time, isDryRun }))
    terminal.out(
      `${isDryRun ? 'would remove' : 'removed'} ${countText(runs, 'run')} that ended before ${time}, and ${countText(contents, 'content')} (${bytesText(bytes)})`,
    );
  return EXIT.done;
}

async function keys({ flags: options, terminal }: FleetInvocation, { pool }: Fleet): Promise<number> {
  const { listKeys } = await import('#fleet');
  const found = await listKeys(pool, options.project ?? 'default');
  if (!terminal.printJson({ keys: found }))
    for (const { id, name, rights, revokedAt } of found)
      terminal.out(`${id}  ${printable(name)}  ${rights.join(' ')}${revokedAt === null ? '' : '  revoked'}`);
  return EXIT.done;
}

async function create({ flags: options, terminal }: FleetInvocation, { pool }: Fleet, name: string): Promise<number> {
  const { createKey } = await import('#fleet');
  const rights = RIGHTS.filter((right) => (options.rights ?? ['submit', 'read']).includes(right));
  const { key, secret } = await createKey(pool, { name, project: options.project ?? 'default', rights }, ACTOR);
  if (!terminal.printJson({ key, secret })) {
    terminal.out(secret);
    terminal.remark(`key ${key.id} of project ${key.project} may ${rights.join(', ')}; it is not shown again`);
  }
  return EXIT.done;
}

async function revoke({ flags: options, terminal }: FleetInvocation, { pool }: Fleet, id: string): Promise<number> {
  const { revokeKey } = await import('#fleet');
  const project = options.project ?? 'default';
  if (!(await revokeKey(pool, { actor: ACTOR, project }, id)))
    throw usageError(`project ${project} has no key ${quoted(id)}`, 'list the keys: skillwright fleet keys');
  terminal.remark(`key ${id} is revoked`);
  return EXIT.done;
}

function usage(): SkillError {
  return usageError('invalid arguments', `usage: skillwright ${command.usage}`);
}
