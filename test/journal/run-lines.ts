import { VERSION } from '../../src/version.ts';
import type { Action } from '../../src/core/action.ts';
import type { ApprovalRequest } from '../../src/core/approval.ts';
import type { JournalLine, RunEvent } from '../../src/core/run-events.ts';
import type { Observation, SkillIdentity } from '../../src/core/observation.ts';
import type { RunResult } from '../../src/core/outputs.ts';
import type { Decision, Effect } from '../../src/core/access.ts';

/** When the runs of these tests begin. */
export const STARTED = Date.parse('2026-03-01T10:00:00.000Z');

/** Events as lines of a journal: a line each ten milliseconds, by a clock that is set back after the third. */
export function linesOf(events: readonly RunEvent[]): readonly JournalLine[] {
  return events.map((event, index) => {
    const elapsed = 2.5 + index * 10;
    const setBack = index > 3 ? 3_600_000 : 0;
    const time = new Date(STARTED + index * 10 - setBack).toISOString();
    return { seq: index + 1, time, elapsed, event, hash: `sha256:${String(index)}` };
  });
}

export const PDF: SkillIdentity = { id: 'project/pdf', name: 'pdf', source: 'project', dir: '/skills/pdf' };

export const start = (more: Partial<RunEvent & { readonly type: 'run-start' }> = {}): RunEvent => ({
  type: 'run-start',
  schema: 1,
  run: 'run-1',
  request: 'read my invoice',
  version: VERSION,
  indexHash: 'sha256:index',
  policyHash: 'sha256:policy',
  ...more,
});

export const asked = (call: number, action: Action): RunEvent => ({ type: 'action', call, action, askedBy: 'model' });

export const decision = (effect: Effect, tool: string): Decision => ({
  effect,
  tool,
  risk: effect === 'allow' ? 'low' : 'high',
  rule: `${tool}(*)`,
  origin: { layer: 'user', where: '/home/ada/config.json' },
  reason: `the rule says ${effect}`,
});

export const decided = (call: number, effect: Effect, tool: string): RunEvent => ({
  type: 'decision',
  call,
  decision: decision(effect, tool),
});

export const seen = (call: number, observation: Observation): RunEvent => ({ type: 'observation', call, observation });

export const LOADED: Observation = {
  type: 'skill-loaded',
  action: 'load_skill',
  skill: PDF,
  status: 'new',
  text: 'the secret instructions',
  report: {
    path: 'SKILL.md',
    digest: 'sha256:body',
    bytes: 40,
    characters: 23,
    truncated: false,
    reference: 'skill://pdf/SKILL.md',
  },
  files: [],
  filesCut: false,
  documents: [],
  notes: [],
};

export const RESULT: RunResult = {
  stdout: 'the secret output',
  stderr: '',
  exit_code: 0,
  timed_out: false,
  duration_ms: 12,
  output_files: [],
  artifact_files: [],
  warnings: [],
  reason: 'exited',
  isolation: 'bubblewrap',
  executor: 'bubblewrap',
  staged_inputs: [],
  skipped_files: [],
};

export const SCRIPT: Action = {
  type: 'run_script',
  skill: 'pdf',
  script: 'scripts/read.py',
  args: ['the secret argument'],
};

export const QUESTION: ApprovalRequest = {
  id: 'sha256:question',
  tool: 'run_script',
  risk: 'high',
  action: SCRIPT,
  rule: 'run_script(*)',
  origin: { layer: 'user', where: '/home/ada/config.json' },
  detail: { kind: 'script', script: 'scripts/read.py', args: ['the secret argument'] },
  affects: ['workspace://out'],
  isolation: 'bubblewrap',
  scopes: ['once', 'run'],
  coverage: 'pdf read.py',
};

export const DENIED: Observation = {
  type: 'failed',
  action: 'run_command',
  code: 'policy/denied',
  message: 'the secret command is forbidden',
  hint: 'do something else',
  nearest: [],
  isTerminal: false,
};

/** A skill is loaded, its script runs after a question, a command is denied, and an answer is given. */
export const WHOLE_RUN: readonly RunEvent[] = [
  start(),
  asked(1, { type: 'load_skill', skill: 'pdf' }),
  decided(1, 'allow', 'load_skill'),
  { type: 'skill-use', call: 1, skill: { id: PDF.id, name: 'pdf', source: 'project', digest: 'sha256:tree' } },
  seen(1, LOADED),
  asked(2, SCRIPT),
  decided(2, 'ask', 'run_script'),
  { type: 'approval-ask', call: 2, request: QUESTION },
  {
    type: 'approval-answer',
    call: 2,
    request: 'sha256:question',
    answer: { verdict: 'yes', scope: 'run', by: 'terminal' },
  },
  {
    type: 'span',
    span: {
      name: 'workspace.run',
      startedAt: STARTED + 85,
      durationMs: 4.25,
      attributes: { program: 'python3', exit_code: 0, first: true, share: 0.5, shift: -3 },
      isFailed: false,
    },
  },
  seen(2, { type: 'program-ran', action: 'run_script', skill: PDF, result: RESULT }),
  asked(3, { type: 'run_command', command: 'the secret command' }),
  decided(3, 'deny', 'run_command'),
  seen(3, DENIED),
  { type: 'note', message: 'the disk is nearly full' },
  { type: 'session', event: { type: 'action-fail', action: 'run_command', code: 'policy/denied' } },
  asked(4, { type: 'final_answer', answer: 'the secret answer' }),
  seen(4, { type: 'answered', action: 'final_answer', answer: 'the secret answer' }),
  { type: 'run-end', outcome: 'done', reason: 'it was answered' },
];
