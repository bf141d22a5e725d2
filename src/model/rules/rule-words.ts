/** The texts of the rule model. It never poses as a language model: every answer starts with the same notice. */
import { cleanText, isObject, printable, startOfText, typedWord } from '#core';
import type { QuickstartFilling } from './quickstart.ts';
import type { ScoredSkill } from './rule-score.ts';
import { readJson } from './seen-skills.ts';

/** The first sentence of every answer of the rule model. */
export const RULE_MODEL_REMARK =
  'Rule model: no language model was used; this answer comes from fixed rules and the output of a script.';

const MAX_OUTPUT = 16_000;
const MAX_COMPLAINT = 2_000;
const MOST_NAMED = 3;

function toAnswerText(...paragraphs: readonly string[]): string {
  return [RULE_MODEL_REMARK, ...paragraphs].join('\n\n');
}

export function noSkillFits(close: readonly ScoredSkill[]): string {
  const names = close.slice(0, MOST_NAMED).map(({ name, score }) => `${printable(name)} (${score.toFixed(2)})`);
  const near = names.length === 0 ? 'None comes close.' : `Closest: ${names.join(', ')}.`;
  return toAnswerText(`No skill fits this request well enough to be used without a language model. ${near}`);
}

export function couldNotLoad(skill: string, result: string): string {
  return toAnswerText(`The skill ${printable(skill)} fits but could not be loaded:`, fenced(complaint(result)));
}

export function noQuickstart(skill: string, problem: string | undefined): string {
  const why =
    problem === undefined
      ? 'it has no quickstart, and fixed rules can follow nothing else'
      : `its quickstart is invalid: ${problem}`;
  return toAnswerText(`The skill ${printable(skill)} fits, but ${why}.`);
}

export function somethingMissing(skill: string, placeholders: readonly string[]): string {
  return toAnswerText(
    `The skill ${printable(skill)} fits. To run its quickstart, add ${placeholders.join(' and ')} to the request.`,
  );
}

export function cannotRun(skill: string, filled?: Extract<QuickstartFilling, { readonly type: 'filled' }>): string {
  if (filled === undefined)
    return toAnswerText(`The skill ${printable(skill)} fits, but program execution is disabled.`);
  const line = [filled.script, ...filled.args].map((word) => typedWord(word)).join(' ');
  return toAnswerText(
    `The skill ${printable(skill)} fits, but program execution is disabled. Its quickstart is:`,
    fenced(line),
  );
}

export function ranText(skill: string, result: string, isError: boolean): string {
  const value = readJson(result);
  if (isError || !isObject(value) || typeof value['exit_code'] !== 'number') {
    const start = isError ? 'could not be run' : 'was run';
    return toAnswerText(`A script of the skill ${printable(skill)} ${start}:`, fenced(complaint(result)));
  }
  if (value['exit_code'] !== 0 || (value['reason'] ?? 'exited') !== 'exited') return failedText(skill, value);
  const output = formatOutput(value);
  const files = listFileNames(value['output_files']);
  return toAnswerText(
    `A script of the skill ${printable(skill)} did this${output === undefined ? ' and printed nothing.' : ':'}`,
    ...(output === undefined ? [] : [output]),
    ...(files.length === 0 ? [] : [`Files: ${files.map((file) => file.replace(/^workspace:\/\//, '')).join(', ')}`]),
  );
}

function failedText(skill: string, value: Readonly<Record<string, unknown>>): string {
  const reason = value['reason'] === 'exited' ? `exit status ${String(value['exit_code'])}` : toText(value['reason']);
  const words = toText(value['stderr']).trim() || toText(value['stdout']).trim();
  return toAnswerText(
    `A script of the skill ${printable(skill)} failed (${printable(reason)}).`,
    ...(words === '' ? [] : [fenced(complaint(words))]),
  );
}

/** The file that a run declares as its answer, otherwise the output. Markdown stays Markdown. */
function formatOutput(value: Readonly<Record<string, unknown>>): string | undefined {
  const primary = value['primary_output'];
  if (isObject(primary) && typeof primary['content'] === 'string' && primary['content'].trim() !== '') {
    const text = cut(primary['content'], primary['ref']);
    return toText(primary['name']).endsWith('.md') ? text : fenced(text);
  }
  const printed = toText(value['stdout']);
  return printed.trim() === '' ? undefined : fenced(cut(printed, value['stdout_ref']));
}

function cut(text: string, reference: unknown): string {
  const clean = cleanText(text).trimEnd();
  const start = startOfText(clean, MAX_OUTPUT).trimEnd();
  if (start.length === clean.length) return clean;
  const whole = toText(reference);
  return `${start}\n\n(cut${whole === '' ? '' : `; the whole is ${printable(whole)}`})`;
}

/** A fence that the text cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function complaint(text: string): string {
  return startOfText(cleanText(text).trim(), MAX_COMPLAINT);
}

function listFileNames(files: unknown): readonly string[] {
  if (!Array.isArray(files)) return [];
  return files
    .slice(0, 20)
    .flatMap((file: unknown) => (isObject(file) ? [printable(toText(file['ref'] ?? file['name']))] : []));
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
