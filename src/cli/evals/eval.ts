import { isSkillError } from '../../core/errors.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { defineCommand } from '../command.ts';
import { EVAL_FLAGS } from './flags.ts';
import type { EvalInvocation } from './flags.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';

/** By the first word; everything else are paths. A folder of such a name is `./trigger`. */
const ACTS: Readonly<Record<string, (invocation: EvalInvocation) => Promise<number>>> = {
  trigger: async (invocation) => (await import('./run.ts')).evalTrigger(invocation),
  compare: async (invocation) => (await import('./stored.ts')).evalCompare(invocation),
  grade: async (invocation) => (await import('./stored.ts')).evalGrade(invocation),
  init: async (invocation) => (await import('./stored.ts')).evalInit(invocation),
};

export const command = defineCommand({
  usage:
    'eval [PATH...] | eval trigger [PATH...] | eval compare A B | eval grade RUN... --cases FILE | eval init SKILL',
  details: [
    'Runs cases in homes of their own and grades what was recorded. PATH is a file of cases, a skill or a folder of skills; without one it',
    'is the skill here, or the skills of the project with .agent/evals and evals. Cases with a mock or a cassette cost nothing; all others',
    'need --model. Results are kept in .agent/evals, and outcomes that are known are not made again unless you say so.',
    'trigger asks which skill fires, with all of them installed at once: controls come first, and where one is not kept there is no score.',
    'compare says what changed between two reports. grade grades stored runs again and runs nothing. init writes first cases for a skill.',
    'Exit status 1: failed, or below a threshold; 4: no model; 5: there is no result to believe, because case files have problems, a',
    'control was not kept, nothing came to a verdict or too much broke; 130: interrupted, and what was finished is kept.',
  ].join('\n'),
  flags: EVAL_FLAGS,
  examples: [
    ['skillwright eval skills/csv-report', 'the cases of a skill'],
    ['skillwright eval trigger skills --model rules --distractors 10,100', 'who fires, for nothing'],
    ['skillwright eval . --model anthropic --baseline none --repeat 3', 'does it help?'],
    ['skillwright eval . --model anthropic --update-cassettes', 'record once; after that it is free'],
    ['skillwright eval evals --report junit=junit.xml --report markdown=report.md', 'for CI'],
    ['skillwright eval compare .agent/evals/20260101T120000 last', 'what changed'],
    ['skillwright eval grade .agent/evals/20260101T120000 --cases cases.yaml', 'the same runs, other cases'],
    ['skillwright eval init skills/csv-report', 'first cases'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    try {
      return await acted(invocation);
    } catch (error) {
      const problem = invocation.signal.aborted ? undefined : problemOf(error);
      if (problem === undefined) throw error;
      return tellInvalid(problem, invocation);
    }
  },
});

async function acted(invocation: EvalInvocation): Promise<number> {
  const [word = ''] = invocation.positionals;
  const act = Object.hasOwn(ACTS, word) ? ACTS[word] : undefined;
  return act === undefined ? (await import('./run.ts')).evalCases(invocation) : act(invocation);
}

/** Said by the exit status of every command. */
const IMPOSSIBLE: ReadonlySet<string> = new Set(['model/unavailable', 'executor/unavailable']);

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** What is wrong with a skill, a place or a disk is no failure of what is evaluated: 1 would say that something was judged. */
function problemOf(error: unknown): Problem | undefined {
  if (isSkillError(error)) return IMPOSSIBLE.has(error.code) ? undefined : error;
  if (!isSystemError(error)) return undefined;
  const place = error.path === undefined ? '' : ` at ${quoted(error.path, 200)}`;
  return {
    code: 'io/failed',
    message: `files of the evaluation cannot be read or written${place}: ${error.code}`,
    hint: 'make room, or look at the rights',
  };
}

function tellInvalid({ code, message, hint }: Problem, { flags, terminal }: EvalInvocation): number {
  if (flags.json === true) terminal.out(jsonText({ error: { code, message, hint } }));
  terminal.err(`${terminal.style('red', 'error')}: ${printable(message)}`);
  terminal.err(terminal.style('dim', `hint: ${printable(hint)}`));
  return EXIT.invalidEvaluation;
}
