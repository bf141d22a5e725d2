/** Installs, updates and uninstalls skills: a plan first, then exactly that plan. */
import { configProblem, isProblem, stableJson, type Problem } from '#core';
import {
  installSkills,
  isNotAllowed,
  packSettings,
  settleTrust,
  uninstallSkills,
  updateSkills,
  type PackSettings,
} from '#packs';
import { sha256 } from '#platform';
import { Finding, PackApplied, PackApply, PackPlan, PackRequest } from '../api/skills.ts';
import type { ServerContext } from '../context.ts';
import { httpError } from '../http-error.ts';
import { route, type Immutable, type Route } from '../router.ts';

type Installed = Exclude<Awaited<ReturnType<typeof installSkills>>, Problem>;
type Updated = Exclude<Awaited<ReturnType<typeof updateSkills>>, Problem>;
type ParsedRequest = ReturnType<typeof PackRequest.parse>;
type Plan = Immutable<PackPlan>;
type Planned = Omit<Plan, 'digest'>;

export function packRoutes(context: ServerContext): readonly Route[] {
  return [
    route(
      'POST /packs/plan',
      'Plan an install, an update or an uninstall; nothing is changed',
      { body: PackRequest, answer: PackPlan },
      async ({ body, signal }) => withDigest((await change(context, body, { signal })).plan),
    ),
    route(
      'POST /packs/apply',
      'Carry out a plan, if it is still the same',
      { body: PackApply, answer: PackApplied },
      async ({ body: { digest, ...request }, signal }) => {
        const { names, notes } = await change(context, request, { signal, digest });
        return { names, notes };
      },
    ),
  ];
}

function withDigest(plan: Planned): Plan {
  const { root, source = '', skills } = plan;
  return { ...plan, digest: `sha256:${sha256(stableJson([root, source, skills]))}` };
}

interface Change {
  readonly plan: Planned;
  readonly names: readonly string[];
  readonly notes: readonly string[];
}

/** Without a digest this is a dry run. */
async function change(
  context: ServerContext,
  request: ParsedRequest,
  { signal, digest }: { readonly signal: AbortSignal; readonly digest?: string },
): Promise<Change> {
  const problem = configProblem(context.options.runtime.diagnostics);
  if (problem !== undefined) throw httpError(409, problem.message, problem.hint);
  const { config, profile } = context.options.runtime;
  const settings = packSettings(context.surroundings, config, { scope: request.scope, profile });
  if (isProblem(settings)) throw refusalError(settings);
  const isDry = digest === undefined;
  const isSame = (plan: Planned): boolean => {
    if (withDigest(plan).digest === digest) return true;
    throw httpError(409, 'the plan changed: the source or the installed skills are different now', 'plan again');
  };
  const changed = await CHANGES[request.action]({ settings, request, isDry, isSame, signal });
  return isDry ? changed : { ...changed, notes: [...changed.notes, ...(await trustNew(context, changed))] };
}

interface ChangeOptions {
  readonly settings: PackSettings;
  readonly request: ParsedRequest;
  readonly isDry: boolean;
  readonly isSame: (plan: Planned) => boolean;
  readonly signal: AbortSignal;
}

interface PlannedChange extends Change {
  readonly digests: ReadonlyMap<string, string>;
}

