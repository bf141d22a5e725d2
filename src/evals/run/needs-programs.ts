/** Whether a case makes no sense where nothing can be run. */
import type { ActionPattern, EvalCase } from '../cases/case.ts';
import { isObject } from '../../core/json/json-schema.ts';

/** Tools of all vocabularies that run something. */
const RUNS = /^(?:run_(?:script|command)|start_command|skill_(?:run|exec)|Bash|bash)$/;

/** Its script runs something, or it asks for what only a program leaves. What a live model will do nobody knows: such cases are tried. */
export function needsPrograms({ answers, expect }: EvalCase): boolean {
  if (answers?.type === 'script' && answers.turns.some((turn) => calledIn(turn).some((name) => RUNS.test(name))))
    return true;
  const { ordered = [], unordered = [], before = [] } = expect.actions ?? {};
  const isRun = ({ tool }: ActionPattern): boolean => RUNS.test(tool);
  return (
    [...ordered, ...unordered, ...before.map(({ first }) => first)].some(isRun) ||
    (expect.output ?? []).some(({ type }) => type === 'checker')
  );
}

/** Names of tools and of structured actions in a scripted turn, wherever they stand. */
function calledIn(turn: unknown): readonly string[] {
  if (!isObject(turn)) return [];
  const { toolCalls, text } = turn;
  const calls: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : [];
  const names = calls.flatMap((call) => (isObject(call) && typeof call['name'] === 'string' ? [call['name']] : []));
  const [, action] = typeof text === 'string' ? (/"type"\s*:\s*"([a-z_]+)"/.exec(text) ?? []) : [];
  return action === undefined ? names : [...names, action];
}
