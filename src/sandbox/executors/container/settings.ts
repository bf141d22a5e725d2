import type { Identity, RunLimits } from '../../../core/execution.ts';
import type { ReadOnlyMount } from './skill-mounts.ts';
import { WRITABLE_FOLDERS } from '../../workspace/layout.ts';

/** What an engine is asked for: the whole of a container's walls, in one place. */

/** Where programs see the workspace. */
export const INSIDE = '/workspace';

/** What a container is made with and cannot be changed in it: some limits (the others are held from outside) and the skills. */
export interface ContainerNeeds {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly fileBytes: number;
  /** The key of the skills it shows. */
  readonly skills: string;
}

export interface ContainerSettings {
  readonly image: string;
  /** The workspace's folder and what is shown in it read-only; absent where the engine does not see our files. */
  readonly shared: { readonly root: string; readonly readOnly: readonly ReadOnlyMount[] } | undefined;
  readonly needs: ContainerNeeds;
  readonly cpus: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly runtime: string | undefined;
  readonly lifelineUser: Identity;
  /** Of a volume that stands in for the workspace's folders where there is nothing `shared`. */
  readonly volume: string;
  /** A rootless Podman maps our own user to itself only when asked. */
  readonly keepsOwnUser: boolean;
  readonly seccomp: string | undefined;
}

/** Threads of the engine's own helper, which count for a moment while a program starts, and the two processes that keep it open. */
const PROCESSES_OF_THE_ENGINE = 2;
/** Below this the engine cannot start a program at all. */
const FEWEST_PROCESSES = 16;
const TMP_BYTES = 64 * 1024 * 1024;
const TMP_FILES = 20_000;
const SHM_BYTES = 16 * 1024 * 1024;
const OPEN_FILES = 1024;

/** One more would not be started. */
export function processLimit(limits: Pick<ContainerNeeds, 'processes'>): number {
  return Math.max(limits.processes + PROCESSES_OF_THE_ENGINE, FEWEST_PROCESSES);
}

export function containerNeeds({ memoryBytes, processes, fileBytes }: RunLimits, skills: string): ContainerNeeds {
  return { memoryBytes, processes, fileBytes, skills };
}

export function isSameNeed(one: ContainerNeeds, other: ContainerNeeds): boolean {
  return (
    one.memoryBytes === other.memoryBytes &&
    one.processes === other.processes &&
    one.fileBytes === other.fileBytes &&
    one.skills === other.skills
  );
}

/** A user that programs are not, so that no program can end or trace the process that holds the container open. */
export function lifelineUser({ uid }: Identity): Identity {
  const id = uid === 65_533 ? 65_532 : 65_533;
  return { uid: id, gid: id };
}

export function userText({ uid, gid }: Identity): string {
  return `${String(uid)}:${String(gid)}`;
}

/** The body of `POST /containers/create`. */
export function createBody(settings: ContainerSettings): unknown {
  const { needs } = settings;
  return {
    Image: settings.image,
    Hostname: 'skill',
    User: userText(settings.lifelineUser),
    // It ends when its input does, which is when our connection closes, for whatever reason; then the engine's init ends, and with
    // it every process of the container.
    Entrypoint: ['cat'],
    Cmd: [],
    WorkingDir: '/',
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: false,
    AttachStderr: false,
    Tty: false,
    Labels: settings.labels,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      AutoRemove: true,
      Init: true,
      NetworkMode: 'none',
      IpcMode: 'private',
      CgroupnsMode: 'private',
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', ...(settings.seccomp === undefined ? [] : [`seccomp=${settings.seccomp}`])],
      Memory: needs.memoryBytes,
      MemorySwap: needs.memoryBytes,
      PidsLimit: processLimit(needs),
      NanoCpus: Math.round(settings.cpus * 1e9),
      ShmSize: SHM_BYTES,
      Tmpfs: {
        '/tmp': `rw,exec,nosuid,nodev,mode=1777,size=${String(TMP_BYTES)},nr_inodes=${String(TMP_FILES)}`,
      },
      Ulimits: [
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'fsize', Soft: needs.fileBytes, Hard: needs.fileBytes },
        { Name: 'nofile', Soft: OPEN_FILES, Hard: OPEN_FILES },
      ],
      LogConfig: { Type: 'none' },
      Mounts: mounts(settings),
      ...(settings.runtime === undefined ? {} : { Runtime: settings.runtime }),
      ...(settings.keepsOwnUser ? { UsernsMode: 'keep-id' } : {}),
    },
  };
}

/** A volume that outlives its container: what a program wrote before it was ended is still wanted. */
function volumeMount(volume: string, labels: Readonly<Record<string, string>>): unknown {
  return { Type: 'volume', Source: volume, Target: INSIDE, VolumeOptions: { NoCopy: true, Labels: labels } };
}

/** The body for a container that is never started: it only makes a volume accessible. */
export function holderBody({ image, volume, labels }: Pick<ContainerSettings, 'image' | 'volume' | 'labels'>): unknown {
  return {
    Image: image,
    Cmd: ['cat'],
    Labels: labels,
    HostConfig: { NetworkMode: 'none', Mounts: [volumeMount(volume, labels)] },
  };
}

function mounts({ shared, volume, labels }: ContainerSettings): readonly unknown[] {
  if (shared === undefined) return [volumeMount(volume, labels)];
  const bind = (source: string, target: string, isReadOnly: boolean): unknown => ({
    Type: 'bind',
    Source: source,
    Target: `${INSIDE}/${target}`,
    ReadOnly: isReadOnly,
    BindOptions: { Propagation: 'rprivate' },
  });
  return [
    ...WRITABLE_FOLDERS.map((folder) => bind(`${shared.root}/${folder}`, folder, false)),
    ...shared.readOnly.map(({ source, target }) => bind(source, target, true)),
  ];
}
