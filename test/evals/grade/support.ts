import type { AgentOptions, AgentResult } from '../../../src/agent/agent-options.ts';
import type { EvalCase, Expectations } from '../../../src/evals/cases/case.ts';
import type { CheckResult } from '../../../src/evals/report/result.ts';
import type { Model } from '../../../src/core/model.ts';
import { gradeFacts } from '../../../src/evals/grade/grade-course.ts';
import { checkJsonSchema } from '../../../src/evals/grade/json-schema.ts';
import { readRunFacts } from '../../../src/evals/grade/read-run-facts.ts';
import type { RunFacts } from '../../../src/evals/grade/run-facts.ts';
import { acting, played, world, type Line, type World } from '../../agent/support.ts';

export function evalCase(expect: Expectations, more: Partial<EvalCase> = {}): EvalCase {
  return {
    id: 'case-1',
    name: 'case 1',
    place: { file: 'evals/cases.yaml', line: 3, column: 1 },
    input: 'count the rows',
    files: [],
    skills: { target: 'report', folders: [] },
    expect,
    limits: {},
    forbidTools: [],
    approve: 'no',
    repeat: 1,
    tags: [],
    ...more,
  };
}

/** Steps of the skills-agent protocol with the skills of `test/agent/support.ts`. */
export const LOAD = acting('select_skills', { skills: [{ name: 'report' }], reason: 'it fits' });
export const READ = acting('load_resource', { skill: { name: 'report' }, relative_path: 'references/kpi.md' });
export const RUN = acting('run_script', { skill: { name: 'report' }, relative_path: 'scripts/count.sh', args: ['a'] });
export const ANSWER = acting('final_answer', { answer: 'there are 42 rows' });

export interface Ran {
  readonly result: AgentResult;
  readonly folder: string;
  readonly facts: RunFacts;
}

/** Runs the played lines and reads the facts from the run folder. */
export async function ran(
  lines: readonly (Line | Error)[],
  options: Partial<AgentOptions> & { readonly world?: World; readonly played?: Model } = {},
): Promise<Ran> {
  const { world: given, played: model = played(lines), ...rest } = options;
  const { agent } = given ?? (await world());
  const result = await agent({ model, protocol: 'actions', ...rest });
  const folder = result.path ?? '';
  const reading = readRunFacts(folder);
  if (reading.type === 'unusable') throw new Error(reading.reason);
  return { result, folder, facts: reading.facts };
}

/** Formats each check as `id: status, found`. */
export function graded(expect: Expectations, facts: RunFacts, more: Partial<EvalCase> = {}): readonly string[] {
  return gradeFacts(evalCase(expect, more), facts, checkJsonSchema).map(checkLine);
}

export function checkLine({ id, status, found }: CheckResult): string {
  return found === '' ? `${id}: ${status}` : `${id}: ${status}, ${found}`;
}
