/** Schemas of the API: approvals, policy, isolation, evaluations and the state of the server. */
import { z } from 'zod';

const text = z.string();
const count = z.number().nonnegative();

const SCOPES = ['once', 'run', 'skill'] as const;
const Origin = z.object({ layer: text, where: text });
const Risk = z.enum(['low', 'medium', 'high']);

const ApprovalDetail = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), command: text, programs: z.array(text) }),
  z.object({ kind: z.literal('script'), script: text, args: z.array(text) }),
  z.object({ kind: z.literal('write'), path: text, before: text.optional(), after: text }),
  z.object({
    kind: z.literal('packages'),
    requested: z.array(text),
    packages: z.array(text),
    index: text,
    lock: text,
  }),
  z.object({ kind: z.literal('delete'), path: text, bytes: count }),
  z.object({ kind: z.literal('request'), method: text, url: text, body: text }),
  z.object({ kind: z.literal('other'), summary: text }),
]);

const PendingApproval = z.object({
  id: text,
  at: text,
  isAnswered: z.boolean().describe('answered; the run has not picked the answer up yet'),
  run: text.optional().describe('the run that asks, if this server started it'),
  tool: text,
  risk: Risk,
  rule: text,
  origin: Origin,
  skill: z.object({ id: text, name: text, digest: text }).optional(),
  detail: ApprovalDetail,
  affects: z.array(text),
  isolation: text.optional(),
  capabilities: z.array(text),
  scopes: z.array(z.enum(SCOPES)),
});

const StoredAnswer = z.object({
  id: text,
  skill: text,
  digest: text,
  tool: text,
  verdict: z.enum(['yes', 'no']),
  at: text,
});

export const Approvals = z.object({
  pending: z.array(PendingApproval),
  stored: z.array(StoredAnswer),
  problems: z.array(text),
  questions: z
    .array(z.object({ run: text, id: text, askedAt: text, question: z.unknown() }))
    .optional()
    .describe('of a fleet: the same questions as the runs asked them'),
});
export type Approvals = z.output<typeof Approvals>;

export const ApprovalAnswer = z.strictObject({
  verdict: z.enum(['yes', 'no']),
  scope: z.enum(SCOPES).default('once'),
  reason: text.max(2_000).optional().describe('why not; the model reads it'),
});
export type ApprovalAnswer = z.output<typeof ApprovalAnswer>;
export const Answered = z.object({ id: text, verdict: text, scope: text });
export const Revoked = z.object({ revoked: count });

export const PolicyView = z.object({
  allowedTools: text,
  sandboxed: text,
  tools: z.array(text),
  layers: z.array(
    z.object({
      origin: Origin,
      otherwise: z.record(text, text).describe('the effect by risk where no rule matches'),
      rules: z.array(z.object({ effect: text, rule: text, origin: Origin })),
    }),
  ),
});

export const ExplainRequest = z.strictObject({
  tool: text.min(1).max(200),
  subject: text.max(10_000).optional().describe('a command, path, address or skill'),
  skills: z.array(text.max(200)).max(20).default([]).describe('skills that are active'),
});
export const DecisionView = z.object({
  effect: z.enum(['deny', 'ask', 'allow']),
  risk: Risk,
  rule: text,
  origin: Origin,
  reason: text,
  capabilities: z.array(text),
});

export const Isolation = z.object({
  executors: z.array(
    z.object({
      name: text,
      isIsolating: z.boolean(),
      reasons: z.array(text),
      install: text,
      results: z.array(z.object({ name: text, verdict: text })),
      limits: z.record(text, text),
    }),
  ),
});
export type Isolation = z.output<typeof Isolation>;

const Rate = z.object({ count, of: count, low: z.number(), high: z.number() });
export const EvaluationRow = z.object({
  id: text,
  startedAt: text,
  skills: z.array(text),
  models: z.array(text),
  totals: z.object({ passed: count, failed: count, error: count, skipped: count }),
  passRate: Rate,
  isPartial: z.boolean(),
  wallMs: count,
});
export type EvaluationRow = z.output<typeof EvaluationRow>;
export const Evaluations = z.object({ evaluations: z.array(EvaluationRow) });
export const EvaluationQuery = z.strictObject({ against: text.max(200).optional().describe('an earlier evaluation') });
export const EvaluationPage = z.unknown().describe('the report, the shown runs and the comparison');
export const CaseHistoryQuery = z.strictObject({
  case: text.max(1_000).optional().describe('all cases if absent'),
  suite: text
    .max(10_000)
    .optional()
    .describe('only evaluations of these skills, as in an evaluation row: names joined by a comma and a blank'),
});
export const CaseHistory = z.object({
  attempts: z.array(
    z.object({ id: text, startedAt: text, case: text, arm: text, status: text, passed: count, attempts: count }),
  ),
});
export type CaseHistory = z.output<typeof CaseHistory>;

export const ServerStatus = z.object({
  version: text,
  project: text,
  model: text,
  reason: text.describe('why this model is used'),
  canInstall: z.boolean(),
  canEvaluate: z.boolean(),
  isFleet: z.boolean().optional(),
  rights: z.array(z.enum(['submit', 'approve'])).describe('what the key of the page may do besides reading'),
  canChooseModel: z.boolean(),
  mode: text
    .optional()
    .describe('what runs do without asking: ask, or edits that git can restore; absent: not chosen here'),
  runs: count.describe('runs in progress of this server'),
  limits: z.object({ runs: count, uploadBytes: count, bodyBytes: count }),
  budget: z.record(text, z.number()).describe('default limits of a run'),
});
export type ServerStatus = z.output<typeof ServerStatus>;

export const ModeChoice = z.strictObject({ mode: z.enum(['ask', 'edits']) });
