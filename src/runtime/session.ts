import {
  actionFailed,
  defined,
  failure,
  judgeFailure,
  buildLedger,
  quoted,
  reduceSession,
  type Action,
  type ActionFailed,
  type Decision,
  type Observation,
  type Offer,
  type RunEvent,
  type SessionState,
  type ShownContent,
  type Vocabulary,
  type OfType,
} from '#core';
import { sha256 } from '#platform';
import type { Catalog, SkillIndex } from '#skills';
import { decide, type Policy, type Access } from '#policy';
import {
  fromFile,
  shownBy,
  compactSession,
  activeContents,
  contentShown,
  stillLoaded,
  withDocuments,
  withSkill,
  type Compaction,
  type Contents,
} from './loaded-contents.ts';
import type { Execution } from '#sandbox';
import { invokeSkill, type Invocation } from './invoke.ts';
import {
  policyInUse,
  type ActionContext,
  type ActionSettings,
  type CallJournal,
  type AskedBy,
} from './action-context.ts';
import { performAction, recordFailed } from './perform.ts';

type SessionEvent = OfType<RunEvent, 'session'>['event'];

type SkillLoaded = OfType<Observation, 'skill-loaded'>;

export interface PerformOptions {
  /** Default: `model`. */
  readonly askedBy?: AskedBy;
  /** Name of the tool that was called (default: the first tool of the vocabulary for this action). The record and the terminal show it. */
  readonly tool?: string;
  readonly signal?: AbortSignal;
}

/** A skill that the program loads before the first request. */
export interface DeclaredLoad {
  readonly skill: string;
  readonly source?: string;
  readonly documents?: OfType<Action, 'select_documents'>['documents'];
}

interface CompactOptions {
  /** Estimated tokens of the result (default: 8,000). */
  readonly ceiling?: number;
  /** Ids of the skills that stay loaded, where a recorded compaction is repeated (default: those that fit). */
  readonly kept?: readonly string[];
}

/** One conversation over one snapshot of skills. Changes on disk do not affect the catalog or the tools of a running session. */
export interface Session {
  readonly index: SkillIndex;
  readonly vocabulary: Vocabulary;
  readonly settings: SessionState['settings'];
  readonly state: SessionState;
  /** All events in order; state and ledger are derived from them. */
  readonly events: readonly SessionEvent[];
  /** Guidance and catalog: the constant part of the system message. */
  readonly instructions: string;
  readonly catalog: Catalog;
  /** All skill content that was shown to the model. */
  readonly ledger: ReturnType<typeof buildLedger>;
  perform(action: Action, options?: PerformOptions): Promise<Observation>;
  /** Counts a failure that occurred before there was an action, such as invalid tool input. */
  fail(failure: ActionFailed): ActionFailed;
  /** Loads all skills or none. */
  declare(loads: readonly DeclaredLoad[]): Promise<readonly SkillLoaded[] | ActionFailed>;
  /** Handles a message such as `/csv-report sales.csv`; returns nothing if it is not an invocation. */
  invoke(message: string): Promise<Invocation | ActionFailed | undefined>;
  /** Starts the next turn of the person. */
  startTurn(): void;
  /** Returns the system message of a request. With placement `tool-results` it is always `instructions`. */
  startRequest(): string;
  /** Returns what must survive compaction. Skills that are not kept completely count as unloaded. */
  compact(options?: CompactOptions): Compaction;
  /** The input for tool schemas. */
  readonly offer: Offer;
  /** The effective policy: configuration, run, and all active skills. */
  readonly policy: Policy;
  /** Decides about something the session does not perform itself, such as a tool of the calling program. */
  decide(accesses: readonly Access[]): Decision;
  /** The folder whose files may be used; absent if project files are disabled. */
  readonly project: string | undefined;
  /** Absent if execution is disabled. */
  readonly execution: Execution | undefined;
  /** Ends all programs. Removes the workspace unless it is kept for the next session with its key. */
  close(options?: { readonly keep?: boolean }): Promise<void>;
}

export interface SessionParts {
  readonly settings: SessionState['settings'];
  readonly vocabulary: Vocabulary;
  readonly guidance: string;
  readonly offer: Offer;
  readonly actions: ActionSettings;
  readonly record: ((event: RunEvent) => void) | undefined;
  readonly flush: (() => void) | undefined;
  readonly planCatalog: (budget?: number) => Catalog;
}

