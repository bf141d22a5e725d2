import path from 'node:path';

import { invalidInput, printable, problemError, quoted, type SkillError } from '#core';
import { accepted, openPinnedKeys, packRefusal, writeNewKey } from '#packs';
import { isPresent, readTextFile } from '#platform';
import { askPassword, passwordOfFile } from '../terminal/ask-password.ts';
import { askStreams } from '../terminal/ask.ts';
import { reportWarning } from '../terminal/terminal.ts';
import { option, toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { requireValidConfig } from '../surroundings.ts';
import { asker, definePackCommand } from './pack-command.ts';

const flags = {
  folder: option('DIR', 'write the new key to DIR (default: ~/.agent/keys)'),
  'no-password': toggle('create the key without a password: everyone who can read the file can sign'),
  'password-file': option('FILE', 'read the password of the new key from FILE'),
  'dry-run': toggle('print the changes without making them'),
  yes: toggle('do not ask for confirmation', { short: 'y' }),
} as const;

export const command = definePackCommand({
  usage: 'keys [list] | keys new NAME [--folder DIR] [--no-password] | keys add NAME KEY|FILE | keys remove NAME|ID',
  details: [
    'Creates key pairs to sign packs (minisign format) and pins the public keys of signers you accept, in the sealed file ~/.agent/keys.json. A signature by a key that is not pinned is not accepted.',
    'Before you pin a key, confirm its owner over a second channel.',
    'Exit code 3: not confirmed.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright keys new work', 'create work.key (secret) and work.pub (public)'],
    ['skillwright keys add anna RWQf6LRCGA9i5…', 'accept packs that Anna signed'],
    ['skillwright keys', 'list the pinned keys'],
    ['skillwright keys remove anna', 'unpin a key'],
  ],
  positionals: [0, 3],
  async run(invocation) {
    const { positionals } = invocation;
    const [verb = 'list', name = '', text = '', ...rest] = positionals;
    const count = positionals.length;
    if (verb === 'list' && count <= 1) return list(invocation);
    await requireValidConfig(invocation);
    if (verb === 'new' && count === 2) return makeNew(invocation, name);
    if (verb === 'add' && count === 3 && rest.length === 0) return add(invocation, name, text);
    if (verb === 'remove' && count === 2) return remove(invocation, name);
    throw usageError('invalid arguments', `usage: skillwright ${command.usage}`);
  },
});

type KeysInvocation = Invocation<typeof flags>;

type PinnedKeys = ReturnType<typeof openPinnedKeys>;

function keyJson({ name, key, line, at }: ReturnType<PinnedKeys['read']>): object {
  return { name, id: key.id, key: line, at };
}

function list({ terminal, surroundings }: KeysInvocation): number {
  const { keys, problems } = openPinnedKeys(surroundings).list();
  if (!terminal.printJson({ keys: keys.map(keyJson), problems })) {
    for (const { name, key, line, at } of keys)
      terminal.out(`${printable(name)}  ${key.id}  ${line}  ${printable(at)}`);
    if (keys.length === 0) terminal.remark('no key is pinned');
  }
  for (const problem of problems) reportWarning(terminal, printable(problem));
  return problems.length === 0 ? EXIT.done : EXIT.failed;
}

async function makeNew(invocation: KeysInvocation, name: string): Promise<number> {
  const {
    flags: options,
    terminal,
    surroundings: { cwd, home },
  } = invocation;
  if (options.folder === undefined && home === undefined)
    throw invalidInput('HOME is not set, so there is no place for the key', 'a folder', 'pass --folder DIR');
  const folder =
    options.folder === undefined ? path.join(home ?? cwd, '.agent/keys') : path.resolve(cwd, options.folder);
  if (options['dry-run'] === true) {
    const files = [`${name}.key`, `${name}.pub`].map((file) => path.join(folder, file));
    if (!terminal.printJson({ ok: true, done: false, files }))
      terminal.out(files.map((file) => `would write ${printable(file)}`));
    return EXIT.done;
  }
  const password = await newPassword(invocation);
  const { id, publicFile, secretFile, publicText } = accepted(await writeNewKey({ folder, name }, { password }));
  const line = publicText.trim().split('\n').at(-1) ?? '';
  if (!terminal.printJson({ ok: true, done: true, id, publicFile, secretFile, key: line })) {
    terminal.remark(`secret key: ${printable(secretFile)}`);
    terminal.remark(`public key: ${printable(publicFile)}`);
    terminal.remark(`others pin it with: skillwright keys add ${name} ${line}`);
    terminal.out(`${id}  ${line}`);
  }
  return EXIT.done;
}

