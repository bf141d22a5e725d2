import type { ActionType, DocumentSelection } from './action.ts';
import type { FailureCode } from './failure-codes.ts';
import type { ShownContent, ShownReason } from './text/shown.ts';
import type { SkillIdentity } from './observation.ts';

/** How long loaded instructions stay: until the next turn, for one request, or for the whole session. */
export const LIFETIMES = ['turn', 'once', 'session'] as const;
export type Lifetime = (typeof LIFETIMES)[number];

/** Where loaded instructions are placed. */
export const PLACEMENTS = ['tool-results', 'system'] as const;
export type Placement = (typeof PLACEMENTS)[number];

export interface SessionSettings {
  readonly lifetime: Lifetime;
  /** Maximum number of loaded skills; the least recently used one is dropped. */
  readonly maxLoaded: number;
  readonly placement: Placement;
  /** The caller keeps the whole conversation: loaded instructions are not sent again while they are active. */
  readonly keepsConversation?: boolean;
}

/** Who requested it: the model, a person, or the calling program. */
export type AskedBy = 'model' | 'person' | 'program';

/** Events of a session. State and ledger are derived from them. */
export type SessionEvent =
  | { readonly type: 'session-start'; readonly settings: SessionSettings; readonly indexHash: string }
  | { readonly type: 'turn-start' }
  /** A request to the model; `shown` lists the skill content in its system message. */
  | { readonly type: 'request-start'; readonly shown: readonly ShownContent[] }
  | {
      readonly type: 'skill-load';
      readonly skill: SkillIdentity;
      readonly digest: string;
      readonly askedBy: AskedBy;
      readonly lifetime: Lifetime;
      /** It was loaded for the model, which has not loaded it itself. */
      readonly isPreloaded?: boolean;
    }
  /** Requested again while the same content was active; answered with a note. */
  | { readonly type: 'skill-repeat'; readonly skill: string }
  | {
      readonly type: 'documents-select';
      readonly skill: SkillIdentity;
      readonly selected: DocumentSelection;
      /** Digests of the selected documents that were shown, by path. */
      readonly digests?: Readonly<Record<string, string>>;
    }
  | { readonly type: 'content-show'; readonly shown: ShownContent }
  | { readonly type: 'action-end'; readonly action: ActionType }
  | {
      readonly type: 'action-fail';
      readonly action: ActionType;
      readonly code: FailureCode;
      /** What failed. Absent in older records. */
      readonly message?: string;
      /** The path, command or host that the action named. */
      readonly target?: string;
      /** The same failure occurred while this action was running. */
      readonly isParallel?: true;
    }
  /** The conversation was compacted; only the skills in `kept` remain complete. */
  | { readonly type: 'session-compact'; readonly kept: readonly string[] };

/** A skill whose instructions are in the conversation. */
export interface LoadedSkill {
  readonly skill: SkillIdentity;
  /** Digest of the SKILL.md that was shown. */
  readonly digest: string;
  readonly askedBy: AskedBy;
  readonly lifetime: Lifetime;
  readonly documents: DocumentSelection;
  /** Digests of the selected documents that were shown, by path. Others were too long for one answer, or unreadable. */
  readonly digests?: Readonly<Record<string, string>>;
  /** It was loaded for the model, whose first load returns the text. */
  readonly isPreloaded?: boolean;
  /** Repeated requests since it was last shown. */
  readonly repeats: number;
}

export interface SessionState {
  readonly settings: SessionSettings;
  readonly turn: number;
  /** Least recently used first. */
  readonly loaded: readonly LoadedSkill[];
  /** Dropped for newer ones while their instructions stay in the conversation: their rules go on restricting. */
  readonly displaced?: readonly LoadedSkill[];
  /** How often each kind of failure occurred in this turn, since its action last succeeded. */
  readonly failures: Readonly<Record<string, number>>;
  /** Kinds of failures since the last request to the model; absent if the loop does not report its requests. */
  readonly failedInRequest?: readonly string[];
  /** Set after repeated identical failures, until an action succeeds or the next turn starts. A loop should ask for an answer. */
  readonly endedBy?: {
    readonly action: ActionType;
    readonly code: FailureCode;
    /** The inputs were wrong in different ways. */
    readonly isVaried?: true;
  };
}