export function openSession(parts: SessionParts): Session {
  const { settings, vocabulary, guidance, actions } = parts;
  const { index, execution } = actions;
  const catalog = parts.planCatalog();
  const isEmpty = parts.offer.skills.length === 0 && parts.offer.keepsTools !== true;
  const instructions = isEmpty ? guidance : guidance === '' ? catalog.text : `${guidance}\n\n${catalog.text}`;
  const events: SessionEvent[] = [];
  let contents: Contents = new Map();
  const start = { type: 'session-start', settings, indexHash: index.indexHash } as const;
  let state = reduceSession(undefined, start);
  let isCatalogShown = false;

  let calls = 0;
  const journal: CallJournal = {
    isKept: parts.record !== undefined,
    nextCall: () => (calls += 1),
    record: (event) => parts.record?.(event),
    flush: () => parts.flush?.(),
  };
  const record = (event: SessionEvent): void => {
    journal.record({ type: 'session', event });
    events.push(event);
    state = reduceSession(state, event);
    contents = stillLoaded(contents, state);
  };
  const show = (shown: ShownContent): void => record({ type: 'content-show', shown });
  const showCatalog = (): void => {
    if (isCatalogShown) return;
    isCatalogShown = true;
    show(catalogContent(catalog));
  };

  const observe = (action: Action, observation: Observation, askedBy: AskedBy, start: number): Observation => {
    if (observation.type === 'failed') return observeFailure(observation, start, findNamed(action));
    record({ type: 'action-end', action: action.type });
    if (observation.type === 'skill-loaded') observeLoad(observation, action, askedBy);
    if (observation.type === 'documents-selected') {
      const { skill, selected, digests } = observation;
      record({ type: 'documents-select', skill, selected, digests });
      const offset = action.type === 'select_documents' ? action.offset : undefined;
      contents = withDocuments(contents, skill.id, selected, observation.documents, offset);
    }
    for (const shown of shownBy(observation)) {
      const isInSystemMessage =
        settings.placement === 'system' && (shown.reason === 'load' || shown.reason === 'document');
      if (!isInSystemMessage) show(shown);
    }
    return observation;
  };

  /** `start` is the number of events when the action was requested. */
  const observeFailure = (observation: ActionFailed, start = events.length, target?: string): ActionFailed => {
    // An action that could not be recorded has no effect on the state.
    if (observation.code === 'record/failed') return observation;
    const { action, code, message } = observation;
    const failed = { type: 'action-fail', action, code, message, target } as const;
    const { event, isRepeated } = judgeFailure(state, failed, events.slice(start));
    record(event);
    return isRepeated ? { ...observation, isTerminal: true } : observation;
  };

  const observeLoad = (loaded: SkillLoaded, action: Action, askedBy: AskedBy): void => {
    const { skill, status, report, documents, selected, digests } = loaded;
    if (status === 'repeated') record({ type: 'skill-repeat', skill: skill.id });
    else {
      const { lifetime } = settings;
      const isPreloaded = isPreload(action) ? true : undefined;
      record({ type: 'skill-load', skill, digest: report.digest, askedBy, lifetime, isPreloaded });
      contents = withSkill(contents, loaded);
    }
    if (selected !== undefined) {
      record({ type: 'documents-select', skill, selected, digests });
      contents = withDocuments(contents, skill.id, selected, documents);
    }
  };

  const contextFor = (action: Action, { askedBy = 'model', tool, signal }: PerformOptions): ActionContext => ({
    ...actions,
    askedBy,
    tool: toolName(vocabulary, action.type, tool),
    signal,
    // What is loaded neither shortens a preload nor permits it.
    state: isPreload(action) ? undefined : state,
    journal,
  });

  /** Loads happen one after the other: of two at the same time the second one sees what the first one has shown. */
  let loads: Promise<unknown> = Promise.resolve();
  const afterLoads = <Value>(
    action: Action,
    signal: AbortSignal | undefined,
    perform: () => Promise<Value>,
  ): Promise<Value> => {
    if (action.type !== 'load_skill' && action.type !== 'select_documents') return perform();
    const earlier = loads;
    const performed = untilAborted(earlier, signal).then(perform);
    loads = Promise.allSettled([earlier, performed]);
    return performed;
  };

  const performNow = async (action: Action, options: PerformOptions, start: number): Promise<Observation> => {
    try {
      showCatalog();
      const observation = await performAction(action, contextFor(action, options));
      return observe(action, observation, options.askedBy ?? 'model', start);
    } catch (error) {
      return recordFailed(action, error);
    }
  };

  record(start);
  const session: Session = {
    index,
    offer: { ...parts.offer, loaded: () => activeContents(state, contents) },
    execution,
    async close(options) {
      await execution?.close(options);
    },
    vocabulary,
    settings,
    instructions,
    catalog,
    events,
    get state() {
      return state;
    },
    get policy() {
      return policyInUse({ ...actions, state });
    },
    project: actions.host?.project,
    decide: (accesses) => decide(session.policy, accesses),
    get ledger() {
      return buildLedger(events);
    },
    perform(action, options = {}) {
      const start = events.length;
      return afterLoads(action, options.signal, () => performNow(action, options, start));
    },
    fail: (failed) => observeFailure(failed),
    async declare(loads) {
      const seen = new Map<string, DeclaredLoad>();
      const done: { readonly action: Action; readonly observation: SkillLoaded }[] = [];
      for (const load of loads) {
        const whole = defined({ whole: vocabulary.profile?.loadsWholeFile });
        const action = { type: 'load_skill', ...load, ...whole, preload: true } as const;
        const observation = await performAction(action, contextFor(action, { askedBy: 'program' }));
        if (observation.type === 'failed') return observation;
        if (observation.type !== 'skill-loaded') continue;
        const before = seen.get(observation.skill.id);
        if (before !== undefined && JSON.stringify(before.documents) !== JSON.stringify(load.documents)) {
          const message = `the skill ${quoted(load.skill)} is declared twice with different documents`;
          return actionFailed('load_skill', failure('load/conflict', message));
        }
        if (before === undefined) done.push({ action, observation });
        seen.set(observation.skill.id, load);
      }
      if (done.length > settings.maxLoaded) {
        const message = `${String(done.length)} skills are declared, but at most ${String(settings.maxLoaded)} can be loaded`;
        return actionFailed('load_skill', failure('load/too-many', message));
      }
      showCatalog();
      for (const { action, observation } of done) observe(action, observation, 'program', events.length);
      return done.map(({ observation }) => observation);
    },
    async invoke(message) {
      const invocation = await invokeSkill(message, (action) => contextFor(action, { askedBy: 'person' }));
      if (invocation === undefined || invocation.type === 'failed') return invocation;
      const { loaded, action, text } = invocation;
      showCatalog();
      observeLoad(loaded, action, 'person');
      show(fromFile(loaded.skill, text, loaded.report, 'invocation'));
      return invocation;
    },
    startTurn: () => record({ type: 'turn-start' }),
    startRequest() {
      if (settings.placement === 'tool-results') {
        showCatalog();
        record({ type: 'request-start', shown: [] });
        return instructions;
      }
      isCatalogShown = true;
      const active = activeContents(state, contents);
      const text = [instructions, ...active.map((content) => vocabulary.showLoaded(content))].join('\n\n');
      const reasons = { body: 'load', document: 'document' } as const;
      const shown = active.flatMap((content) => contentShown(content, reasons));
      record({ type: 'request-start', shown: [catalogContent(catalog), ...shown] });
      return text;
    },
    compact({ ceiling = 8_000, kept: recorded } = {}) {
      const active = activeContents(state, contents);
      const compaction = compactSession({ ceiling, active, vocabulary, planCatalog: parts.planCatalog });
      const kept = recorded ?? compaction.skills.filter(({ form }) => form === 'whole').map(({ id }) => id);
      record({ type: 'session-compact', kept });
      const reasons = { body: 'compaction', document: 'compaction' } as const;
      show(catalogContent(compaction.catalog));
      for (const content of active.filter(({ id }) => kept.includes(id))) contentShown(content, reasons).forEach(show);
      return compaction;
    },
  };
  return session;
}

/** The name that the vocabulary has for an action. Absent if it is the same, and for tools of MCP servers, whose actions have the name. */
function toolName(
  { tools }: Vocabulary,
  action: Action['type'],
  called = tools.find((tool) => tool.action === action)?.name,
): string | undefined {
  return called === action || action === 'call_mcp_tool' ? undefined : called;
}

function isPreload(action: Action): boolean {
  return action.type === 'load_skill' && action.preload === true;
}

/** What a refusal is about: the path, the command or the host of an action. */
function findNamed(action: Action): string | undefined {
  if ('url' in action) return URL.canParse(action.url) ? new URL(action.url).host : action.url;
  if ('path' in action) return action.path;
  return 'command' in action ? action.command : undefined;
}

function catalogContent({ text, tokens }: Catalog): ShownContent {
  return {
    skill: '',
    path: '',
    digest: `sha256:${sha256(text)}`,
    characters: text.length,
    tokens,
    reason: 'catalog',
  };
}

/** Waits for an earlier load, which may wait for a person. Rejects with the reason of the signal. */
async function untilAborted(earlier: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = () => resolve();
  });
  signal?.addEventListener('abort', stop, { once: true });
  try {
    signal?.throwIfAborted();
    await Promise.race([earlier, stopped]);
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
