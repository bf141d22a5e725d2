import { failure, type ActionFailed, type ActionProblem, type Observation } from '#core';

/** Replaces what a model is told to do next, by the code of the failure. */
export type HintTexts = { readonly [Code in ActionProblem['code']]?: string };

/** Commands and switches of our command line, and options of other calls, which users of another product do not have. */
const OF_OUR_COMMAND =
  /\(pass `|\bskillwright [a-z]|~\/\.agent|(?<![\w-])--(?:allow|approve|command|env|executor|image|offline|out|serve|venv|wheels|with|yes)\b/;

const HINTS: HintTexts = {
  'approval/needed': 'tell the user what it was for, and continue without it',
  'approval/pending': 'continue with something else, or finish and say that the answer is awaited',
  'skill/untrusted': 'tell the user that this skill is not trusted, and continue without it',
};

/** Words an observation for a program that has no command line: no command and no switch of ours reaches its model or its users. */
export function forEmbedder(observation: Observation, hints: HintTexts): Observation {
  if (observation.type === 'failed') return withoutCommands(observation, hints);
  if (observation.type !== 'program-ran') return observation;
  const { result } = observation;
  const stderr = result.stderr.replaceAll(
    /^(skillwright: this program has no network.*); allow it with --allow .*$/gm,
    '$1',
  );
  return { ...observation, result: { ...result, stderr, warnings: result.warnings.map(withoutClauses) } };
}

function withoutCommands(failed: ActionFailed, hints: HintTexts): ActionFailed {
  const { code, hint, message } = failed;
  const usual = HINTS[code] ?? failure(code, '').hint;
  const plain = OF_OUR_COMMAND.test(hint) ? usual : hint;
  return { ...failed, message: withoutClauses(message), hint: hints[code] ?? plain };
}

/** Leaves out the parts of a sentence that name a command. */
export function withoutClauses(text: string): string {
  if (!OF_OUR_COMMAND.test(text)) return text;
  const clauses = text.split(/(?=: |; | \()/);
  const kept = clauses.filter((clause, index) => index === 0 || !OF_OUR_COMMAND.test(clause));
  return kept.join('').replaceAll(/`?skillwright [a-z-]+[^`;,]*`?/g, 'the settings of this program');
}
