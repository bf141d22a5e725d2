import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { AttachedWorkspace, Executor, ProgramEnd, RunLimits } from '../../src/core/execution.ts';
import type { Aftermath, AttackCase } from './attack-case.ts';
import { changesOutside, holdsSecret, openAttackHost, type AttackHost } from './attack-host.ts';
import { collected, openWorkspace } from './sandbox.ts';

export interface AttackOutcome {
  readonly number: number;
  readonly name: string;
  readonly reason: ProgramEnd['reason'];
  readonly damage: readonly string[];
}

/** A workspace beside a host with secrets. Attacks run in it one after the other, as the programs of one session do. */
export interface AttackField {
  run(attack: AttackCase): Promise<AttackOutcome>;
  /** Waits for what reaches the host late, and gives the damage. */
  close(): Promise<readonly string[]>;
}

/** `secret` is also what the process that calls has in its environment and descriptors. */
export async function openAttackField(executor: Executor, secret: string): Promise<AttackField> {
  const { workspace, root, skill, base, close } = await openWorkspace(executor);
  const host = await openAttackHost(base, secret, executor.identity);
  const read = (name: string): string => {
    const file = path.join(root, 'out', name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  let attacks = 0;
  return {
    run: async (attack) => {
      const found = await attempt(attack, workspace, host);
      const damage = await attack.judge({ ...found, host, root, skill, read });
      const all = [...damage, ...commonDamage(host, root, found.stdout), ...unexpected(attack, found.end)];
      clear(root, path.join(base, `left-${String(attacks)}`));
      attacks += 1;
      return { number: attack.number, name: attack.name, reason: found.end.reason, damage: all };
    },
    close: async () => {
      await delay(LATE_MS);
      const damage = commonDamage(host, root, '');
      await host.close();
      await close();
      return damage;
    },
  };
}

const LATE_MS = 200;

/** Moves what an attack left out of sight of the next. The folders stay, because containers have them mounted. */
function clear(root: string, to: string): void {
  mkdirSync(to);
  for (const folder of ['out', 'work'])
    for (const name of readdirSync(path.join(root, folder), { encoding: 'buffer' })) {
      // Names need not be text.
      const at = (parent: string): Buffer => Buffer.concat([Buffer.from(`${parent}/${folder}-`), name]);
      const file = Buffer.concat([Buffer.from(`${path.join(root, folder)}/`), name]);
      if (folder === 'work' && name.toString() === 'inputs') continue;
      if (lstatSync(file).isDirectory()) chmodSync(file, 0o700);
      renameSync(file, at(to));
    }
}

async function attempt(
  { language, script, limits }: AttackCase,
  workspace: AttachedWorkspace,
  host: AttackHost,
): Promise<Pick<Aftermath, 'end' | 'stdout' | 'outputBytes' | 'limits'>> {
  const text = script({ host, root: workspace.root });
  const all: RunLimits = {
    wallMs: 30_000,
    memoryBytes: 256 * 1024 * 1024,
    processes: 64,
    outputBytes: 1024 * 1024,
    fileBytes: 32 * 1024 * 1024,
    diskBytes: 64 * 1024 * 1024,
    files: 2000,
    ...limits,
  };
  const { end, stdout } = await collected(workspace, [language, '-c', text], { limits: all });
  return { end, stdout, outputBytes: Buffer.byteLength(stdout), limits: all };
}

function commonDamage(host: AttackHost, root: string, stdout: string): readonly string[] {
  return [
    ...changesOutside(host).map((change) => `changed ${change}`),
    ...host.reached().map((what) => `reached ${what}`),
    ...(host.isVictimAlive() ? [] : ['killed the victim']),
    ...(stdout.includes(host.secret) ? ['printed the secret'] : []),
    ...['out', 'work']
      .flatMap((name) => holdsSecret(path.join(root, name), host.secret))
      .map((file) => `secret in ${file}`),
  ];
}

function unexpected({ reasons }: AttackCase, { reason }: ProgramEnd): readonly string[] {
  return reasons === undefined || reasons.includes(reason) ? [] : [`it ended with ${reason}`];
}
