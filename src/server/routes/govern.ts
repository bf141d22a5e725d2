import { z } from 'zod';
import { DEFAULT_BUDGET } from '../../core/budget.ts';
import { capabilityLine } from '../../policy/capability-text.ts';
import { isAnswered, listPending, pendingFolder } from '../../policy/approval/pending-approvals.ts';
import type { ApprovalBook } from '../approvals.ts';
import { examineExecutors } from '../../runtime/execution/executors.ts';
import { explainDecision, policyWith, shownLayers } from '../../runtime/explain-policy.ts';
import { runIds } from '../../journal/run-folder.ts';
import { VERSION } from '../../version.ts';
import {
  Answered,
  ApprovalAnswer,
  Approvals,
  CaseHistory,
  CaseHistoryQuery,
  DecisionView,
  EvaluationPage,
  EvaluationQuery,
  Evaluations,
  ExplainRequest,
  Isolation,
  PolicyView,
  Revoked,
  ServerStatus,
} from '../api/govern.ts';
import type { ServerContext, SkillContext } from '../context.ts';
import { HttpError } from '../http-error.ts';
import { changes } from '../live-stream.ts';
import { eventRoute, fileRoute, jsonRoute } from '../router.ts';
import type { Immutable, Route } from '../router.ts';

const CHANGE_MS = 200;

export function approvalRoutes(book: ApprovalBook): readonly Route[] {
  return [
    jsonRoute({
      method: 'GET',
      path: '/approvals',
      summary: 'List questions of all runs of this user that wait for an answer, and stored answers',
      answer: Approvals,
      handle: () => book.list(),
    }),
    jsonRoute({
      method: 'POST',
      path: '/approvals/{id}',
      summary: 'Answer a question; the first answer counts',
      body: ApprovalAnswer,
      answer: Answered,
      async handle({ params: { id = '' }, body }) {
        await book.answer(id, body);
        return { id, verdict: body.verdict, scope: body.scope };
      },
    }),
    jsonRoute({
      method: 'DELETE',
      path: '/approvals/stored/{id}',
      summary: 'Revoke a stored answer',
      answer: Revoked,
      async handle({ params: { id = '' } }) {
        const revoked = await book.revoke(id);
        if (revoked === 0) throw new HttpError(404, 'no such answer');
        return { revoked };
      },
    }),
  ];
}

export function policyRoutes({ options: { runtime, reach }, surroundings }: SkillContext): readonly Route[] {
  let examined: Promise<Immutable<Isolation>> | undefined;
  return [
    jsonRoute({
      method: 'GET',
      path: '/policy',
      summary: 'Show the rules in force, layer by layer',
      answer: PolicyView,
      handle: async () => ({
        allowedTools: runtime.config.policy?.allowed_tools ?? 'restrict',
        sandboxed: runtime.config.policy?.sandboxed ?? 'ask',
        tools: TOOLS,
        layers: shownLayers(await policyWith(runtime, [])),
      }),
    }),
    jsonRoute({
      method: 'POST',
      path: '/policy/explain',
      summary: 'Decide about a tool and an argument without doing anything, and say why',
      body: ExplainRequest,
      answer: DecisionView,
      async handle({ body: { tool, subject, skills } }) {
        const {
          effect,
          risk,
          rule,
          origin,
          reason,
          capabilities = [],
        } = await explainDecision({
          runtime,
          surroundings,
          tool,
          subject: subject === '' ? undefined : subject,
          active: skills.map((name) => runtime.find(name)),
          reach: {
            executor: reach?.executor ?? runtime.config.execution?.executor,
            writes: reach?.writes ?? [],
            hosts: reach?.hosts ?? runtime.config.execution?.network ?? [],
          },
        });
        const shown = capabilities.length === 0 ? [] : [capabilityLine(capabilities)];
        return { effect, risk, rule, origin, reason, capabilities: shown };
      },
    }),
    jsonRoute({
      method: 'GET',
      path: '/isolation',
      summary: 'Show what each executor blocks on this machine; the first request probes, which takes seconds',
      answer: Isolation,
      handle: () => (examined ??= examine()),
    }),
  ];

  async function examine(): Promise<Immutable<Isolation>> {
    const executors = await examineExecutors(runtime);
    return {
      executors: executors.map(({ name, report, reasons, install }) => ({
        name,
        isIsolating: report?.isIsolating === true,
        reasons,
        install,
        results: (report?.results ?? []).map((result) => ({ name: result.name, verdict: result.verdict })),
        limits: { ...report?.capabilities.limits },
      })),
    };
  }
}

