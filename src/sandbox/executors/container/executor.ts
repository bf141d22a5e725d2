import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';

import { DEFAULT_LIMITS, invalidInput, isSkillError, parseJson, type AttachedWorkspace, type Executor } from '#core';
import { WRITABLE_FOLDERS, isRoot } from '../../workspace/layout.ts';
import { checkWorkspace } from '../program-spec.ts';
import type { EngineClient } from './client.ts';
import { openEngine, type ContainerOptions, type Engine } from './engine.ts';
import { DEFAULT_IMAGE } from './image.ts';
import { field, textField } from './json-answer.ts';
import { ownerLabels } from './owner.ts';
import { openPool } from './pool.ts';
import { openPrograms } from './programs.ts';
import {
  INSIDE,
  TEMPORARY_BYTES,
  containerNeeds,
  createBody,
  isOwnKernel,
  lifelineUser,
  type ContainerNeeds,
  type ContainerSettings,
} from './settings.ts';
import { hasSeccompProfile, seccompProfile } from './seccomp-profile.ts';
import { openSkillMounts, type ReadOnlyMount } from './skill-mounts.ts';
import { createContainer, removeContainer, startContainer } from './warm-container.ts';
import { UNPRIVILEGED_USER } from '../unprivileged-user.ts';
import type { WorkspaceFolder, Identity } from '../../program-types.ts';

const MAX_CONTAINERS = 8;
const DEFAULT_CPUS = 2;

/**
 * Runs programs in containers of Docker or Podman: no network, a read-only root, no capabilities, no new privileges, a user other than
 * root, and limits on memory, processes and CPUs. The first program of a
 * workspace starts a container, which stays warm for the next; stopping a container ends everything in it.
 */
export function containerExecutor(options: ContainerOptions = {}): Executor {
  const identity = options.identity ?? UNPRIVILEGED_USER;
  if (identity.uid === 0 || identity.gid === 0)
    throw invalidInput('programs never run as root', 'a user and a group other than 0');
  return {
    name: 'container',
    image: options.image ?? DEFAULT_IMAGE,
    // Only root can give the folders of a workspace to another user.
    ...(isRoot() ? { identity } : {}),
    attach: async (place) => {
      checkWorkspace(place);
      const engine = await openEngine(options);
      try {
        return await attached({ engine, options, identity, place });
      } catch (error) {
        engine.client.close();
        throw error;
      }
    },
  };
}

interface Attachment {
  readonly engine: Engine;
  readonly options: ContainerOptions;
  readonly identity: Identity;
  readonly place: WorkspaceFolder;
}

async function attached(attachment: Attachment): Promise<AttachedWorkspace> {
  const { engine, options, place } = attachment;
  const { client } = engine;
  const mounts = openSkillMounts(place);
  try {
    const isShared = await mountsOurFiles(attachment);
    const user = programUser(attachment, isShared);
    // Concurrent copies of one workspace would overwrite each other's results.
    const pool = openPool(isShared ? (options.maxContainers ?? MAX_CONTAINERS) : 1, (needs, signal) => {
      const readOnly = isShared ? mounts.mounts(needs.skills) : undefined;
      return startContainer(client, settingsFor(attachment, { needs, readOnly }), signal);
    });
    const { bridge } = options;
    const skills = (): string => mounts.currentKey();
    const { run, start, settled } = openPrograms({ client, pool, place, user, isShared, bridge, skills });
    let detached: Promise<void> | undefined;
    return {
      capabilities: listCapabilities(attachment, isShared),
      root: INSIDE,
      run,
      start,
      detach: () => {
        detached ??= (async () => {
          try {
            await pool.close();
            await settled();
          } finally {
            mounts.remove();
            client.close();
          }
        })();
        return detached;
      },
    };
  } catch (error) {
    mounts.remove();
    throw error;
  }
}

interface ContainerRequest {
  readonly needs: ContainerNeeds;
  /** Absent where the workspace is copied. */
  readonly readOnly: readonly ReadOnlyMount[] | undefined;
}

