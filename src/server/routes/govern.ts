import { capabilityLine } from '#policy';
import { questionView, type ApprovalBook } from '../approvals.ts';
import { explainPolicy } from '#runtime';
import { examineExecutors } from '#sandbox';
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
} from '../api/govern.ts';
import type { ServerContext, SkillContext } from '../context.ts';
import { httpError } from '../http-error.ts';
import { route, type Immutable, type Route } from '../router.ts';

export function approvalRoutes(book: ApprovalBook): readonly Route[] {
  return [
    route(
      'GET /approvals',
      'List questions that wait for an answer, oldest first, and stored answers',
      { answer: Approvals },
      async () => {
        const { waiting, ...rest } = await book.list();
        return { pending: waiting.map(questionView), ...rest };
      },
    ),
    route(
      'POST /approvals/{id}',
      'Answer a question; the first answer counts',
      { body: ApprovalAnswer, answer: Answered },
      async ({ params: { id = '' }, body }) => {
        await book.answer(id, body);
        return { id, verdict: body.verdict, scope: body.scope };
      },
    ),
    route(
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
    route('GET /policy', 'Show the rules in force, layer by layer', { answer: PolicyView }, async () => ({
      allowedTools: runtime.config.policy?.allowed_tools ?? 'restrict',
      sandboxed: runtime.config.policy?.sandboxed ?? 'ask',
      tools: TOOLS,
      layers: (await explainPolicy(runtime, [])).layers,
    })),
    route(
      'POST /policy/explain',
      'Decide about a tool and an argument without doing anything, and say why',
      { body: ExplainRequest, answer: DecisionView },
      async ({ body: { tool, subject, skills } }) => {
        const { decide } = await explainPolicy(
          runtime,
          skills.map((name) => runtime.find(name)),
        );
        const { capabilities = [], ...decision } = await decide({
          surroundings,
          tool,
          subject: subject === '' ? undefined : subject,
          reach: {
            executor: reach?.executor ?? runtime.config.execution?.executor,
            writes: reach?.writes ?? [],
            hosts: reach?.hosts ?? runtime.config.execution?.network ?? [],
          },
        });
        const lines = capabilities.length === 0 ? [] : [capabilityLine(capabilities)];
        return DecisionView.parse({ ...decision, capabilities: lines });
      },
    ),
    route(
      'GET /isolation',
      'Show what each executor blocks on this machine; the first request probes, which takes seconds',
      { answer: Isolation },
      () => (examined ??= examine()),
    ),
  ];

  async function examine(): Promise<Immutable<Isolation>> {
    const executors = await examineExecutors(runtime);
    return Isolation.parse({
      executors: executors.map(({ report, ...executor }) => ({
        ...executor,
        isIsolating: report?.isIsolating === true,
        results: report?.results ?? [],
        limits: report?.capabilities.limits ?? {},
      })),
    });
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

export function evaluationRoutes(evaluations: ServerContext['options']['evaluations']): readonly Route[] {
  if (evaluations === undefined) return [];
  return [
    route('GET /evaluations', 'List evaluations, newest first', { answer: Evaluations }, () => ({
      evaluations: evaluations.list(),
    })),
    route(
      'GET /evaluations/{id}',
      'Show a report, and what changed since an earlier one',
      { query: EvaluationQuery, answer: EvaluationPage },
      ({ params: { id = '' }, query: { against } }) => evaluations.page(id, against),
    ),
    route(
      'GET /evaluations/{id}/export',
      'Export a report as one HTML file',
      { query: EvaluationQuery, answer: 'file' },
      ({ params: { id = '' }, query: { against } }) => ({
        name: `evaluation-${id}.html`,
        mediaType: 'application/octet-stream',
        chunks: [evaluations.html(id, against)],
      }),
    ),
    route(
      'GET /case-history',
      'Show how cases ended in the newest evaluations',
      { query: CaseHistoryQuery, answer: CaseHistory },
      ({ query }) => ({ attempts: evaluations.history(query) }),
    ),
  ];
}
