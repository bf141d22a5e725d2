import { SkillError } from '../../core/errors.ts';
import type { Executor } from '../../core/execution.ts';
import { Bench } from './bench.ts';
import { CaseSkipped } from './case.ts';
import type { ConformanceCase } from './case.ts';
import type { CaseDefinition, Needs } from './definition.ts';
import { ENDING_CASES } from './ending-cases.ts';
import { ENVIRONMENT_CASES } from './environment-cases.ts';
import { INTERACTION_CASES } from './interaction-cases.ts';
import { ISOLATION_CASES } from './isolation-cases.ts';
import { LIMIT_CASES } from './limit-cases.ts';
import { OUTPUT_CASES } from './output-cases.ts';
import { SCRIPT_CASES } from './script-cases.ts';
import { SharedBench } from './shared-bench.ts';
import { SHARING_CASES } from './sharing-cases.ts';
import { STAGING_CASES } from './staging-cases.ts';
import { STREAM_CASES } from './stream-cases.ts';
import { TIME_CASES } from './time-cases.ts';

export interface ConformanceOptions {
  /** Asked once; all cases use the same executor. */
  readonly executor: () => Executor | Promise<Executor>;
  /** A folder for workspaces, absolute, which every user can reach where the tests run as root. */
  readonly base: string;
  /** Cases by name that are known not to hold, and why. */
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
  ...INTERACTION_CASES,
];

const CASE_MS = 60_000;

/**
 * What every executor does alike, as cases for any test runner. They may run at the same time. Nothing happens before the first one
 * runs, and nothing is left a moment after the last.
 */
export function executorConformance({ executor, base, skip = {} }: ConformanceOptions): readonly ConformanceCase[] {
  for (const name of Object.keys(skip))
    if (!ALL.some((definition) => definition.name === name))
      throw new SkillError({
        code: 'input/invalid',
        message: `there is no case ${JSON.stringify(name)} to skip`,
        hint: 'take the name from the list of cases',
        data: { expected: 'the name of a case' },
      });
  let found: Promise<Executor> | undefined;
  const openBench = async (): Promise<Bench> => {
    found ??= Promise.resolve(executor());
    return await Bench.open({ executor: await found, base });
  };
  const shared = new SharedBench(openBench);
  return ALL.map((definition) => ({
    name: definition.name,
    requirement: definition.requirement,
    isIsolation: definition.isIsolation ?? false,
    run: async () => {
      const reason = skip[definition.name];
      if (reason !== undefined) throw new CaseSkipped(reason);
      if (definition.ownWorkspace === true) await runInOwn(definition, openBench);
      else await shared.use(async (bench) => await runOn(definition, bench));
    },
  }));
}

async function runInOwn(definition: CaseDefinition, open: () => Promise<Bench>): Promise<void> {
  const bench = await open();
  try {
    await runOn(definition, bench);
  } finally {
    await bench.close();
  }
}

async function runOn(definition: CaseDefinition, bench: Bench): Promise<void> {
  if (definition.isIsolation === true && !bench.isIsolating) throw new CaseSkipped('no isolation');
  refuseUnable(definition.needs ?? {}, bench);
  for (const program of definition.needs?.programs ?? []) await bench.need(program);
  await withDeadline(definition.run(bench), definition.name);
}

function refuseUnable({ limits = [], interaction, terminal }: Needs, { attached, executor }: Bench): void {
  const { capabilities } = attached;
  const missing = limits.filter((limit) => !capabilities.limits.includes(limit));
  if (missing.length > 0) throw new CaseSkipped(`${executor.name} does not hold ${missing.join(', ')} here`);
  if (interaction === true && !capabilities.hasInteraction)
    throw new CaseSkipped(`${executor.name} has no interaction here`);
  if (terminal === true && !capabilities.hasTerminal) throw new CaseSkipped(`${executor.name} has no terminal here`);
}

async function withDeadline(run: Promise<void>, name: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${name}: not over after ${String(CASE_MS / 1000)} s`));
    }, CASE_MS);
  });
  try {
    await Promise.race([run, late]);
  } finally {
    clearTimeout(timer);
  }
}
