import { z } from 'zod';
import { DEFAULT_BUDGET } from '#core';
import { capabilityLine, openApprovalFiles } from '#policy';
import type { ApprovalBook } from '../approvals.ts';
import { examineExecutors, explainDecision, policyWith, shownLayers } from '#runtime';
import { runIds } from '#journal';
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
import { httpError } from '../http-error.ts';
import { changes } from '../live-stream.ts';
import { eventRoute, fileRoute, jsonRoute, type Immutable, type Route } from '../router.ts';

const CHANGE_MS = 200;

export function approvalRoutes(book: ApprovalBook): readonly Route[] {
  return [
    jsonRoute(
      'GET /approvals',
      'List questions of all runs of this user that wait for an answer, and stored answers',
      { answer: Approvals },
      () => book.list(),
    ),
    jsonRoute(
      'POST /approvals/{id}',
      'Answer a question; the first answer counts',
      { body: ApprovalAnswer, answer: Answered },
      async ({ params: { id = '' }, body }) => {
        await book.answer(id, body);
        return { id, verdict: body.verdict, scope: body.scope };
      },
    ),
    jsonRoute(
      'DELETE /approvals/stored/{id}',
      'Revoke a stored answer',
      { answer: Revoked },
      async ({ params: { id = '' } }) => {
        const revoked = await book.revoke(id);
        if (revoked === 0) throw httpError(404, 'no such answer');
        return { revoked };
      },
    ),
  ];
}

export function policyRoutes({ options: { runtime, reach }, surroundings }: SkillContext): readonly Route[] {
  let examined: Promise<Immutable<Isolation>> | undefined;
  return [
    jsonRoute('GET /policy', 'Show the rules in force, layer by layer', { answer: PolicyView }, async () => ({
      allowedTools: runtime.config.policy?.allowed_tools ?? 'restrict',
      sandboxed: runtime.config.policy?.sandboxed ?? 'ask',
      tools: TOOLS,
      layers: shownLayers(await policyWith(runtime, [])),
    })),
    jsonRoute(
      'POST /policy/explain',
      'Decide about a tool and an argument without doing anything, and say why',
      { body: ExplainRequest, answer: DecisionView },
      async ({ body: { tool, subject, skills } }) => {
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
    ),
    jsonRoute(
      'GET /isolation',
      'Show what each executor blocks on this machine; the first request probes, which takes seconds',
      { answer: Isolation },
      () => (examined ??= examine()),
    ),
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
    jsonRoute('GET /evaluations', 'List evaluations, newest first', { answer: Evaluations }, () => ({
      evaluations: evaluations.list(),
    })),
    jsonRoute(
      'GET /evaluations/{id}',
      'Show a report, and what changed since an earlier one',
      { query: EvaluationQuery, answer: EvaluationPage },
      ({ params: { id = '' }, query: { against } }) => evaluations.page(id, against),
    ),
    fileRoute(
      '/evaluations/{id}/export',
      'Export a report as one HTML file',
      { query: EvaluationQuery },
      ({ params: { id = '' }, query: { against } }) => ({
        name: `evaluation-${id}.html`,
        mediaType: 'application/octet-stream',
        chunks: [evaluations.html(id, against)],
      }),
    ),
    jsonRoute(
      'GET /case-history',
      'Show how cases ended in the newest evaluations',
      { query: CaseHistoryQuery, answer: CaseHistory },
      ({ query }) => ({ attempts: evaluations.history(query) }),
    ),
  ];
}

export function statusRoutes(context: ServerContext): readonly Route[] {
  const { options, limits, surroundings, starter } = context;
  const { home } = surroundings;
  return [
    jsonRoute(
      'GET /status',
      'Show the version, the project, the model and the limits of the server',
      { answer: ServerStatus },
      () => ({
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
    ),
    eventRoute('/changes', 'Learn about new questions, runs and skills', { query: z.strictObject({}) }, ({ signal }) =>
      changes(
        () => {
          const waiting = home === undefined ? [] : openApprovalFiles(home).questions().questions;
          const open = waiting.filter(({ isAnswered }) => !isAnswered);
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
    ),
  ];
}
