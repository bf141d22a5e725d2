import { setTimeout as delay } from 'node:timers/promises';

import { invalidInput, type Executor } from '#core';
import { type CaseDefinition, type Fixture, type Needs, openFixture } from './fixture.ts';
import { CaseSkipped, type ConformanceCase } from './case.ts';
import { ENDING_CASES } from './ending-cases.ts';
import { ENVIRONMENT_CASES } from './environment-cases.ts';
import { INTERACTION_CASES } from './interaction-cases.ts';
import { ISOLATION_CASES } from './isolation-cases.ts';
import { LIMIT_CASES } from './limit-cases.ts';
import { MOUNT_CASES } from './mount-cases.ts';
import { OUTPUT_CASES } from './output-cases.ts';
import { SCRIPT_CASES } from './script-cases.ts';
import { SHARING_CASES } from './sharing-cases.ts';
import { STAGING_CASES } from './staging-cases.ts';
import { STREAM_CASES } from './stream-cases.ts';
import { TIME_CASES } from './time-cases.ts';
import { KERNEL_CASES } from './kernel-cases.ts';
import { withinTime } from '../process/child-process.ts';

export interface ConformanceOptions {
  /** Called once; all cases use the same executor. */
  readonly executor: () => Executor | Promise<Executor>;
  /** Absolute path of a folder for workspaces. If the tests run as root, every user must be able to reach it. */
  readonly base: string;
  /** Names of cases to skip, with the reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

const ALL: readonly CaseDefinition[] = [
  ...STAGING_CASES,
  ...ENVIRONMENT_CASES,
  ...STREAM_CASES,
  ...OUTPUT_CASES,
  ...ENDING_CASES,
  ...SCRIPT_CASES,
  ...TIME_CASES,
  ...LIMIT_CASES,
  ...SHARING_CASES,
  ...ISOLATION_CASES,
  ...MOUNT_CASES,
  ...KERNEL_CASES,
  ...INTERACTION_CASES,
];

const CASE_MS = 150_000;

/**
 * The conformance suite for executors, as cases for any test runner. Cases may run concurrently. Nothing happens before the first case
 * runs, and nothing is left shortly after the last.
 */
export function executorConformance({ executor, base, skip = {} }: ConformanceOptions): readonly ConformanceCase[] {
  for (const name of Object.keys(skip))
    if (!ALL.some((definition) => definition.name === name))
      throw invalidInput(
        `cannot skip the unknown case ${JSON.stringify(name)}`,
        'the name of a case',
        'use a name from the list of cases',
      );
  let found: Promise<Executor> | undefined;
  const open = async (): Promise<Fixture> => await openFixture(await (found ??= Promise.resolve(executor())), base);
  const useShared = shareFixture(open);
  const useOwn = async (act: (fixture: Fixture) => Promise<void>): Promise<void> => {
    const fixture = await open();
    try {
      await act(fixture);
    } finally {
      await fixture.close();
    }
  };
  return ALL.map((definition) => ({
    name: definition.name,
    requirement: definition.requirement,
    isIsolation: definition.isIsolation ?? false,
    run: async () => {
      const reason = skip[definition.name];
      if (reason !== undefined) throw new CaseSkipped(reason);
      await (definition.ownWorkspace === true ? useOwn : useShared)((fixture) => runOn(definition, fixture));
    },
  }));
}

async function runOn(definition: CaseDefinition, fixture: Fixture): Promise<void> {
  if (definition.isIsolation === true && !fixture.isIsolating) throw new CaseSkipped('no isolation');
  skipIfUnable(definition.needs ?? {}, fixture);
  for (const program of definition.needs?.programs ?? []) await fixture.requireProgram(program);
  await withDeadline(definition.run(fixture), definition.name);
}

function skipIfUnable({ limits = [], interaction, terminal }: Needs, { attached, executor }: Fixture): void {
  const { capabilities } = attached;
  const missing = limits.filter((limit) => capabilities.limits[limit] === undefined);
  if (missing.length > 0) throw new CaseSkipped(`${executor.name} does not enforce ${missing.join(', ')} here`);
  if (interaction === true && !capabilities.hasInteraction)
    throw new CaseSkipped(`${executor.name} does not support interaction here`);
  if (terminal === true && !capabilities.hasTerminal) throw new CaseSkipped(`${executor.name} has no terminal here`);
}

async function withDeadline(run: Promise<void>, name: string): Promise<void> {
  const isDone = await withinTime(
    run.then(() => true),
    CASE_MS,
  );
  if (isDone !== true) throw new Error(`${name}: not finished after ${String(CASE_MS / 1000)} s`);
}

/** Delay before the workspace closes, because a test runner does not announce its last case. */
const IDLE_MS = 250;

/** One workspace for all cases that leave it intact: opened by the first case, closed shortly after the last. */
function shareFixture(open: () => Promise<Fixture>): (act: (fixture: Fixture) => Promise<void>) => Promise<void> {
  let shared: Promise<Fixture> | undefined;
  let users = 0;
  let uses = 0;
  const closeUnlessUsed = async (opening: Promise<Fixture>, before: number): Promise<void> => {
    await delay(IDLE_MS);
    if (users > 0 || uses !== before) return;
    shared = undefined;
    const [opened] = await Promise.allSettled([opening]);
    if (opened.status === 'fulfilled') await opened.value.close();
  };
  return async (act) => {
    users += 1;
    uses += 1;
    const opening = (shared ??= open());
    try {
      await act(await opening);
    } finally {
      users -= 1;
      if (users === 0) closeUnlessUsed(opening, uses).catch(() => undefined);
    }
  };
}
