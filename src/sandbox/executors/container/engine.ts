import type { SkillError } from '#core';
import { executorUnavailable } from '../failures.ts';
import type { OpenNetworkBridge } from '../linux/executor.ts';
import { connectEngine, type EngineClient } from './client.ts';
import { engineEndpoint } from './endpoint.ts';
import { DEFAULT_IMAGE, findImage, importRoot } from './image.ts';
import { field, numberField, textField, textsField } from './json-answer.ts';
import { removeLeftovers } from './owner.ts';
import type { Identity } from '../../program-types.ts';

export interface ContainerOptions {
  /** Path of the socket, or any value of `DOCKER_HOST` (default: `/var/run/docker.sock`). */
  readonly socket?: string;
  /** An image that the engine already has. */
  readonly image?: string;
  /** Folder with a root file system that is imported as an image; overrides `image`. */
  readonly rootFileSystem?: string;
  /** Opens the way to granted hosts; absent: programs have no network. */
  readonly bridge?: OpenNetworkBridge;
  /** User for programs when the caller is root; never 0 (default: 65534). */
  readonly identity?: Identity;
  /** OCI runtime of the engine: `runsc`, `kata`, ... */
  readonly runtime?: string;
  /** CPUs that a program may use (default: 2, or all if there are fewer). */
  readonly cpus?: number;
  /** Programs of one workspace that run concurrently; further ones wait. */
  readonly maxContainers?: number;
  /** `copy`: always copies the workspace, without testing whether the engine can mount it. */
  readonly transfer?: 'auto' | 'copy';
}

/** Properties that the engine reports. */
interface EngineFacts {
  readonly hasMemoryLimit: boolean;
  readonly hasProcessLimit: boolean;
  readonly cpus: number;
  readonly isRootless: boolean;
  /** The runtime of containers that name none, and all that are registered. */
  readonly defaultRuntime: string;
  readonly runtimes: readonly string[];
  /** In the engine's spelling: `x86_64`. */
  readonly architecture: string;
}

export interface Engine {
  readonly client: EngineClient;
  readonly image: string;
  readonly facts: EngineFacts;
}

/** Connects to an engine that can run programs. Throws `executor/unavailable` with the reason. */
export async function openEngine(options: ContainerOptions): Promise<Engine> {
  const client = await connectEngine(engineEndpoint(options.socket));
  try {
    const { body } = await client.get('/info');
    const system = textField(field(body, 'OSType'));
    if (system !== 'linux')
      throw unsuitable(
        client,
        `it runs ${system ?? 'an unknown system'} containers, but Linux containers are required`,
      );
    const { runtime } = options;
    if (runtime !== undefined && field(body, 'Runtimes', runtime) === undefined)
      throw unsuitable(
        client,
        `it has no runtime ${JSON.stringify(runtime)}, only ${readRuntimes(body).join(', ')}`,
        `register it with the engine (for gVisor: runsc install, then restart the engine), or remove "runtime" from "execution" in the configuration`,
      );
    await removeLeftovers(client);
    const image =
      options.rootFileSystem === undefined
        ? await findImage(client, options.image ?? DEFAULT_IMAGE)
        : await importRoot(client, options.rootFileSystem);
    return { client, image, facts: readFacts(body) };
  } catch (error) {
    client.close();
    throw error;
  }
}

function readFacts(info: unknown): EngineFacts {
  return {
    hasMemoryLimit: field(info, 'MemoryLimit') === true,
    hasProcessLimit: field(info, 'PidsLimit') === true,
    cpus: numberField(field(info, 'NCPU')) ?? 1,
    isRootless: textsField(field(info, 'SecurityOptions')).some((option) => option.startsWith('name=rootless')),
    architecture: textField(field(info, 'Architecture')) ?? '',
    defaultRuntime: textField(field(info, 'DefaultRuntime')) ?? '',
    runtimes: readRuntimes(info),
  };
}

function readRuntimes(info: unknown): readonly string[] {
  const runtimes = field(info, 'Runtimes');
  return typeof runtimes === 'object' && runtimes !== null ? Object.keys(runtimes).toSorted() : [];
}

function unsuitable(
  client: EngineClient,
  reason: string,
  hint = 'set DOCKER_HOST to another engine, or choose another executor',
): SkillError<'executor/unavailable'> {
  const message = `the container engine at ${client.address} cannot be used: ${reason}`;
  return executorUnavailable('container', message, { hint, reasons: [reason] });
}
