import type {
  Action,
  Approve,
  ActionProblem,
  Observation,
  RunEvent,
  SessionState,
  SkillEntry,
  OfType,
  Config,
  ToolServers,
  Redactor,
} from '#core';
import type { openTreeDigests } from '#platform';
import { policyWithSkills, type Policy, type openRunAnswers } from '#policy';
import { resolveSkill, type SkillIndex } from '#skills';
import type { ReadingLimits } from './skill-actions.ts';
import type { Execution, openExecution } from '#sandbox';
import type { SkillSearch } from './search/skill-search.ts';
import type { SkillTrust } from './skill-trust.ts';

/** Folders and settings of programs, the same for all sessions of a runtime. */
export type ProgramPlaces = Omit<Parameters<typeof openExecution>[1], 'findSkill' | 'guard'>;

export type AskedBy = OfType<RunEvent, 'action'>['askedBy'];

export interface ClosedFolders {
  /** Why a model must not read this real path with file tools; undefined if it may. `active` are the loaded skills. */
  refusal(
    place: { readonly absolute: string; readonly shown: string },
    active: readonly SkillEntry[],
  ): ActionProblem | undefined;
}

/** The project whose files may be used, and whether servers may be asked. */
export interface HostAccess {
  readonly project: string;
  readonly hasNetwork: boolean;
  readonly closed: ClosedFolders;
  /** The risk of a write does not depend on whether git can undo it. */
  readonly writesAreHighRisk?: boolean | undefined;
}

/** The servers of a session, with what they need from it. */
export interface SessionServers {
  readonly call: (
    action: OfType<Action, 'call_mcp_tool'>,
    signal: AbortSignal | undefined,
  ) => Promise<OfType<Observation, 'tool-called'> | ActionProblem>;
  readonly openSkill: (
    skill: SkillEntry,
    wanted: readonly string[] | undefined,
    signal?: AbortSignal,
  ) => ReturnType<ToolServers['openSkill']>;
  readonly findSkill: (reference: string) => ReturnType<ToolServers['findSkill']>;
}

/** Everything that actions of one session have in common. */
export interface ActionSettings {
  /** The snapshot of skills that names are resolved against. */
  readonly index: SkillIndex;
  readonly search: SkillSearch;
  readonly limits: ReadingLimits;
  readonly trust: SkillTrust;
  readonly digests: ReturnType<typeof openTreeDigests>;
  /** Rules of the configuration, the project and the run; active skills narrow them. */
  readonly policy: Policy;
  readonly allowedTools: NonNullable<NonNullable<Config['policy']>['allowed_tools']>;
  /** Whether programs that reach nothing outside their sandbox are asked about. */
  readonly sandboxed: NonNullable<NonNullable<Config['policy']>['sandboxed']>;
  /** The project that approvals are bound to. */
  readonly project: string;
  /** What a skill says that it needs and that is not here, in sentences. */
  readonly missing: (skill: SkillEntry) => readonly string[];
  /** Absent: no person is available for any question. */
  readonly approve: Approve | undefined;
  /** Answers for the rest of the run; child sessions share them. */
  readonly runAnswers: ReturnType<typeof openRunAnswers>;
  /** Removes secrets from everything that is shown or recorded. */
  readonly redactor: Redactor;
  /** Absent: programs cannot be run. */
  readonly execution: Execution | undefined;
  /** Absent: project files and the network cannot be used. */
  readonly host: HostAccess | undefined;
  /** Absent: no tools of MCP servers can be called. */
  readonly servers: SessionServers | undefined;
  /** Absent: every action is performed. */
  readonly recall?: Recall | undefined;
  /** Awaited before an action with effects, after its events were written: the record may have to be safe elsewhere first. */
  readonly settle?: (() => Promise<void>) | undefined;
}

/** What one action is performed with. */
export interface ActionContext extends ActionSettings {
  readonly askedBy: AskedBy;
  /** Name of the tool in the vocabulary of the session, for the record; absent if it is the type of the action. */
  readonly tool?: string | undefined;
  /** Absent for an action outside of a session. */
  readonly state: SessionState | undefined;
  readonly signal: AbortSignal | undefined;
  readonly journal: CallJournal;
}

/** Returns what an earlier run recorded for this action, or nothing if the action has to be performed. */
export type Recall = (requested: {
  readonly call: number;
  readonly action: Action;
  readonly askedBy: AskedBy;
}) => RecalledAction | undefined;

interface RecalledAction {
  /** The recorded decision, approval and skill use. */
  readonly events: readonly RunEvent[];
  readonly observation: Observation;
}

/** Receives every event before the step it describes takes effect. */
export interface CallJournal {
  /** Whether events are stored. If not, skill digests are not computed for them. */
  readonly isKept: boolean;
  /** Returns the number of the next action. */
  nextCall(): number;
  /** Throws if the event cannot be written; then the step is not done. */
  record(event: RunEvent): void;
  /** Writes buffered events before a step with effects that others can see. Throws as `record` does. */
  flush(): void;
}

/** The loaded skills. */
export function activeSkills({ state, index }: Pick<ActionContext, 'state' | 'index'>): readonly SkillEntry[] {
  return (state?.loaded ?? []).flatMap(({ skill }) => resolveSkill(index, skill.id) ?? []);
}

/** The policy with the loaded skills, or `active` instead of them, and with those that newer loads displaced. */
export function policyInUse(context: PolicyContext, active = activeSkills(context)): Policy {
  const { state, index } = context;
  const displaced = (state?.displaced ?? []).flatMap(({ skill }) => resolveSkill(index, skill.id) ?? []);
  return policyWithSkills(context, active, displaced);
}

type PolicyContext = Pick<ActionContext, 'state' | 'index' | 'policy' | 'allowedTools'>;