/** Tools that the policy page offers; any other name can be typed. */
const TOOLS = [
  'run_command',
  'run_script',
  'read_file',
  'write_file',
  'delete_file',
  'list_dir',
  'grep',
  'network_request',
  'load_skill',
  'install_packages',
] as const;

export function evaluationRoutes({ options: { evaluations } }: ServerContext): readonly Route[] {
  if (evaluations === undefined) return [];
  return [
    jsonRoute({
      method: 'GET',
      path: '/evaluations',
      summary: 'List evaluations, newest first',
      answer: Evaluations,
      handle: () => ({ evaluations: evaluations.list() }),
    }),
    jsonRoute({
      method: 'GET',
      path: '/evaluations/{id}',
      summary: 'Show a report, and what changed since an earlier one',
      query: EvaluationQuery,
      answer: EvaluationPage,
      handle: ({ params: { id = '' }, query: { against } }) => evaluations.page(id, against),
    }),
    fileRoute({
      path: '/evaluations/{id}/export',
      summary: 'Export a report as one HTML file',
      query: EvaluationQuery,
      handle: ({ params: { id = '' }, query: { against } }) => ({
        name: `evaluation-${id}.html`,
        mediaType: 'application/octet-stream',
        chunks: [evaluations.html(id, against)],
      }),
    }),
    jsonRoute({
      method: 'GET',
      path: '/case-history',
      summary: 'Show how cases ended in the newest evaluations',
      query: CaseHistoryQuery,
      answer: CaseHistory,
      handle: ({ query }) => ({ attempts: evaluations.history(query) }),
    }),
  ];
}

export function statusRoutes(context: ServerContext): readonly Route[] {
  const { options, limits, surroundings, starter } = context;
  const { home } = surroundings;
  return [
    jsonRoute({
      method: 'GET',
      path: '/status',
      summary: 'Show the version, the project, the model and the limits of the server',
      answer: ServerStatus,
      handle: () => ({
        version: VERSION,
        project: surroundings.cwd,
        model: options.model.id,
        reason: options.reasonForModel ?? '',
        rights: ['submit', 'approve'] as const,
        canInstall: true,
        canEvaluate: options.evaluations !== undefined,
        canChooseModel: options.openModel !== undefined,
        runs: starter.active(),
        limits: { runs: limits.runs, uploadBytes: limits.uploadBytes, bodyBytes: limits.bodyBytes },
        budget: { ...DEFAULT_BUDGET, ...options.agent?.budget },
      }),
    }),
    eventRoute({
      path: '/changes',
      summary: 'Learn about new questions, runs and skills',
      query: z.strictObject({}),
      handle: ({ signal }) =>
        changes(
          () => {
            const waiting = home === undefined ? [] : listPending({ folder: pendingFolder(home), home }).questions;
            const open = waiting.filter(
              ({ request }) => home !== undefined && !isAnswered({ folder: pendingFolder(home), home }, request.id),
            );
            return {
              approvals: open.length,
              // A question that is answered and asked again is another state.
              questions: waiting.map(({ asking }) => asking).join(' '),
              answered: waiting.length - open.length,
              runs: runIds(options.directory).length,
              newest: runIds(options.directory)[0] ?? '',
              active: starter.active(),
              skills: options.runtime.index.indexHash,
            };
          },
          { signal, pollMs: CHANGE_MS },
        ),
    }),
  ];
}
