import { randomUUID } from 'node:crypto';
import path from 'node:path';

import { SkillError, isSkillError } from '../../../core/errors.ts';
import { DEFAULT_LIMITS, NOBODY } from '../../../core/execution.ts';
import type {
  AttachedWorkspace,
  Capabilities,
  Executor,
  Identity,
  LimitName,
  WorkspacePlace,
} from '../../../core/execution.ts';
import { quoted } from '../../../core/text/text.ts';
import { isDirectory } from '../../../platform/fs/paths.ts';
import { openEngine } from './engine.ts';
import type { ContainerOptions, Engine } from './engine.ts';
import { ownerLabels } from './owner.ts';
import { ContainerPool } from './pool.ts';
import { ContainerPrograms } from './programs.ts';
import { INSIDE, containerNeeds, lifelineUser } from './settings.ts';
import type { ContainerNeeds, ContainerSettings } from './settings.ts';
import { hasSeccompProfile, seccompProfile } from './seccomp-profile.ts';
import { seesOurFiles } from './shared-files.ts';
import { SkillMounts } from './skill-mounts.ts';
import { WarmContainer } from './warm-container.ts';
import { WRITABLE_FOLDERS } from '../../workspace/layout.ts';

const MAX_CONTAINERS = 8;
const USUAL_CPUS = 2;

/**
 * Runs programs in containers of Docker or Podman: no network, a read-only root, no capabilities, no new privileges, a user that is
 * not root, limits of memory, processes and processors. A container is kept warm for each workspace; its end ends all in it.
 */
export function containerExecutor(options: ContainerOptions = {}): Executor {
  const identity = options.identity ?? NOBODY;
  if (identity.uid === 0 || identity.gid === 0)
    throw new SkillError({
      code: 'input/invalid',
      message: 'programs never run as root',
      hint: 'give a user and a group other than 0',
      data: { expected: 'a user and a group other than 0' },
    });
  return {
    name: 'container',
    identity,
    attach: async (place) => {
      checkFolders(place);
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

function checkFolders({ root }: WorkspacePlace): void {
  const missing = WRITABLE_FOLDERS.find((name) => !isDirectory(path.join(root, name)));
  if (missing === undefined) return;
  throw new SkillError({
    code: 'workspace/invalid',
    message: `the workspace ${quoted(root)} has no folder ${missing}`,
    hint: 'make the workspace anew',
    data: { path: root },
  });
}

interface Attachment {
  readonly engine: Engine;
  readonly options: ContainerOptions;
  readonly identity: Identity;
  readonly place: WorkspacePlace;
}

async function attached(attachment: Attachment): Promise<AttachedWorkspace> {
  const { engine, options, place } = attachment;
  const { client } = engine;
  const mounts = new SkillMounts(place);
  try {
    const first = await firstContainer(attachment, mounts);
    const isShared = first !== undefined;
    const user = programUser(attachment, isShared);
    const pool = new ContainerPool({
      // Copies of one workspace would undo one another.
      maxContainers: isShared ? (options.maxContainers ?? MAX_CONTAINERS) : 1,
      start: (needs, signal) =>
        WarmContainer.start(client, settingsFor(attachment, { needs, mounts: isShared ? mounts : undefined }), signal),
    });
    if (first !== undefined) pool.add(first);
    else await proveOnce(pool, mounts);
    const programs = new ContainerPrograms({ client, pool, place, user, isShared, skills: () => mounts.now() });
    let detached: Promise<void> | undefined;
    return {
      capabilities: capabilitiesOf(engine, isShared),
      root: INSIDE,
      run: (spec, streams) => programs.run(spec, streams),
      start: (spec, streams) => programs.start(spec, streams),
      detach: () => {
        detached ??= (async () => {
          try {
            await pool.close();
            await programs.settled();
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

/** Where a container cannot be had, that is known before the first program; the first keeps it for itself. */
async function proveOnce(pool: ContainerPool, mounts: SkillMounts): Promise<void> {
  const container = await pool.take(containerNeeds(DEFAULT_LIMITS, mounts.now()));
  if (container !== undefined) await pool.giveBack(container, true);
}

/** With our files in it; nothing where the engine does not see them. */
async function firstContainer(attachment: Attachment, mounts: SkillMounts): Promise<WarmContainer | undefined> {
  const { engine, options, place } = attachment;
  const { client, facts } = engine;
  // A rootless Docker maps users so that ours is root inside, and nobody else can write our files.
  if (options.transfer === 'copy' || (facts.isRootless && client.kind === 'docker')) return undefined;
  let container: WarmContainer;
  try {
    container = await WarmContainer.start(
      client,
      settingsFor(attachment, { needs: containerNeeds(DEFAULT_LIMITS, mounts.now()), mounts }),
    );
  } catch (error) {
    if (isSkillError(error) && /bind source path|invalid mount|statfs|no such file/i.test(error.message))
      return undefined;
    throw error;
  }
  if (await seesOurFiles(client, container.id, place.root)) return container;
  await container.dispose();
  return undefined;
}

interface Wanted {
  readonly needs: ContainerNeeds;
  /** Absent: the workspace is copied. */
  readonly mounts: SkillMounts | undefined;
}

function settingsFor({ engine, options, identity, place }: Attachment, { needs, mounts }: Wanted): ContainerSettings {
  return {
    image: engine.image,
    shared: mounts === undefined ? undefined : { root: place.root, readOnly: mounts.mounts(needs.skills) },
    needs,
    cpus: Math.min(options.cpus ?? USUAL_CPUS, engine.facts.cpus),
    labels: ownerLabels(place.id),
    runtime: options.runtime,
    lifelineUser: lifelineUser(identity),
    volume: `skillwright-${randomUUID()}`,
    keepsOwnUser: engine.facts.isRootless && engine.client.kind === 'podman',
    seccomp: hasSeccompProfile(engine.facts.architecture) ? seccompProfile() : undefined,
  };
}

/** Where we are not root, files are ours and so are programs; a copy belongs to whom we like. */
function programUser({ identity }: Attachment, isShared: boolean): Identity {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if (!isShared || uid === undefined || gid === undefined || uid === 0) return identity;
  return { uid, gid: gid === 0 ? identity.gid : gid };
}

function capabilitiesOf({ facts }: Engine, isShared: boolean): Capabilities {
  const limits: LimitName[] = ['wallMs', 'outputBytes', 'fileBytes'];
  if (facts.hasMemoryLimit) limits.push('memoryBytes');
  if (facts.hasProcessLimit) limits.push('processes');
  // Elsewhere the disk is seen only when all is over.
  if (isShared) limits.push('diskBytes', 'files');
  return { isolation: 'container', limits, hasNetworkGrants: false, hasInteraction: true, hasTerminal: true };
}
