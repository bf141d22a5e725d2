import type { ProgramSpec } from '#core';
import type { ReadOnlyMount } from './skill-mounts.ts';
import { writableFolders } from '../../workspace/layout.ts';
import type { HostMount, Identity } from '../../program-types.ts';

/** The requests that create containers, with every isolation setting in one place. */

/** Path of the workspace inside a container. */
export const INSIDE = '/workspace';

/** Properties that are fixed when a container is created: the limits that the engine enforces, and the skills. */
export interface ContainerNeeds {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly fileBytes: number;
  /** The key of its set of skills. */
  readonly skills: string;
  /** The private folder of the skill, relative to the workspace. */
  readonly home: string | undefined;
  /** Further folders of the workspace. */
  readonly folders: readonly string[];
  /** Folders of the host. */
  readonly mounts: readonly HostMount[];
}

export interface ContainerSettings {
  readonly image: string;
  /** The workspace and its read-only mounts; absent where the engine cannot mount files of this machine. */
  readonly shared: { readonly root: string; readonly readOnly: readonly ReadOnlyMount[] } | undefined;
  readonly needs: ContainerNeeds;
  readonly cpus: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly runtime: string | undefined;
  readonly lifelineUser: Identity;
  /** Name of the volume that holds the workspace where it is not `shared`. */
  readonly volume: string;
  /** Rootless Podman maps the current user to itself only on request. */
  readonly keepsOwnUser: boolean;
  readonly seccomp: string | undefined;
}

/** The engine's init and the lifeline process. */
const ENGINE_PROCESSES = 2;
/** Threads of the engine's helper count while a program starts; with fewer the engine cannot start a program at all. */
const MIN_PROCESSES = 16;
const TMP_BYTES = 64 * 1024 * 1024;
const TMP_FILES = 20_000;
const SHM_BYTES = 16 * 1024 * 1024;
/** The file systems in memory together. */
export const TEMPORARY_BYTES = TMP_BYTES + SHM_BYTES;
const OPEN_FILES = 1024;

/** gVisor runs the kernel of a container in threads, which the engine counts as processes of the container. */
const KERNEL_THREADS = 1024;

export function isOwnKernel(runtime: string | undefined): boolean {
  return runtime?.startsWith('runsc') === true;
}

function processLimit(limits: Pick<ContainerNeeds, 'processes'>): number {
  return Math.max(limits.processes + ENGINE_PROCESSES, MIN_PROCESSES);
}

export function containerNeeds(
  { limits, home, folders = [], mounts = [] }: Pick<ProgramSpec, 'limits' | 'home' | 'folders' | 'mounts'>,
  skills: string,
): ContainerNeeds {
  const { memoryBytes, processes, fileBytes } = limits;
  return { memoryBytes, processes, fileBytes, skills, home, folders, mounts };
}

export function isSameNeed(one: ContainerNeeds, other: ContainerNeeds): boolean {
  return (
    one.memoryBytes === other.memoryBytes &&
    one.processes === other.processes &&
    one.fileBytes === other.fileBytes &&
    one.skills === other.skills &&
    one.home === other.home &&
    JSON.stringify([one.folders, one.mounts]) === JSON.stringify([other.folders, other.mounts])
  );
}

/** A user other than the program's, so that no program can kill or trace the lifeline process. */
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
    // `cat` exits when our connection closes, for whatever reason; the engine's init and every other process end with it.
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
      PidsLimit: processLimit(needs) + (isOwnKernel(settings.runtime) ? KERNEL_THREADS : 0),
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
      Runtime: settings.runtime,
      ...(settings.keepsOwnUser ? { UsernsMode: 'keep-id' } : {}),
    },
  };
}

/** The volume outlives its container, so that the files of a program that was killed can still be copied. */
function volumeMount(volume: string, labels: Readonly<Record<string, string>>): unknown {
  return { Type: 'volume', Source: volume, Target: INSIDE, VolumeOptions: { NoCopy: true, Labels: labels } };
}

/** The body for a container that is never started and only makes a volume accessible. */
export function holderBody({ image, volume, labels }: Pick<ContainerSettings, 'image' | 'volume' | 'labels'>): unknown {
  return {
    Image: image,
    Cmd: ['cat'],
    Labels: labels,
    HostConfig: { NetworkMode: 'none', Mounts: [volumeMount(volume, labels)] },
  };
}

function mounts({ shared, volume, labels, needs }: ContainerSettings): readonly unknown[] {
  if (shared === undefined) return [volumeMount(volume, labels)];
  const bind = (source: string, target: string, isReadOnly: boolean): unknown => ({
    Type: 'bind',
    Source: source,
    Target: target,
    ReadOnly: isReadOnly,
    BindOptions: { Propagation: 'rprivate' },
  });
  return [
    ...writableFolders(needs)
      .filter((folder) => !isCovered(`${INSIDE}/${folder}`, needs))
      .map((folder) => bind(`${shared.root}/${folder}`, `${INSIDE}/${folder}`, false)),
    // An engine mounts by depth, so entries of a covered skill would cover the copy.
    ...shared.readOnly
      .filter(({ target }) => !isCovered(`${INSIDE}/${target}`, needs))
      .map(({ source, target }) => bind(source, `${INSIDE}/${target}`, true)),
    ...needs.mounts.map(({ source, target, access }) => bind(source, target, access === 'read')),
  ];
}

function isCovered(target: string, { mounts: covering }: ContainerNeeds): boolean {
  return covering.some((mount) => target === mount.target || target.startsWith(`${mount.target}/`));
}