/** The password of a new key; undefined for --no-password. The user types it twice, because a typo would lock the key forever. */
async function newPassword({ flags: options, signal, surroundings }: KeysInvocation): Promise<string | undefined> {
  const { 'no-password': isOpen = false, 'password-file': file } = options;
  if (isOpen && file !== undefined)
    throw usageError('--no-password and --password-file cannot be combined', 'see skillwright keys --help');
  if (isOpen) return undefined;
  const ask = (prompt: string): Promise<string | undefined> => askPassword(askStreams(process), prompt, { signal });
  const password = file === undefined ? await ask('password of the new key') : passwordOfFile(file, surroundings.cwd);
  if (password === undefined) throw keyNotCreated('no password was given; pass --no-password or --password-file');
  if (password === '') throw keyNotCreated('the password is empty; pass --no-password to create a key without one');
  if (file === undefined && (await ask('repeat the password')) !== password)
    throw keyNotCreated('the two passwords differ');
  return password;
}

function keyNotCreated(reason: string): SkillError {
  return problemError(packRefusal('install/refused', reason, { hint: 'no key was created: run the command again' }));
}

const MAX_KEY_BYTES = 16 * 1024;

async function add(invocation: KeysInvocation, name: string, key: string): Promise<number> {
  const { flags, terminal, surroundings } = invocation;
  const text = keyText(path.resolve(surroundings.cwd, key), key);
  const keys = openPinnedKeys(surroundings);
  const { id } = keys.read(name, text).key;
  const what = `pin ${id} as ${quoted(name)} and accept packs signed with it`;
  if (flags['dry-run'] === true) {
    if (!terminal.printJson({ ok: true, done: false, id })) terminal.out(`would ${what}`);
    return EXIT.done;
  }
  if (!(await asker(invocation, flags.yes)(what))) throw keyNotCreated('not confirmed: the key was not pinned');
  const pinned = await keys.add(name, text);
  if (!terminal.printJson({ ok: true, done: true, key: keyJson(pinned) }))
    terminal.out(`pinned ${pinned.key.id} as ${printable(pinned.name)}`);
  return EXIT.done;
}

/** The content of an existing file; otherwise the argument is the key itself. */
function keyText(file: string, key: string): string {
  if (!isPresent(file)) return key;
  const read = readTextFile(file, MAX_KEY_BYTES);
  return read.type === 'read' ? read.text : key;
}

async function remove(invocation: KeysInvocation, name: string): Promise<number> {
  const { flags: options, terminal } = invocation;
  const keys = openPinnedKeys(invocation.surroundings);
  const meant = keys.list().keys.filter((one) => one.name === name || one.key.id === name.toUpperCase());
  if (meant.length === 0)
    throw invalidInput(
      `no pinned key ${quoted(name)}`,
      'the name or id of a pinned key',
      'list the pinned keys with skillwright keys',
    );
  const isDry = options['dry-run'] === true;
  const what = `unpin ${meant.map((one) => `${one.name} (${one.key.id})`).join(', ')}`;
  if (!isDry && !(await asker(invocation, options.yes)(what))) throw keyNotCreated('not confirmed: no key was removed');
  const gone = isDry ? meant : await keys.remove(name);
  if (!terminal.printJson({ ok: true, done: !isDry, removed: gone.map(keyJson) }))
    for (const { name: called, key } of gone)
      terminal.out(`${isDry ? 'would remove' : 'removed'} ${printable(called)} ${key.id}`);
  return EXIT.done;
}
