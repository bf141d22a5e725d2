/** Manages pinned public keys, and creates new key pairs. */
import path from 'node:path';

import { invalidInput, quoted, type SkillError } from '#core';
import { isSystemError, makeFolders, openSealedFile, readPrivateFile } from '#platform';
import {
  isKeyId,
  parsePublicKey,
  publicKeyLine,
  makeKey,
  openSecretKey,
  type MinisignPublicKey,
  type NewKeyOptions,
  type SigningKey,
} from './minisign.ts';
import { asRefusal, refused, type PackRefusal } from '../problems.ts';
import { refuseExisting, writeWholeText } from '../whole-file.ts';

export interface PinnedKey {
  readonly name: string;
  readonly key: MinisignPublicKey;
  /** The key as `minisign -P` takes it. */
  readonly line: string;
  readonly at: string;
}

export interface PinnedKeys {
  /** The key that `add` would pin. Throws `input/invalid`. */
  read(name: string, text: string): PinnedKey;
  /** `text` is a minisign public key file, or its key line. Throws `input/invalid` and `io/failed`. */
  add(name: string, text: string, options?: { readonly now?: Date }): Promise<PinnedKey>;
  /** Removes by name or id and returns the removed keys. Throws `io/failed`. */
  remove(nameOrId: string): Promise<readonly PinnedKey[]>;
  list(): { readonly keys: readonly PinnedKey[]; readonly problems: readonly string[] };
}

const MAX_KEYS = 1_000;
const MAX_KEY_FILE_BYTES = 16 * 1024;
const NAME = /^[A-Za-z0-9](?:[\w.@+-]{0,62}[A-Za-z0-9])?$/;

/** Opens `.agent/keys.json` in the home folder. Entries that were edited by hand are ignored. Without a home folder, no keys are pinned. */
export function openPinnedKeys({ home }: { readonly home: string | undefined }): PinnedKeys {
  const sealed = home === undefined ? undefined : openKeysFile(home);
  return {
    read: (name, text) => pinnedKey(name, text, new Date()),
    async add(name, text, { now = new Date() } = {}) {
      if (sealed === undefined) throw invalid('cannot store the key: there is no home folder', 'a home folder');
      const pinned = pinnedKey(name, text, now);
      checkName(name);
      await sealed.change((all) => {
        const same = all.find((entry) => entry.name === name || entry.key === pinned.line);
        if (same === undefined) return [...all, { name, key: pinned.line, at: pinned.at }];
        throw same.key === pinned.line
          ? invalid(`this key is already pinned as ${quoted(same.name)}`, 'another key')
          : invalid(`another key is pinned as ${quoted(name)}`, 'another name, or remove that key first');
      });
      return pinned;
    },
    async remove(nameOrId) {
      if (sealed === undefined) return [];
      let gone: readonly PinnedKey[] = [];
      await sealed.change((all) => {
        gone = all.flatMap(openKey).filter(({ name, key }) => name === nameOrId || key.id === nameOrId.toUpperCase());
        return all.filter(({ name }) => gone.every((one) => one.name !== name));
      });
      return gone;
    },
    list() {
      const { entries, problems } = sealed?.load() ?? { entries: [], problems: [] };
      return { keys: entries.flatMap(openKey), problems };
    },
  };
}

function pinnedKey(name: string, text: string, at: Date): PinnedKey {
  const key = parsePublicKey(text);
  if (key.type === 'public-key') return { name, key, line: publicKeyLine(key), at: at.toISOString() };
  throw invalidInput(`not a public key: ${key.reason}`, 'a minisign public key', 'pass a .pub file or its key line');
}

export interface NewKeyFiles {
  readonly type: 'made';
  readonly id: string;
  readonly publicFile: string;
  /** Readable only by its owner. */
  readonly secretFile: string;
  readonly publicText: string;
}

