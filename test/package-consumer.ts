/** A user's program with every door of the package, compiled against the packed types with the oldest and the newest TypeScript. */
import {
  SkillError,
  createRuntime,
  isSkillError,
  openApprovals,
  readRun,
  type ApprovalRequest,
  type Runtime,
  type RunEvent,
  type SkillErrorData,
} from 'skillwright';
import { DEFAULT_BUDGET, openAgentModel, runAgent, type AgentResult, type Model } from 'skillwright/agent';
import { openFleetClient, type FleetRun } from 'skillwright/client';
import { applyEdits, parseSkillMd, type Diagnostic } from 'skillwright/core';
import { evaluate, exitOf, readCases, type EvalReport } from 'skillwright/evals';
import { openSkillServer, openToolServers, type SkillServer } from 'skillwright/mcp';
import { isRefusal, verifyRoot, type PackRefusal } from 'skillwright/packs';
import { openScripted } from 'skillwright/testing';
import {
  VOCABULARIES,
  openSkillTools,
  type Action,
  type Observation,
  type SkillTool,
  type Vocabulary,
} from 'skillwright/tools';

export async function answer(runtime: Runtime, request: string, signal: AbortSignal): Promise<AgentResult> {
  const { model } = await openAgentModel({ name: 'rules', env: {}, signal });
  return runAgent({ runtime, model, request, budget: { ...DEFAULT_BUDGET, turns: 3 }, signal });
}

export async function performOne(action: Action): Promise<Observation['type']> {
  const runtime = await createRuntime({ cwd: '.', cache: false });
  const { approve } = openApprovals({ home: undefined, asker: { by: 'callback', ask: refuse } });
  const run = await runtime.startRun({ request: 'one action', approve });
  const observation = await run.session.perform(action);
  await run.end('done');
  const events: readonly RunEvent['type'][] = [...readRun(run.path ?? '').lines].map(({ event }) => event.type);
  return events.length > 0 ? observation.type : 'failed';
}

async function refuse(request: ApprovalRequest): Promise<object> {
  return { verdict: request.detail.kind === 'write' ? 'yes' : 'no', scope: 'once' };
}

export function missingPackage(error: unknown): SkillErrorData['package/missing'] | undefined {
  if (!isSkillError(error))
    throw new SkillError({ code: 'input/invalid', message: '', hint: '', data: { expected: '' } });
  return 'package' in error.data ? error.data : undefined;
}

export function repaired(text: string): string {
  const { diagnostics } = parseSkillMd(
    { text, path: 'SKILL.md', directory: 'example', fileName: 'SKILL.md', validUtf8: true },
    { mode: 'strict' },
  );
  const wanted = diagnostics.filter((diagnostic: Diagnostic) => diagnostic.severity === 'error');
  return applyEdits(text, wanted).text;
}

export const report = async (options: Parameters<typeof evaluate>[0]): Promise<number> => {
  const done: EvalReport = await evaluate({ ...options, cases: readCases(['evals']).cases });
  return exitOf(done);
};

export async function serve(runtime: Runtime): Promise<SkillServer> {
  const servers = await openToolServers(runtime);
  await servers.close();
  return openSkillServer({ runtime, version: '1.0.0', onWarning: () => undefined });
}

export async function problems(root: string): Promise<readonly string[]> {
  const verified = await verifyRoot(root);
  if (isRefusal(verified)) return [(verified satisfies PackRefusal).code];
  return verified.skills.flatMap(({ drift }) => [...drift.added, ...drift.changed]);
}

export async function submit(url: string, key: string): Promise<FleetRun['state']> {
  const client = openFleetClient({ url, key });
  return (await client.submit({ request: 'sum up the orders' })).state;
}

export const model: Model = openScripted([{ text: 'Done.' }]);

export async function tools(): Promise<readonly SkillTool[]> {
  const vocabulary: Vocabulary = VOCABULARIES.trpc;
  const opened = await openSkillTools({ vocabulary });
  return opened.tools;
}
