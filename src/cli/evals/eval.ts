import { errorOutcome, docsPage, isSkillError, printable, quoted, type Problem } from '#core';
import { isSystemError } from '#platform';
import { defineCommand } from '../command.ts';
import { EVAL_FLAGS, type EvalInvocation } from './flags.ts';
import { EXIT, isUsageError } from '../exit.ts';
import { reportProblem } from '../terminal/terminal.ts';

/** Subcommands. Every other first argument is a path; a folder with such a name is `./trigger`. */
const SUBCOMMANDS: Readonly<Record<string, (invocation: EvalInvocation) => Promise<number>>> = {
  trigger: async (invocation) =>
    (await import('./run.ts')).runEvaluation(invocation, 'trigger', invocation.positionals.slice(1)),
  check: async (invocation) => (await import('./run.ts')).evalCheck(invocation),
  tune: async (invocation) => (await import('./run.ts')).evalTune(invocation),
  compare: async (invocation) => (await import('./stored.ts')).evalCompare(invocation),
  trend: async (invocation) => (await import('./stored.ts')).evalTrend(invocation),
  grade: async (invocation) => (await import('./stored.ts')).evalGrade(invocation),
  generate: async (invocation) => (await import('./run.ts')).evalGenerate(invocation),
  init: async (invocation) => (await import('./stored.ts')).evalInit(invocation),
};

export const command = defineCommand({
  usage:
    'eval [PATH...] | eval check [PATH...] | eval trigger [PATH...] | eval tune SKILL | eval compare A B | eval trend | eval grade RUN... --cases FILE | eval init SKILL | eval generate SKILL',
  details: [
    'Runs cases in isolated homes and grades the recorded runs. PATH is a case file, a skill or a folder of skills (default: the skill in the current folder, or the skills of the project with .agent/evals and evals). Cases with a mock or a cassette cost nothing; all others need --model. Results are stored in .agent/evals; unchanged cases are not run again unless you pass --no-eval-cache.',
    'check reads the cases and runs nothing. It names what would make the result worthless: answers in the request or in SKILL.md, checks that pass on an empty, wrong or copied answer, missing negatives, duplicates, placeholders, files that are not read. Every evaluation does this first, and errors stop it.',
    'trigger measures which skill activates when all of them are installed. Control cases run first; if one fails, there is no score.',
    `--subject runs the cases with another agent in an empty home: claude-code, codex, gemini, opencode, pi, or a command. It gets API keys by the names of their variables; without its program or its key, cases are skipped with the reason (exit code 4). Several --subject make a portability matrix. Protocol of commands and limits: ${docsPage('eval-subjects')}.`,
    'tune compares descriptions of a skill: proposals are scored on the train part of its trigger cases, and the best one meets the current description on the validation part. It changes nothing without --write, and never for a difference within noise.',
    'compare shows what changed between two reports, and fails if a case broke or the pass rate of a live model fell by more than chance. trend shows the pass rate of the last cases in all stored reports. grade grades stored runs again without running anything. init writes first cases for a skill.',
    'generate asks --model for requests that should load the skill, that should not, that nearly should, and for tasks with a known answer, and writes them to a new file in evals/ as drafts. Drafts that give the answer away are dropped. A draft is listed, but not run, until you remove its line draft: true.',
    'Exit code 1: failed, or below a threshold; 4: no model; 5: the evaluation is incomplete, because too much was skipped, or invalid, because case files have errors, a control failed, no case was graded or too many broke; 130: interrupted, finished results are kept.',
  ].join('\n'),
  flags: EVAL_FLAGS,
  examples: [
    ['skillwright eval check skills/csv-report', 'find weak cases before anything runs'],
    ['skillwright eval skills/csv-report', 'run the cases of a skill'],
    ['skillwright eval skills --offline', 'run what needs no key, as in CI of a fork'],
    [
      'skillwright eval trigger skills --model rules --distractors 10,100',
      'measure which skill activates, without a language model',
    ],
    ['skillwright eval trigger skills --subject codex=gpt-5', 'measure which skill activates in Codex'],
    [
      'skillwright eval trigger skills --subject claude-code --subject codex --subject "./agent.sh" --report html',
      'compare agents in a portability matrix',
    ],
    ['skillwright eval . --model anthropic --baseline none --repeat 3', 'measure whether the skill helps'],
    ['skillwright eval . --model anthropic --update-cassettes', 'record model answers; later runs cost nothing'],
    ['skillwright eval . --model anthropic --baseline none --stop-when decided', 'stop when the difference is decided'],
    ['skillwright eval tune skills/csv-report --model anthropic', 'propose and compare descriptions'],
    ['skillwright eval evals --report junit=junit.xml --report markdown=report.md', 'write reports for CI'],
    ['skillwright eval compare .agent/evals/20260101T120000 last', 'compare with the last report'],
    ['skillwright eval grade .agent/evals/20260101T120000 --cases cases.yaml', 'grade stored runs with other cases'],
    ['skillwright eval init skills/csv-report', 'write first cases for a skill'],
    ['skillwright eval generate skills/csv-report --model anthropic', 'let a model draft cases, for you to confirm'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    try {
      return await dispatch(invocation);
    } catch (error) {
      const problem = invocation.signal.aborted ? undefined : toProblem(error);
      if (problem === undefined) throw error;
      return reportInvalid(problem, invocation);
    }
  },
});

async function dispatch(invocation: EvalInvocation): Promise<number> {
  const [word = ''] = invocation.positionals;
  const subcommand = Object.hasOwn(SUBCOMMANDS, word) ? SUBCOMMANDS[word] : undefined;
  if (subcommand !== undefined) return subcommand(invocation);
  return (await import('./run.ts')).runEvaluation(invocation, 'cases', invocation.positionals);
}

/** A broken skill, folder or disk makes the evaluation invalid; exit code 1 would mean that cases failed. */
function toProblem(error: unknown): Problem | undefined {
  // `main` prints these, with exit codes of their own.
  if (isSkillError(error))
    return isUsageError(error) || errorOutcome(error.code).exit === EXIT.impossible ? undefined : error;
  if (!isSystemError(error)) return undefined;
  const place = error.path === undefined ? '' : ` at ${quoted(error.path, 200)}`;
  return {
    code: 'io/failed',
    message: `cannot read or write evaluation files${place}: ${error.code}`,
    hint: 'check the free disk space and the file permissions',
  };
}

function reportInvalid({ code, message, hint }: Problem, { terminal }: EvalInvocation): number {
  terminal.printJson({ error: { code, message, hint } });
  reportProblem(terminal, { message: printable(message), hint: printable(hint) });
  return EXIT.invalidEvaluation;
}
