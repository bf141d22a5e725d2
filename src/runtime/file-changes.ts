/** What a run did to the files of the project, from its observations. */
import type { Observation } from '#core';

/** The content of a file before a run. */
export interface EarlierFile {
  /** Absent if the file was too large to be read. */
  readonly digest?: string;
  /** Where it is kept, relative to the project; absent in records of earlier versions. */
  readonly kept?: string;
  readonly bytes?: number;
  readonly mode?: number;
  /** Its setuid, setgid and sticky bits; absent if it had none. */
  readonly specialBits?: number;
}

/** What happened to one file over a whole run. */
export interface FileChange {
  /** Relative to the project. */
  readonly path: string;
  /** Absent for a file that the run created. */
  readonly before?: EarlierFile;
  /** What the run left; absent for a file that the run deleted. */
  readonly after?: { readonly digest: string; readonly mode?: number };
  /** A change of the run started from content that the run had not left: a person or a program had changed the file in between. */
  readonly between?: { readonly kept?: string };
}

/** The changes of project files, in the order in which a run first touched them. */
export function fileChanges(observations: Iterable<Observation>): readonly FileChange[] {
  const changes = new Map<string, FileChange>();
  for (const observation of observations) {
    const change = toFileChange(observation);
    if (change === undefined) continue;
    const earlier = changes.get(change.path);
    changes.set(change.path, earlier === undefined ? change : joined(earlier, change));
  }
  return [...changes.values()];
}

function joined(earlier: FileChange, { path, before, after }: FileChange): FileChange {
  const found = before?.kept === undefined ? {} : { kept: before.kept };
  const between = isContinued(earlier, before) ? earlier.between : found;
  const [left, current] = [earlier.after?.mode, before?.mode];
  // Permissions that someone else set in between are kept.
  const mode = left === undefined || current === undefined || left === current ? {} : { mode: current };
  return {
    path,
    ...(earlier.before && { before: { ...earlier.before, ...mode } }),
    ...(after && { after }),
    ...(between && { between }),
  };
}

/** Content that was there before the run is no one's edit. */
function isContinued({ before: first, after }: FileChange, before: EarlierFile | undefined): boolean {
  if (before === undefined) return after === undefined || first === undefined;
  return before.digest !== undefined && [after?.digest, first?.digest].includes(before.digest);
}

function toFileChange(observation: Observation): FileChange | undefined {
  if (observation.type === 'file-written' && !observation.path.includes('://')) {
    const { path, digest, replaced, kept, mode, specialBits } = observation;
    const permissions = mode === undefined ? {} : { mode };
    const before =
      replaced === undefined
        ? {}
        : {
            before: {
              digest: replaced,
              kept,
              ...permissions,
              specialBits,
            },
          };
    return { path, after: { digest, ...permissions }, ...before };
  }
  if (observation.type === 'file-deleted' && !observation.path.includes('://')) {
    const { path, digest, trash, bytes, mode, specialBits } = observation;
    return {
      path,
      before: {
        kept: trash,
        digest,
        bytes,
        mode,
        specialBits,
      },
    };
  }
  return undefined;
}
