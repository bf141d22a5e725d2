import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Action } from '../../src/core/action.ts';
import type { ApprovalAnswer, ApprovalRequest, Approve } from '../../src/core/approval.ts';
import type { Executor } from '../../src/core/execution.ts';
import type { Observation } from '../../src/core/observation.ts';
import { openApprovals, type ApprovalsOptions } from '../../src/policy/approval/approver.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/runtime/runtime.ts';
import type { PerformOptions, Session } from '../../src/runtime/session.ts';
import type { SessionOptions } from '../../src/runtime/start-session.ts';
import { openTrust } from '../../src/policy/trust.ts';
import { reviewSkills } from '../../src/runtime/trust-review.ts';
import { groupExecutor } from '../sandbox/own-executor.ts';
import { scratch, writeSkill, type SkillText } from '../skills/registry/support.ts';
import type { Access } from '../../src/policy/access.ts';

/** A home folder and a project with the skill `demo`, and nothing else of this machine. */
export interface PolicyWorld {
  readonly home: string;
  readonly project: string;
  /** Of the skill `demo`. */
  readonly demo: string;
}

export function policyWorld(): PolicyWorld {
  const base = scratch();
  const [home, project] = [path.join(base, 'home'), path.join(base, 'project')];
  mkdirSync(home);
  mkdirSync(path.join(project, '.git'), { recursive: true });
  const demo = addSkill(project, 'demo', { description: 'Shows how it goes. Use it for demonstrations.' });
  writeFileSync(path.join(project, 'notes.md'), 'a note\n');
  writeFileSync(path.join(project, 'old.md'), 'old\n');
  return { home, project, demo };
}

/** A skill of the project with a document and a script that says that it ran. */
export function addSkill(project: string, name: string, text: SkillText = {}): string {
  const dir = path.join(project, '.agent/skills', name);
  writeSkill(dir, text);
  mkdirSync(path.join(dir, 'references'));
  mkdirSync(path.join(dir, 'scripts'));
  writeFileSync(path.join(dir, 'references/guide.md'), `# Guide\n\nThe guide of ${name}.\n`);
  const script = path.join(dir, 'scripts/go.sh');
  writeFileSync(script, `#!/bin/sh\necho "${name} ran $1"\n`);
  chmodSync(script, 0o755);
  return dir;
}

/** What a person says with `skillwright trust`: all skills of the project as they are now. */
export async function trustProject({ home, project }: PolicyWorld): Promise<void> {
  const skills = await reviewSkills({ surroundings: { cwd: project, home, env: {} }, folder: project });
  await openTrust({ home, bind: 'digest' }).trust(project, {
    skills: skills.map(({ dir, digest = '', head }) => ({ dir, digest, head })),
  });
}

/** A world whose project stays trusted when a test adds or changes skills. */
export async function trustedWorld(): Promise<PolicyWorld> {
  const world = policyWorld();
  mkdirSync(path.join(world.home, '.agent'), { mode: 0o700 });
  writeFileSync(path.join(world.home, '.agent/config.json'), '{"trust":{"bind":"path"}}');
  await trustProject(world);
  return world;
}

/** A trusted project with skills, each with a line more in its frontmatter. */
export async function worldWith(lists: Readonly<Record<string, string>>): Promise<PolicyWorld> {
  const world = await trustedWorld();
  for (const [name, fields] of Object.entries(lists)) addSkill(world.project, name, { fields: [fields] });
  return world;
}

export function runtimeIn({ home, project }: PolicyWorld, more: RuntimeOptions = {}): Promise<Runtime> {
  return createRuntime({ cwd: project, home, env: {}, cache: false, ...more });
}

/** Plain processes that claim walls around them: for questions whose answers depend on that. Nothing here tests the walls. */
export function walledExecutor(): Executor {
  return { ...groupExecutor(), name: 'bubblewrap' };
}

/** A session with all tools as an agent opens one: nothing is opened beyond the rules. */
export async function sessionIn(
  world: PolicyWorld,
  options: SessionOptions = {},
  more: RuntimeOptions = {},
): Promise<Session> {
  const runtime = await runtimeIn(world, more);
  const session = await runtime.startSession({
    host: {},
    execution: { executor: walledExecutor(), opens: false, artifacts: false },
    ...options,
  });
  onTestFinished(() => session.close());
  return session;
}

/** The configuration of the user, as `.agent/config.json` of the home folder would say it. */
export function userPolicy(policy: object): RuntimeOptions {
  return { config: { policy } };
}

export interface Watched {
  readonly approve: Approve;
  readonly asked: readonly ApprovalRequest[];
  readonly answers: readonly (ApprovalAnswer | 'nobody' | 'pending')[];
}

/** Approvals as a program opens them, and what went through them. */
export function watchedApprovals(options: ApprovalsOptions): Watched {
  const { approve } = openApprovals(options);
  const asked: ApprovalRequest[] = [];
  const answers: (ApprovalAnswer | 'nobody' | 'pending')[] = [];
  return {
    asked,
    answers,
    async approve(request, more) {
      asked.push(request);
      const answer = await approve(request, more);
      answers.push(answer);
      return answer;
    },
  };
}

/** Someone who is asked by a callback and always says the same; counts how often they were. */
export function callback(answer: unknown, home?: string): Watched & { readonly calls: () => number } {
  let calls = 0;
  const ask = async (): Promise<unknown> => {
    calls += 1;
    return answer;
  };
  return { ...watchedApprovals({ home, asker: { by: 'callback', ask } }), calls: () => calls };
}

/** `done`, or the code it failed with. */
export async function outcome(
  session: Pick<Session, 'perform'>,
  action: Action,
  options?: PerformOptions,
): Promise<string> {
  return outcomeOf(await session.perform(action, options));
}

export function outcomeOf(observation: Observation): string {
  return observation.type === 'failed' ? observation.code : 'done';
}

export function otherTool(tool: string): readonly Access[] {
  return [{ tool, subject: { kind: 'none' } }];
}