/** Writes `<name>.pub` and `<name>.key` into a folder. Does not replace files. Throws `input/invalid`. */
export async function writeNewKey(
  { folder, name }: { readonly folder: string; readonly name: string },
  options: NewKeyOptions = {},
): Promise<NewKeyFiles | PackRefusal> {
  checkName(name);
  const [publicFile, secretFile] = [path.join(folder, `${name}.pub`), path.join(folder, `${name}.key`)];
  try {
    makeKeyFolder(folder);
    for (const file of [secretFile, publicFile]) refuseExisting(file);
    const { id, publicText, secretText } = await makeKey(options);
    writeWholeText(secretFile, secretText, { force: false, mode: 0o600 });
    writeWholeText(publicFile, publicText, { force: false });
    return { type: 'made', id, publicFile, secretFile, publicText };
  } catch (error) {
    return asRefusal(error);
  }
}

function makeKeyFolder(folder: string): void {
  try {
    makeFolders(folder, 0o700);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw refused('pack/unwritable', `cannot create ${quoted(folder, 200)} (${error.code})`, folder);
  }
}

export type KeyFileReading =
  | SigningKey
  | { readonly type: 'invalid'; readonly problem: 'file' | 'shape' | 'password'; readonly reason: string };

/** Opens a secret key file, which only its owner may be able to read. Problem `password`: a password is missing or wrong. */
export async function openKeyFile(file: string, password?: string): Promise<KeyFileReading> {
  const read = readPrivateFile(file, { maxBytes: MAX_KEY_FILE_BYTES, isSecret: true });
  if (read.type === 'absent') return { type: 'invalid', problem: 'file', reason: 'the file does not exist' };
  if (read.type === 'failed') return { type: 'invalid', problem: 'file', reason: read.reason };
  return openSecretKey(read.bytes.toString('utf8'), password);
}

export interface KeyChoice {
  readonly file: string;
  readonly password?: string;
  /** Called only if the key has a password and none is given. */
  readonly askPassword: () => Promise<string | undefined>;
}

/** Throws a refusal. */
export async function openSigningKey({ file, password, askPassword }: KeyChoice): Promise<SigningKey> {
  const unusable = (reason: string): SkillError =>
    refused('source/failed', `cannot use the key ${quoted(file, 200)}: ${reason}`, file);
  const opened = await openKeyFile(file, password);
  if (opened.type === 'signing-key') return opened;
  if (opened.problem !== 'password' || password !== undefined) throw unusable(opened.reason);
  const typed = await askPassword();
  if (typed === undefined) throw unusable(`${opened.reason}; without a terminal pass --password-file`);
  const again = await openKeyFile(file, typed);
  if (again.type !== 'signing-key') throw unusable(again.reason);
  return again;
}

function openKeysFile(home: string): ReturnType<typeof openSealedFile<StoredKey>> {
  return openSealedFile<StoredKey>({
    file: path.join(home, '.agent/keys.json'),
    home,
    purpose: 'skillwright keys 1',
    read: storedKey,
    text: ({ name, key, at }) => JSON.stringify([name, key, at]),
    name: ({ name }) => name,
    maxEntries: MAX_KEYS,
  });
}

interface StoredKey {
  readonly name: string;
  readonly key: string;
  readonly at: string;
}

function storedKey(value: object): StoredKey | undefined {
  const { name, key, at }: Record<string, unknown> = { ...value };
  if (typeof name !== 'string' || typeof key !== 'string' || typeof at !== 'string') return undefined;
  return NAME.test(name) && parsePublicKey(key).type === 'public-key' ? { name, key, at } : undefined;
}

function openKey({ name, key: line, at }: StoredKey): readonly PinnedKey[] {
  const key = parsePublicKey(line);
  return key.type === 'invalid' ? [] : [{ name, key, line, at }];
}

/** A name in the form of a key id would shadow the key with that id. */
function checkName(name: string): void {
  if (!NAME.test(name) || isKeyId(name.toUpperCase()))
    throw invalid(`${quoted(name)} is not a valid key name`, 'a short name of letters, digits, - and _');
}

function invalid(message: string, expected: string): SkillError<'input/invalid'> {
  return invalidInput(message, expected, `give ${expected}`);
}
