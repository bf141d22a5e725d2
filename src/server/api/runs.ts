/** Schemas of the API: runs and their events. */
import { z } from 'zod';

import { docsPage, VOCABULARY_NAMES } from '#core';

const text = z.string();
const count = z.number().nonnegative();

const TONES = ['plain', 'faint', 'good', 'warning', 'bad'] as const;

export const RunUsage = z.object({
  models: z.array(text),
  turns: count,
  toolCalls: count,
  inputTokens: count,
  outputTokens: count,
  isEstimated: z.boolean().describe('the model reported no usage; requests are estimated'),
  elapsedMs: count,
  usd: count.optional().describe('US dollars; absent if a price or the tokens of an answer are unknown'),
});
export type RunUsage = z.output<typeof RunUsage>;

export const RunRow = z.object({
  run: text,
  state: text.describe('the outcome, or running, killed, unreadable, newer'),
  request: text,
  skills: z.array(text),
  startedAt: text.optional(),
  endedAt: text.optional(),
  usage: RunUsage.optional(),
  isOwn: z.boolean().describe('started by this server, so it can be cancelled here'),
  labels: z.record(text, text).optional(),
});
export type RunRow = z.output<typeof RunRow>;

const Label = text.max(300).regex(/^[^=]+=/, 'write it as NAME=VALUE');
const Time = z.iso.datetime({ offset: true }).transform((time) => new Date(time));

