import {
  defined,
  EXECUTOR_NAMES,
  listHostInputs,
  invalidInput,
  isOfKind,
  quoted,
  VOCABULARY_NAMES,
  type RunInfo,
  type Action,
  type Decision,
  type JournalLine,
  type Observation,
  type OfType,
  type RunEvent,
  type SessionState,
  type VocabularyName,
  namedIsolation,
} from '#core';
import type { ArtifactStore, ExecutionOptions } from '#sandbox';
import { policyHash } from '../policy-hash.ts';
import { VERSION } from '../../version.ts';
import type { Session } from '../session.ts';
import type { SessionOptions } from '../start-session.ts';
import type { AskedBy } from '../action-context.ts';

type SessionEvent = OfType<RunEvent, 'session'>['event'];

export interface ReplaySessionOptions {
  readonly isOwn: boolean;
  readonly artifacts: ArtifactStore;
  /** Overrides the record. */
  readonly execution: ExecutionOptions | undefined;
}

/** Session options that reproduce the recorded session. */
export function replaySession(
  info: RunInfo,
  { steps, settings, vocabulary }: RecordedRun,
  { isOwn, artifacts, execution: overrides }: ReplaySessionOptions,
): SessionOptions {
  const calls = steps.filter((step) => step.type === 'call');
  const hasPrograms = info.executor !== null && calls.some(({ action }) => isOfKind(action, 'program'));
  return {
    ...settings,
    vocabulary,
    ...(calls.some(({ action }) => isOfKind(action, 'host')) ? { host: {} } : {}),
    ...(hasPrograms
      ? { execution: { artifacts, ...toExecutionOptions(info, calls, isOwn), ...defined(overrides ?? {}) } }
      : {}),
  };
}

/** Uses the recorded executor. Only the user's own record may allow programs to run. */
function toExecutionOptions(
  { executor: ran }: RunInfo,
  calls: readonly RecordedCall[],
  isOwn: boolean,
): ExecutionOptions {
  const executor = EXECUTOR_NAMES.find((name) => name === ran?.name);
  const opened = calls.filter(
    ({ action, decision }) => isOfKind(action, 'program') && decision?.origin.layer === 'program',
  );
  const opens = isOwn && opened.length > 0;
  return {
    // A foreign record cannot choose a missing isolation or an image.
    ...(executor === undefined || (namedIsolation(executor) === 'none' && !isOwn) ? {} : { executor }),
    ...(ran?.image === undefined || !isOwn ? {} : { container: { image: ran.image } }),
    opens,
    hostInputs: opens ? opened.flatMap(({ action }) => listHostInputs(action)) : [],
  };
}

/** Artifacts that can be read but not changed. */
export function readOnlyArtifacts(store: ArtifactStore): ArtifactStore {
  const refuse = (name: string): Promise<never> =>
    Promise.reject(
      invalidInput(
        `${quoted(name)} is not saved: writes are not repeated`,
        'a replay with writes',
        'replay with --writes',
      ),
    );
  return {
    save: refuse,
    delete: refuse,
    load: (name, version) => store.load(name, version),
    list: () => store.list(),
    versions: (name) => store.versions(name),
  };
}

/** Differences from the time of recording that may explain other outcomes. */
export function circumstances(info: RunInfo, { index, policy, execution }: Session): readonly string[] {
  return [
    ...(info.version === VERSION ? [] : [`recorded by version ${info.version}; this is ${VERSION}`]),
    ...(info.indexHash === index.indexHash ? [] : ['skills or their descriptions have changed']),
    ...(info.policyHash === policyHash(policy) ? [] : ['the policy has changed']),
    ...(execution === undefined || info.executor?.profile === execution.identity.profile
      ? []
      : [`the executor ${execution.executor} or its profile has changed`]),
  ];
}

/** Everything that was recorded about one action. */
export interface RecordedCall {
  readonly type: 'call';
  readonly call: number;
  readonly action: Action;
  /** Name of the tool in the vocabulary of the run, if it is another. */
  readonly tool?: string;
  readonly askedBy: AskedBy;
  readonly decision?: Decision;
  /** By the id of the request. */
  readonly answers: ReadonlyMap<string, RunInfo['approvals'][number]['answer']>;
  /** Absent if the record ends earlier. */
  readonly observation?: Observation;
}

/** An event between actions that affects later ones. */
interface RecordedMoment {
  readonly type: 'moment';
  readonly event: OfType<SessionEvent, 'turn-start' | 'request-start' | 'session-compact'>;
}

export interface RecordedRun {
  /** In the order in which they started. */
  readonly steps: readonly (RecordedCall | RecordedMoment)[];
  /** Taken from the events, because `run.json` of a killed run is incomplete. */
  readonly skills: readonly RunInfo['skills'][number][];
  /** Absent if the record ends before the session started. */
  readonly settings: SessionState['settings'] | undefined;
  /** Paths of files that came with the request. */
  readonly files: readonly string[];
  readonly vocabulary: VocabularyName;
}

export function recordedRun(lines: Iterable<JournalLine>): RecordedRun {
  const steps: (RecordedCall | RecordedMoment)[] = [];
  const places = new Map<number, number>();
  const skills = new Map<string, RunInfo['skills'][number]>();
  let settings: SessionState['settings'] | undefined;
  let files: readonly string[] = [];
  let vocabulary: VocabularyName = 'skillwright';
  for (const { event } of lines) {
    if (event.type === 'run-start') {
      files = event.agent?.files ?? [];
      vocabulary = VOCABULARY_NAMES.find((name) => name === event.vocabulary) ?? vocabulary;
    }
    if (event.type === 'session') {
      const { event: inner } = event;
      if (inner.type === 'session-start') settings = inner.settings;
      if (inner.type === 'turn-start' || inner.type === 'request-start' || inner.type === 'session-compact')
        steps.push({ type: 'moment', event: inner });
    } else if (event.type === 'action') {
      const { call, action, tool, askedBy } = event;
      places.set(call, steps.length);
      steps.push({ type: 'call', call, action, tool, askedBy, answers: new Map() });
    } else if ('call' in event && event.type !== 'span') {
      if (event.type === 'skill-use') skills.set(`${event.skill.id} ${event.skill.digest}`, event.skill);
      const place = places.get(event.call) ?? -1;
      const open = steps[place];
      if (open?.type === 'call') steps[place] = withEvent(open, event);
    }
  }
  return { steps, skills: [...skills.values()], settings, files, vocabulary };
}

type CallEvent = Extract<JournalLine['event'], { readonly call: number }>;

function withEvent(open: RecordedCall, event: CallEvent): RecordedCall {
  switch (event.type) {
    case 'decision':
      // The first is about the action itself; others are about its packages.
      return { ...open, decision: open.decision ?? event.decision };
    case 'approval-answer':
      return { ...open, answers: new Map([...open.answers, [event.request, event.answer]]) };
    case 'observation':
      return { ...open, observation: event.observation };
    default:
      return open;
  }
}
