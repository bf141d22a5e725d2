import { invalidInput, quoted } from '#core';
import { isDirectory } from '#platform';
import { executorUnavailable } from '../failures.ts';
import type { EngineClient } from './client.ts';
import { packTree, treeFingerprint } from './pack-tree.ts';
import { writeTar, type PackedEntry } from './tar.ts';

/** A small image with Python. Any image that contains `cat` works. */
export const DEFAULT_IMAGE = 'python:3.12-slim';

const IMPORT_MS = 600_000;
const IMPORTED = 'skillwright-root';
/** Name with registry, tag and digest. Excludes characters that would change the URL it is put into. */
const IMAGE_NAME = /^[a-zA-Z0-9][a-zA-Z0-9._:/@-]{0,511}$/;

/** Checks that the engine has the image. Never pulls it: a configured name must not bring in programs from the network. */
export async function findImage(client: EngineClient, image: string): Promise<string> {
  if (!IMAGE_NAME.test(image) || image.includes('..'))
    throw invalidInput(
      `${quoted(image)} is not a valid image name`,
      'the name of an image',
      `use a name such as ${DEFAULT_IMAGE}`,
    );
  if (await hasImage(client, image)) return image;
  const command = `${client.kind} pull ${image}`;
  throw executorUnavailable('container', `the container engine at ${client.address} does not have the image ${image}`, {
    hint: `run \`${command}\`, or configure another image`,
    reasons: [`the image ${image} is missing`],
    install: command,
  });
}

/** Imports a folder with a root file system as an image, again whenever something in the folder changed. */
export async function importRoot(client: EngineClient, folder: string): Promise<string> {
  if (!isDirectory(folder))
    throw executorUnavailable('container', `the root file system ${quoted(folder, 200)} is not a folder`, {
      hint: 'configure a folder that contains bin, lib, usr and everything else that programs need',
      reasons: [`${folder} is not a folder`],
      install: '',
    });
  const tag = treeFingerprint(folder);
  const image = `${IMPORTED}:${tag}`;
  if (await hasImage(client, image)) return image;
  await client.post(`/images/create?fromSrc=-&repo=${IMPORTED}&tag=${tag}`, {
    bytes: writeTar(rootEntries(folder)),
    deadlineMs: IMPORT_MS,
  });
  return await findImage(client, image);
}

/** Everything belongs to root. Folders that the engine mounts over are packed empty. */
function rootEntries(folder: string): Iterable<PackedEntry> {
  return packTree(folder, {
    prefix: '',
    owner: { uid: 0, gid: 0 },
    emptied: new Set(['proc', 'sys', 'dev']),
    // The tmpfs mounted there inherits these bits.
    modes: new Map([['tmp', 0o1777]]),
  });
}

async function hasImage(client: EngineClient, image: string): Promise<boolean> {
  return (await client.get(`/images/${image}/json`, { also: [404] })).status === 200;
}
