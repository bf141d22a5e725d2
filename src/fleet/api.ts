/** The shapes of the fleet API. The client and the OpenAPI description are made from them. */
import { z } from 'zod';

import { RunFilter, RunWork } from '#server';

/** `admin` manages keys, webhooks, schedules and limits of its project. */
export const RIGHTS = ['submit', 'read', 'approve', 'admin'] as const;

/** Rows have dates, and answers the text of them. */
const Time = z
  .codec(z.date(), z.iso.datetime(), { decode: (date) => date.toISOString(), encode: (text) => new Date(text) })
  .describe('ISO 8601 in UTC');

export const Submission = RunWork.extend({
  request: z.string().min(1).max(100_000),
  priority: z.int().min(0).max(1_000_000).optional().describe('larger numbers run later; 0 is the default'),
  delaySeconds: z.number().min(0).max(31_536_000).optional(),
  notify: z
    .strictObject({ url: z.string().max(2_000), secret: z.string().min(16).max(200) })
    .optional()
    .describe('gets a request when the run ends, signed with the secret, as a webhook does'),
  traceparent: z
    .string()
    .regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
    .optional()
    .describe('the W3C trace context that the spans of the run belong to'),
});

export const Run = z.object({
  run: z.string(),
  state: z.enum(['queued', 'running', 'waiting', 'ended']),
  labels: z.record(z.string(), z.string()),
  request: z.string().describe('empty, as the fields below, in the answer to a key without the right to read'),
  outcome: z.string().nullable(),
  answer: z.string().nullable(),
  reason: z.string().nullable(),
  attempt: z.int().describe('1 unless a worker was lost, drained, or an approval was waited for'),
  worker: z.string().nullable(),
  used: z.record(z.string(), z.number()).nullable(),
  submittedBy: z.string(),
  submittedAt: Time,
  startedAt: Time.nullable(),
  endedAt: Time.nullable(),
  deadline: Time.nullable().describe('when the run is cancelled unless it has ended'),
  events: z.string().describe('the address of its stream'),
});

export const RunList = z.object({ runs: z.array(Run), next: z.string().nullable() });
export const RunListQuery = RunFilter.extend({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  before: z.string().max(100).optional(),
});

export const NewLink = z.strictObject({
  file: z.string().max(1_000).optional().describe('an output file; absent: the state and the answer of the run'),
  seconds: z.int().min(1).max(604_800).default(3_600).describe('how long the link works'),
});
export const Link = z.object({ path: z.string().describe('below the address of the server'), expiresAt: Time });

export const QuestionAnswer = z.strictObject({
  verdict: z.enum(['yes', 'no']),
  scope: z.enum(['once', 'run']).default('once'),
  note: z.string().max(2_000).optional(),
});

export const Key = z.object({
  id: z.string(),
  name: z.string(),
  project: z.string(),
  rights: z.array(z.enum(RIGHTS)),
  createdAt: Time,
  revokedAt: Time.nullable(),
});
export const KeyList = z.object({ keys: z.array(Key) });
export const NewKey = z.strictObject({ name: z.string().min(1).max(100), rights: z.array(z.enum(RIGHTS)).min(1) });
export const CreatedKey = z.object({ key: Key, secret: z.string().describe('shown once') });

export const Webhook = z.object({ id: z.string(), url: z.string(), createdAt: Time });
export const WebhookList = z.object({ webhooks: z.array(Webhook) });
export const NewWebhook = z.strictObject({ url: z.string().max(2_000) });
export const CreatedWebhook = Webhook.extend({ secret: z.string().describe('signs requests; shown once') });

const Schedule = z.object({ name: z.string(), cron: z.string(), request: z.string(), isPaused: z.boolean() });
export const ScheduleList = z.object({ schedules: z.array(Schedule) });
export const NewSchedule = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  cron: z.string().max(100).describe('five fields, as in crontab'),
  request: z
    .string()
    .max(100_000)
    .refine((value) => /\S/.test(value), 'the request is empty'),
});

export const AuditList = z.object({
  acts: z.array(
    z.object({ id: z.string(), at: Time, actor: z.string(), act: z.string(), target: z.string(), detail: z.unknown() }),
  ),
});
export const AuditQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  before: z.coerce.number().int().optional(),
});

export const Fleet = z.object({
  workers: z.array(
    z.object({
      id: z.string(),
      host: z.string(),
      version: z.string(),
      slots: z.int(),
      running: z.int(),
      isDraining: z.boolean(),
      seenAt: Time,
    }),
  ),
  runs: z.record(z.string(), z.int()).describe('runs of this project by state'),
});

export const Done = z.object({ done: z.boolean() });
