import { SkillError } from '../../../core/errors.ts';
import { quoted } from '../../../core/text/text.ts';
import { isDirectory } from '../../../platform/fs/paths.ts';
import type { EngineClient } from './client.ts';
import { tarEnd } from './tar.ts';
import { treeFingerprint, treeTar } from './tree-tar.ts';

/** A small image with Python; any other that has `cat` will do. */
export const DEFAULT_IMAGE = 'python:3.12-slim';

const IMPORT_MS = 600_000;
const IMPORTED = 'skillwright-root';
/** A name with its registry, tag and digest; nothing that could be another part of an address. */
const IMAGE_NAME = /^[a-zA-Z0-9][a-zA-Z0-9._:/@-]{0,511}$/;

/** Sees that the image is there. It is never fetched: a name in a configuration must not bring programs from the network. */
export async function findImage(client: EngineClient, image: string, signal?: AbortSignal): Promise<string> {
  if (!IMAGE_NAME.test(image) || image.includes('..'))
    throw new SkillError({
      code: 'input/invalid',
      message: `${quoted(image)} is no name of an image`,
      hint: `write a name such as ${DEFAULT_IMAGE}`,
      data: { expected: 'the name of an image' },
    });
  if (await hasImage(client, image, signal)) return image;
  const command = `${client.kind} pull ${image}`;
  throw new SkillError({
    code: 'executor/unavailable',
    message: `the image ${image} is not on the container engine at ${client.address}`,
    hint: `fetch it with \`${command}\`, or name another image`,
    data: { executor: 'container', reasons: [`the image ${image} is missing`], install: command },
  });
}

/** An image made of a folder that holds a root file system; made anew when something in the folder changed. */
export async function importRoot(client: EngineClient, folder: string, signal?: AbortSignal): Promise<string> {
  if (!isDirectory(folder))
    throw new SkillError({
      code: 'executor/unavailable',
      message: `the root file system ${quoted(folder, 200)} is no folder`,
      hint: 'name a folder that holds bin, lib, usr and what else programs need',
      data: { executor: 'container', reasons: [`${folder} is no folder`], install: '' },
    });
  const tag = treeFingerprint(folder);
  const image = `${IMPORTED}:${tag}`;
  if (await hasImage(client, image, signal)) return image;
  await client.post(`/images/create?fromSrc=-&repo=${IMPORTED}&tag=${tag}`, {
    bytes: rootTar(folder),
    deadlineMs: IMPORT_MS,
    signal,
  });
  return await findImage(client, image, signal);
}

/** Without what is mounted over; everything belongs to root. */
async function* rootTar(folder: string): AsyncGenerator<Buffer, void> {
  yield* treeTar(folder, {
    prefix: '',
    owner: { uid: 0, gid: 0 },
    emptied: new Set(['proc', 'sys', 'dev']),
    // A file system in memory that is mounted there takes these bits over.
    modes: new Map([['tmp', 0o1777]]),
  });
  yield tarEnd();
}

async function hasImage(client: EngineClient, image: string, signal: AbortSignal | undefined): Promise<boolean> {
  return (await client.get(`/images/${image}/json`, { also: [404], signal })).status === 200;
}
