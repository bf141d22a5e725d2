import { SkillError } from '../../../core/errors.ts';
import type { Identity } from '../../../core/execution.ts';
import { EngineClient } from './client.ts';
import { engineEndpoint } from './endpoint.ts';
import { DEFAULT_IMAGE, findImage, importRoot } from './image.ts';
import { field, numberField, textField, textsField } from './json-answer.ts';
import { removeLeftovers } from './owner.ts';

export interface ContainerOptions {
  /** A path of a socket, or what `DOCKER_HOST` may hold; `/var/run/docker.sock` otherwise. */
  readonly socket?: string;
  /** Has to be there already. */
  readonly image?: string;
  /** A folder with a root file system, imported as an image; goes before `image`. */
  readonly rootFileSystem?: string;
  /** Whom programs run as where we are root: 65534 otherwise, and never 0. */
  readonly identity?: Identity;
  /** Of the engine: `runsc`, `kata`, ... */
  readonly runtime?: string;
  /** Processors that a program may use; two otherwise, or as many as there are. */
  readonly cpus?: number;
  /** Programs of one workspace that run at once; more wait for one another. */
  readonly maxContainers?: number;
  /** `copy`: the engine cannot see our files, without looking. */
  readonly transfer?: 'auto' | 'copy';
}

/** What an engine says about itself. */
export interface EngineFacts {
  readonly hasMemoryLimit: boolean;
  readonly hasProcessLimit: boolean;
  readonly cpus: number;
  readonly isRootless: boolean;
  /** As the engine calls it: `x86_64`. */
  readonly architecture: string;
}

export interface Engine {
  readonly client: EngineClient;
  readonly image: string;
  readonly facts: EngineFacts;
}

/** Connects, and finds out whether programs can be run. Throws `executor/unavailable` with the reason. */
export async function openEngine(options: ContainerOptions): Promise<Engine> {
  const client = await EngineClient.connect(engineEndpoint(options.socket));
  try {
    const { body } = await client.get('/info');
    const system = textField(field(body, 'OSType'));
    if (system !== 'linux') throw unsuitable(client, `it runs ${system ?? 'nobody knows what'}, and Linux is needed`);
    const { runtime } = options;
    if (runtime !== undefined && field(body, 'Runtimes', runtime) === undefined)
      throw unsuitable(client, `it has no runtime ${JSON.stringify(runtime)}`);
    await removeLeftovers(client);
    const image =
      options.rootFileSystem === undefined
        ? await findImage(client, options.image ?? DEFAULT_IMAGE)
        : await importRoot(client, options.rootFileSystem);
    return { client, image, facts: factsOf(body) };
  } catch (error) {
    client.close();
    throw error;
  }
}

function factsOf(info: unknown): EngineFacts {
  return {
    hasMemoryLimit: field(info, 'MemoryLimit') === true,
    hasProcessLimit: field(info, 'PidsLimit') === true,
    cpus: numberField(field(info, 'NCPU')) ?? 1,
    isRootless: textsField(field(info, 'SecurityOptions')).some((option) => option.startsWith('name=rootless')),
    architecture: textField(field(info, 'Architecture')) ?? '',
  };
}

function unsuitable(client: EngineClient, reason: string): SkillError<'executor/unavailable'> {
  return new SkillError({
    code: 'executor/unavailable',
    message: `the container engine at ${client.address} cannot be used: ${reason}`,
    hint: 'name another engine in DOCKER_HOST, or another executor',
    data: { executor: 'container', reasons: [reason], install: '' },
  });
}
