/** Steps of another agent, from its transcript. */
import { isObject, type Action, type RunEvent } from '#core';
import type { CheckResult } from '../report/result.ts';
import type { RunFacts, StepFact } from './run-facts.ts';

type SubjectCall = Extract<RunEvent, { readonly type: 'subject-call' }>;

/** A step of another agent matches patterns by the name of its own tool, and by the action of ours that does the same. */
export function subjectStep({ tool, input, ok, loads }: SubjectCall, seq: number): StepFact {
  const [load] = loads;
  const action = load === undefined ? toAction(tool, input) : ({ type: 'load_skill', skill: load.skill } as const);
  return {
    seq,
    askedBy: 'model',
    tool: { name: tool, input, isFirst: true },
    isDone: ok,
    events: [seq],
    action,
    skill: load?.skill,
  };
}

const KINDS = {
  run_command: /^(?:bash|shell|command_execution|run_shell_command|exec_command)$/i,
  read_file: /^(?:read|read_file)$/i,
  write_file: /^(?:write|write_file)$/i,
  edit_file: /^(?:edit|replace)$/i,
} as const;

function toAction(tool: string, input: unknown): Action | undefined {
  const text = (...names: readonly string[]): string => {
    const found = isObject(input) ? names.map((name) => input[name]) : [];
    return found.find((value) => typeof value === 'string') ?? '';
  };
  const path = text('path', 'file_path', 'filePath');
  if (KINDS.run_command.test(tool)) return { type: 'run_command', command: text('command', 'cmd') };
  if (KINDS.read_file.test(tool)) return { type: 'read_file', path };
  if (KINDS.write_file.test(tool)) return { type: 'write_file', path, content: text('content') };
  if (!KINDS.edit_file.test(tool)) return undefined;
  const [oldText, newText] = [text('old_string', 'oldString', 'oldText'), text('new_string', 'newString', 'newText')];
  return { type: 'edit_file', path, oldText, newText };
}

/** Skips checks that need the decisions or the requests of a run, which no transcript of another agent has. */
export function withoutSubject({ subject }: RunFacts, checks: readonly CheckResult[]): readonly CheckResult[] {
  if (subject === undefined) return checks;
  const found = `the transcript of ${subject} does not show it`;
  return checks.map((check) => ({ ...check, status: 'skipped', found, events: [] }));
}