const SAME_FAILURES = 3;
/** Inputs of one tool that are wrong in different ways: each is a new attempt, but they cannot go on for ever. */
const VARIED_FAILURES = 6;
const USES: ReadonlySet<ShownReason> = new Set(['resource', 'document']);

/** Returns the state after an event; `session-start` needs no state before it, and all other events do. */
export function reduceSession(
  state: SessionState | undefined,
  event: Extract<SessionEvent, { type: 'session-start' }>,
): SessionState;
export function reduceSession<S extends SessionState | undefined>(state: S, event: SessionEvent): S | SessionState;
export function reduceSession(state: SessionState | undefined, event: SessionEvent): SessionState | undefined {
  if (event.type === 'session-start') return { settings: event.settings, turn: 1, loaded: [], failures: {} };
  return state === undefined ? undefined : nextState(state, event);
}

function nextState(state: SessionState, event: Exclude<SessionEvent, { type: 'session-start' }>): SessionState {
  switch (event.type) {
    case 'turn-start': {
      const { endedBy: _, ...rest } = state;
      const left = keepLoaded(rest, ({ lifetime }) => lifetime === 'session');
      return { ...left, turn: state.turn + 1, failures: {} };
    }
    case 'request-start':
      return { ...keepLoaded(state, ({ lifetime }) => lifetime !== 'once'), failedInRequest: [] };
    case 'skill-load': {
      const before = findLoaded(state, event.skill.id);
      const { type: _, ...load } = event;
      const { documents = [], digests } = before ?? {};
      const isKnown = before?.digest === load.digest && before.isPreloaded !== true;
      const isPreloaded = load.isPreloaded === true && !isKnown ? true : undefined;
      const loaded = [...others(state, load.skill.id), { ...load, isPreloaded, documents, digests, repeats: 0 }];
      return displaceOldest(state, loaded, load.skill.id);
    }
    case 'skill-repeat':
      return used(state, event.skill, ({ repeats }) => ({ repeats: repeats + 1 }));
    case 'documents-select':
      return used(state, event.skill.id, () => ({ documents: event.selected, digests: event.digests }));
    case 'content-show':
      // Search results and compaction do not count as use.
      return USES.has(event.shown.reason) ? used(state, event.shown.skill, () => ({})) : state;
    case 'action-end': {
      const failures = withoutAction(state.failures, event.action);
      // An answer ends the turn; it does not make the failures of other actions undone.
      if (event.action === 'final_answer') return { ...state, failures };
      if (failures === state.failures && state.endedBy === undefined) return state;
      const { endedBy: _, ...rest } = state;
      return { ...rest, failures };
    }
    case 'action-fail': {
      // Parallel calls were made without knowledge of each other's failure.
      const counted = kindsOfFailure(event).filter(
        ({ kind }) => event.isParallel !== true && state.failedInRequest?.includes(kind) !== true,
      );
      if (counted.length === 0) return state;
      const counts = counted.map(({ kind }) => [kind, (state.failures[kind] ?? 0) + 1] as const);
      const failed = {
        ...state,
        failures: { ...state.failures, ...Object.fromEntries(counts) },
        ...(state.failedInRequest && {
          failedInRequest: [...state.failedInRequest, ...counted.map(({ kind }) => kind)],
        }),
      };
      const most = findRepeated(failed, event)?.most;
      if (most === undefined) return failed;
      const { action, code } = event;
      return { ...failed, endedBy: { action, code, isVaried: most === VARIED_FAILURES ? true : undefined } };
    }
    case 'session-compact':
      return keepLoaded(state, ({ skill }) => event.kept.includes(skill.id));
  }
}

function keepLoaded(state: SessionState, isKept: (loaded: LoadedSkill) => boolean): SessionState {
  return withDisplaced({ ...state, loaded: state.loaded.filter(isKept) }, state.displaced?.filter(isKept));
}