function settingsFor(
  { engine, options, identity, place }: Attachment,
  { needs, readOnly }: ContainerRequest,
): ContainerSettings {
  return {
    image: engine.image,
    shared: readOnly === undefined ? undefined : { root: place.root, readOnly },
    needs,
    cpus: Math.min(options.cpus ?? DEFAULT_CPUS, engine.facts.cpus),
    labels: ownerLabels(place.id),
    runtime: options.runtime,
    lifelineUser: lifelineUser(identity),
    volume: `skillwright-${randomUUID()}`,
    keepsOwnUser: engine.facts.isRootless && engine.client.kind === 'podman',
    seccomp: hasSeccompProfile(engine.facts.architecture) ? seccompProfile() : undefined,
  };
}

/** Mounted files belong to the current user, so programs run as that user unless it is root. A copy can belong to any user. */
function programUser({ identity }: Attachment, isShared: boolean): Identity {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if (!isShared || uid === undefined || gid === undefined || uid === 0) return identity;
  return { uid, gid: gid === 0 ? identity.gid : gid };
}

function listCapabilities(
  { engine: { facts }, options }: Attachment,
  isShared: boolean,
): AttachedWorkspace['capabilities'] {
  const used = options.runtime ?? facts.defaultRuntime;
  return {
    isolation: 'container',
    limits: {
      wallMs: 'runtime',
      outputBytes: 'runtime',
      fileBytes: 'rlimit',
      ...(facts.hasMemoryLimit ? { memoryBytes: 'cgroup' } : {}),
      ...(facts.hasProcessLimit && !isOwnKernel(options.runtime) ? { processes: 'cgroup' } : {}),
      // A copied workspace can be measured only after the program has ended.
      ...(isShared ? { diskBytes: 'watched', files: 'watched' } : {}),
    },
    runtime: { used, others: facts.runtimes.filter((name) => name !== used) },
    temporaryBytes: TEMPORARY_BYTES,
    // An engine on another machine cannot mount the socket.
    hasNetworkGrants: isShared && options.bridge !== undefined,
    hasInteraction: true,
    hasTerminal: true,
  };
}

/**
 * Whether the engine mounts the folders of this machine, and not folders of the same name on its own. Asks with a container that is never
 * started, and compares modification times, so that nothing has to be written.
 */
async function mountsOurFiles(attachment: Attachment): Promise<boolean> {
  const { engine, options, place } = attachment;
  const { client, facts } = engine;
  // Rootless Docker maps the current user to root inside, and no other user can write its files.
  if (options.transfer === 'copy' || (facts.isRootless && client.kind === 'docker')) return false;
  const needs = containerNeeds({ limits: DEFAULT_LIMITS }, '');
  let id: string;
  try {
    id = await createContainer(client, createBody(settingsFor(attachment, { needs, readOnly: [] })));
  } catch (error) {
    if (isSkillError(error) && /bind source path|invalid mount|statfs|no such file/i.test(error.message)) return false;
    throw error;
  }
  try {
    for (const name of WRITABLE_FOLDERS) {
      const ours = Number(statSync(path.join(place.root, name), { bigint: true }).mtimeNs / 1_000_000n);
      if ((await folderTime(client, id, name)) !== ours) return false;
    }
    return true;
  } finally {
    await removeContainer(client, id);
  }
}

async function folderTime(client: EngineClient, containerId: string, name: string): Promise<number | undefined> {
  const target = encodeURIComponent(`${INSIDE}/${name}`);
  const headers = await client.head(`/containers/${containerId}/archive?path=${target}`);
  const stat = headers['x-docker-container-path-stat'];
  if (typeof stat !== 'string') return undefined;
  const changed = textField(field(parseJson(Buffer.from(stat, 'base64').toString('utf8')), 'mtime'));
  return changed === undefined ? undefined : Date.parse(changed);
}