const CHANGES: Readonly<Record<ParsedRequest['action'], (options: ChangeOptions) => Promise<PlannedChange>>> = {
  async install({ settings, request: { source, skills }, isDry, isSame, signal }) {
    if (source === undefined || source.trim() === '') throw httpError(400, 'an install needs a source');
    let refusedPlan: Installed['plan'] | undefined;
    const done = await installSkills({
      settings,
      source: source.trim(),
      skills,
      existing: 'replace',
      dryRun: isDry,
      trust: true,
      signal,
      confirm: (plan) => Promise.resolve(isSame(installPlan(plan))),
      onRefused: (plan) => (refusedPlan = plan),
    });
    if (isProblem(done)) {
      if (refusedPlan === undefined) throw refusalError(done);
      return { plan: installPlan(refusedPlan), names: [], notes: [], digests: new Map() };
    }
    const changed = done.plan.skills.filter(({ change: kind }) => kind !== 'same');
    return {
      plan: installPlan(done.plan),
      names: done.isDone ? changed.map(({ skill }) => skill.name) : [],
      notes: done.notes,
      digests: new Map(changed.map(({ skill }) => [skill.name, skill.digest])),
    };
  },
  async update({ settings, request: { skills }, isDry, isSame, signal }) {
    let seen: Updated['changed'] = [];
    const done = await updateSkills({
      settings,
      names: skills,
      dryRun: isDry,
      trust: true,
      signal,
      confirm: (changed) => {
        seen = changed;
        return Promise.resolve(isSame(updatePlan(settings.root, changed)));
      },
    });
    if (isProblem(done)) throw refusalError(done);
    const changed = seen.length > 0 ? seen : done.changed;
    return {
      plan: {
        ...updatePlan(settings.root, changed),
        refused: done.skills.flatMap((one) =>
          one.status === 'refused'
            ? [{ name: one.name, code: one.refusal.code, message: one.refusal.message, hint: one.refusal.hint }]
            : [],
        ),
        notes: done.skills.flatMap((one) => (one.status === 'current' ? [`${one.name}: ${one.reason}`] : [])),
      },
      names: done.isDone ? changed.map(({ name }) => name) : [],
      notes: done.notes,
      digests: new Map(changed.flatMap(({ name, skill, isTrusted }) => (isTrusted ? [[name, skill.digest]] : []))),
    };
  },
  async uninstall({ settings, request: { skills }, isDry, isSame, signal }) {
    if (skills.length === 0) throw httpError(400, 'an uninstall needs the names of skills');
    const plan: Planned = {
      root: settings.root,
      skills: skills.map((name) => ({ name, change: 'remove', description: '', files: 0, findings: [], notes: [] })),
      refused: [],
      notes: [],
    };
    const done = await uninstallSkills({
      settings,
      names: skills,
      dryRun: isDry,
      signal,
      confirm: () => Promise.resolve(isSame(plan)),
    });
    if (isProblem(done)) throw refusalError(done);
    return { plan, names: done.isDone ? done.names : [], notes: done.notes, digests: new Map() };
  },
};

function installPlan({ root, typed, skills, refused: left, notes }: Installed['plan']): Planned {
  return {
    root,
    source: typed,
    skills: skills.map(({ skill, change: kind }) => plannedSkill(skill, kind, Object.keys(skill.files).length)),
    refused: left.map(({ name, refusal: { code, message, hint } }) => ({ name, code, message, hint })),
    notes,
  };
}

function updatePlan(root: string, changed: Updated['changed']): Planned {
  return {
    root,
    skills: changed.map(({ skill, status, files }) =>
      plannedSkill(skill, status === 'new' ? 'new' : 'replace', files.length),
    ),
    refused: [],
    notes: [],
  };
}

function plannedSkill(
  { name, version, description, scan, notes, digest }: Updated['changed'][number]['skill'],
  kind: string,
  files: number,
): Plan['skills'][number] {
  return {
    name,
    version,
    change: kind,
    description,
    files,
    findings: Finding.array().parse([...scan.stops, ...scan.warnings]),
    notes: [...notes, `digest ${digest}`],
  };
}

/** The user confirmed exactly these bytes, so they are trusted, as after the command. Returns what stays untrusted, as notes. */
async function trustNew(
  { options: { runtime }, surroundings }: ServerContext,
  { names, digests }: PlannedChange,
): Promise<readonly string[]> {
  await runtime.refresh();
  const confirmed = new Map(names.map((name) => [name, digests.get(name)]));
  const unseen = names.filter((name) => confirmed.get(name) === undefined);
  return await settleTrust(runtime, surroundings.home, confirmed, unseen);
}

function refusalError(refusal: Problem): Error {
  const { code, message, hint } = refusal;
  return httpError(isNotAllowed(refusal) ? 403 : 400, `${message} (${code})`, hint);
}
