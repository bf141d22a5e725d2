import { defined, EXECUTOR_NAMES, listHostInputs, invalidInput, isOfKind, quoted, type RunInfo } from '#core';
import type { ArtifactStore } from '#sandbox';
import { VERSION } from '../../version.ts';
import type { ExecutionOptions } from '../execution/execution.ts';
import type { RecordedCall, RecordedRun } from './recorded-calls.ts';
import { policyHash } from '#policy';
import type { Session } from '../session.ts';
import type { SessionOptions } from '../start-session.ts';

export interface ReplaySessionOptions {
  readonly isOwn: boolean;
  readonly artifacts: ArtifactStore;
  /** Overrides the record. */
  readonly execution: ExecutionOptions | undefined;
}

/** Session options that reproduce the recorded session. */
export function replaySession(
  info: RunInfo,
  { steps, settings }: RecordedRun,
  { isOwn, artifacts, execution: given }: ReplaySessionOptions,
): SessionOptions {
  const calls = steps.filter((step) => step.type === 'call');
  const hasPrograms = info.executor !== null && calls.some(({ action }) => isOfKind(action, 'program'));
  return {
    ...settings,
    ...(calls.some(({ action }) => isOfKind(action, 'host')) ? { host: {} } : {}),
    ...(hasPrograms
      ? { execution: { artifacts, ...toExecutionOptions(info, calls, isOwn), ...defined(given ?? {}) } }
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
    ...(executor === undefined || (executor === 'local' && !isOwn) ? {} : { executor }),
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