/** What lists of runs can be narrowed to. Unsorted: the newest run is always first. */
export const RunFilter = z.strictObject({
  query: text.max(500).default('').describe('only runs whose request, skill or id contains this'),
  state: text.max(40).optional().describe('an open state, or how the run ended'),
  label: z
    .union([Label.transform((one) => [one]), z.array(Label).max(20)])
    .optional()
    .describe('NAME=VALUE; once for each label that a run must have'),
  key: text.max(200).optional().describe('the idempotency key of the run'),
  since: Time.optional().describe('started or submitted at this time or later, in ISO 8601'),
  until: Time.optional().describe('started or submitted before this time'),
});
export const RunListQuery = RunFilter.extend({
  skill: text.max(200).optional().describe('only runs that used this skill'),
  model: text.max(200).optional().describe('only runs that called this model'),
  sort: z.enum(['started', 'duration', 'tokens', 'money']).default('started'),
  order: z.enum(['up', 'down']).default('down'),
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export const RunList = z.object({
  directory: text,
  total: count,
  unread: count.describe('runs whose tokens and money are still being read, and so come last if sorted by them'),
  runs: z.array(RunRow),
});

const Sum = { runs: count, failed: count, tokens: count, usd: count };
export const RunStatistics = z.object({
  days: z.array(z.object({ day: text, ...Sum })).describe('the last 90 days with runs'),
  skills: z.array(z.object({ skill: text, ...Sum })).describe('the 20 skills with most runs'),
  models: z.array(text),
  unread: count.describe('runs whose tokens and money are still being read'),
});
export type RunStatistics = z.output<typeof RunStatistics>;
export type RunList = z.output<typeof RunList>;

const PlanView = z.object({
  goal: text,
  steps: z.array(z.object({ id: text, title: text, status: z.enum(['pending', 'in_progress', 'completed']) })),
});

export const EventRow = z.object({
  seq: count,
  attempt: count.optional().describe('in a live stream of a fleet: each attempt has a record of its own'),
  at: count.describe('milliseconds since the start'),
  type: text,
  tone: z.enum(TONES),
  text,
  preview: text.optional().describe('the start of what was said, printed or read, at most 600 characters'),
  call: count.optional(),
  action: text.optional().describe('the type of the action, whatever the vocabulary calls its tool'),
  turn: count.optional(),
  plan: PlanView.optional(),
  answer: text.optional().describe('the final answer, at most 100,000 characters'),
  request: text.optional().describe('the id of the approval request'),
  model: text.optional().describe('of a model call and its answer'),
  tokens: count.optional().describe('in and out, of an answer of the model'),
  usage: z
    .object({
      inputTokens: count.optional(),
      outputTokens: count.optional(),
      cachedInputTokens: count.optional(),
      cacheWriteInputTokens: count.optional(),
    })
    .optional(),
  usd: count.optional().describe('US dollars, of an answer of a model whose price is known'),
});
export type EventRow = z.output<typeof EventRow>;

export const RowsQuery = z.strictObject({
  from: z.coerce.number().int().min(1).default(1).describe('number of the first event'),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
  query: text.max(500).default('').describe('only events whose whole content contains this, in any case'),
});
export const Rows = z.object({ rows: z.array(EventRow), isMore: z.boolean() });

const RunFile = z.object({ name: text, bytes: count });

export const RunDetail = z.object({
  run: RunRow,
  reason: text,
  usage: RunUsage,
  events: count,
  isTorn: z.boolean().describe('the last line is incomplete'),
  problems: z.array(text),
  plan: PlanView.optional(),
  answer: text,
  version: text,
  parent: text.optional(),
  resumes: text.optional(),
  executor: text.optional(),
  indexHash: text,
  policyHash: text,
  budgets: z.record(text, z.number()),
  skills: z.array(z.object({ id: text, name: text, digest: text })),
  tools: z.array(z.object({ tool: text, calls: count, failed: count })),
  approvals: z.array(z.object({ call: count, tool: text, answer: text })),
  files: z.array(RunFile).describe('output files, kept until the server closes'),
  turns: z.array(count).describe('turns that a fork can start from'),
});
export type RunDetail = z.output<typeof RunDetail>;

export const EventDetail = z.object({
  seq: count,
  time: text,
  at: count,
  isCut: z.boolean().describe('texts longer than 64,000 characters are cut'),
  event: z.unknown().describe(`the recorded event; see ${docsPage('runs')}`),
});

const BudgetLimits = z.strictObject({
  turns: z.int().positive().optional(),
  toolCalls: z.int().positive().optional(),
  scriptRuns: z.int().nonnegative().optional(),
  tokens: z.int().positive().optional(),
  contextTokens: z.int().positive().optional(),
  wallMs: z.int().positive().optional(),
});

/** A name that every system accepts: no folders, no control characters, no leading dot. */
export const FileName = text
  .min(1)
  .max(200)
  .transform((original) => {
    const base =
      original
        .replaceAll('\\', '/')
        .split('/')
        .findLast((part) => part !== '') ?? '';
    const name = base
      .replaceAll(/[^\p{L}\p{N} ._()-]/gu, '_')
      .replace(/^\.+/, '_')
      .trim();
    return name === '' ? 'file' : name;
  });

/** What a run is given besides its request, on a server of one machine and in a fleet. */
export const RunWork = z.strictObject({
  model: text.max(200).optional().describe('a model name; absent: the model of the server or worker'),
  vocabulary: z.enum(VOCABULARY_NAMES).optional().describe('whose tool names the model sees'),
  budget: BudgetLimits.optional(),
  skills: z.array(text.max(200)).max(20).optional().describe('skills that are loaded before the first model call'),
  uploads: z.array(text.max(100)).max(20).optional().describe('ids of uploaded files'),
  files: z
    .array(z.strictObject({ name: FileName, digest: text.regex(/^(?:sha256:)?[0-9a-f]{64}$/) }))
    .max(20)
    .optional()
    .describe('input files by digest: uploaded before, or left by another run'),
  labels: z
    .record(text.regex(/^[A-Za-z0-9][\w./-]{0,62}$/), text.max(200))
    .refine((labels) => Object.keys(labels).length <= 20, 'at most 20 labels')
    .optional()
    .describe('names and values that lists of runs can be narrowed to'),
  idempotencyKey: text.min(1).max(200).optional().describe('a second submission with this key returns the first run'),
  timeoutSeconds: z.number().positive().max(31_536_000).optional().describe('the run is cancelled after this time'),
});

export const StartRequest = RunWork.extend({
  request: text.refine((value) => /\S/.test(value), 'the request is empty'),
});
export const Started = z.object({ run: text, events: text.describe('the address of its stream') });
export type Started = z.output<typeof Started>;

export const ContinueRequest = StartRequest.pick({ model: true, budget: true }).extend({
  again: z.boolean().optional().describe('continue a run that was already resumed, and repeat what that run did since'),
});
export const ForkRequest = ContinueRequest.omit({ again: true }).extend({
  turn: z.int().nonnegative().default(0).describe('keep the answers of the model up to this turn; 0 starts again'),
  request: StartRequest.shape.request.optional().describe('another request; absent: the recorded one'),
});

export const Uploaded = z.object({ id: text, name: text, bytes: count, digest: text });
export type Uploaded = z.output<typeof Uploaded>;

const RunProblem = z.object({ code: text, path: text, line: count.optional(), message: text });

export const Integrity = z.object({
  status: z.enum(['intact', 'unsealed', 'torn', 'running', 'tampered', 'unreadable']),
  seal: text,
  problems: z.array(RunProblem),
  records: z
    .array(z.object({ record: text, attempt: count, status: text, problems: z.array(text) }))
    .optional()
    .describe('of a fleet: the record of each attempt and of each subagent'),
});
export type Integrity = z.output<typeof Integrity>;

export const ComparisonQuery = z.strictObject({ left: text, right: text });
export const RunComparison = z.object({
  left: RunDetail,
  right: RunDetail,
  steps: z
    .array(z.object({ left: EventRow.optional(), right: EventRow.optional(), isSame: z.boolean() }))
    .describe('the actions of both runs, aligned; at most 2,000'),
  isCut: z.boolean().describe('a run has more than 1,000 steps; the others are not compared'),
});
export type RunComparison = z.output<typeof RunComparison>;

export const ReplayReport = z.object({
  status: z.enum(['same', 'different', 'impossible']),
  problems: z.array(text),
  remarks: z.array(text),
  steps: z.array(
    z.object({ call: count, action: text, isSame: z.boolean(), expected: text, got: text, note: text.optional() }),
  ),
});