/** A system message loses the instructions of the skills above the limit. Tool results keep them. */
function displaceOldest(state: SessionState, loaded: readonly LoadedSkill[], newest: string): SessionState {
  const { maxLoaded, placement } = state.settings;
  const before = state.displaced?.filter(({ skill }) => skill.id !== newest) ?? [];
  const displaced = placement === 'system' ? [] : [...before, ...loaded.slice(0, -maxLoaded)];
  return withDisplaced({ ...state, loaded: loaded.slice(-maxLoaded) }, displaced);
}

function withDisplaced(before: SessionState, displaced: SessionState['displaced'] = []): SessionState {
  const { displaced: _, ...state } = before;
  return displaced.length === 0 ? state : { ...state, displaced };
}

interface FailureKind {
  readonly kind: string;
  /** This many end the run. */
  readonly most: number;
}

/**
 * What a failure counts as, the broadest kind last. Denials and wrong paths of different things are different failures; so are inputs
 * that are wrong in different ways, up to a limit. Guessed names are one kind.
 */
function kindsOfFailure({ action, code, message = '', target = '' }: FailureEvent): readonly FailureKind[] {
  const kind = `${kindOfAction(action)} ${code}`;
  if (/^(?:policy|approval|path|network|execution)\//.test(code))
    return [{ kind: `${kind} ${message} ${target}`, most: SAME_FAILURES }];
  if (code !== 'input/invalid') return [{ kind, most: SAME_FAILURES }];
  // Another wrong value of the same parameter is the same mistake.
  const mistake = message.replace(/, not .*$/s, '');
  return [
    { kind: `${kind} ${mistake}`, most: SAME_FAILURES },
    { kind, most: VARIED_FAILURES },
  ];
}

/** Actions that one tool performs, by where its path leads or what is loaded, count as one. */
function kindOfAction(action: ActionType): ActionType {
  return SAME_TOOL[action] ?? action;
}

const SAME_TOOL: Readonly<Partial<Record<ActionType, ActionType>>> = {
  read_resource: 'read_file',
  list_resources: 'list_dir',
  select_documents: 'load_skill',
  start_command: 'run_command',
};

/**
 * The event of a failure and whether it is the one too many of its kind. `since` is what was recorded after the action was requested: the same
 * failure there was of a parallel call.
 */
export function judgeFailure(
  state: SessionState,
  failed: FailureEvent,
  since: readonly SessionEvent[],
): { readonly event: FailureEvent; readonly isRepeated: boolean } {
  const kind = broadestKind(failed);
  const isParallel = since.some((event) => event.type === 'action-fail' && broadestKind(event) === kind);
  const event = isParallel ? { ...failed, isParallel } : failed;
  return { event, isRepeated: findRepeated(nextState(state, event), event) !== undefined };
}

type FailureEvent = Extract<SessionEvent, { type: 'action-fail' }>;

function broadestKind(failed: FailureEvent): string | undefined {
  return kindsOfFailure(failed).at(-1)?.kind;
}

function findRepeated({ failures }: SessionState, failed: FailureEvent): FailureKind | undefined {
  return kindsOfFailure(failed).find(({ kind, most }) => (failures[kind] ?? 0) >= most);
}

function findLoaded(state: SessionState, id: string): LoadedSkill | undefined {
  return state.loaded.find(({ skill }) => skill.id === id);
}

function others(state: SessionState, id: string): readonly LoadedSkill[] {
  return state.loaded.filter(({ skill }) => skill.id !== id);
}

/** Changes a loaded skill and marks it as most recently used. */
function used(
  state: SessionState,
  id: string,
  change: (loaded: LoadedSkill) => Partial<Pick<LoadedSkill, 'documents' | 'repeats'>>,
): SessionState {
  const found = findLoaded(state, id);
  if (found === undefined) return state;
  return { ...state, loaded: [...others(state, id), { ...found, ...change(found) }] };
}

function withoutAction(failures: SessionState['failures'], action: ActionType): SessionState['failures'] {
  const isOfAction = (key: string): boolean => key.startsWith(`${kindOfAction(action)} `);
  if (!Object.keys(failures).some(isOfAction)) return failures;
  return Object.fromEntries(Object.entries(failures).filter(([key]) => !isOfAction(key)));
}
