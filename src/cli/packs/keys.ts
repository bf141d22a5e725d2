import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { parsePublicKey, publicKeyLine } from '../../packs/sign/minisign.ts';
import { isRefusal, packRefusal } from '../../packs/problems.ts';
import type { PackRefusal } from '../../packs/problems.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { openPinnedKeys, writeNewKey } from '../../packs/sign/keys.ts';
import type { PinnedKey } from '../../packs/sign/keys.ts';
import { isPresent, isSystemError } from '../../platform/fs/paths.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';
import { surroundingsOf } from '../../runtime/config/config.ts';
import { askPassword, passwordOfFile } from '../terminal/ask-password.ts';
import { askStreams } from '../terminal/ask.ts';
import { defineCommand } from '../command.ts';
import type { Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import { asker, refuse } from './pack-flags.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';

const flags = {
  folder: { type: 'string', value: 'DIR', path: true, about: 'where a new key goes; .agent/keys of the home folder' },
  'no-password': { type: 'boolean', about: 'the new key has no password: whoever reads its file can sign' },
  'password-file': {
    type: 'string',
    value: 'FILE',
    path: true,
    about: 'the password of the new key, instead of a question',
  },
  'dry-run': { type: 'boolean', about: 'show what would be done and change nothing' },
  yes: { type: 'boolean', short: 'y', about: 'do not ask' },
} as const;

export const command = defineCommand({
  usage: 'keys [list] | keys new NAME [--folder DIR] [--no-password] | keys add NAME KEY|FILE | keys remove NAME|ID',
  details: [
    'Makes a pair of keys to sign packs with, in the format of minisign, and pins the public keys of people whose packs you take. A pinned',
    'key is kept, sealed, in .agent/keys.json of the home folder. Pin a key only after you made sure whose it is, over another way than',
    'the one it came by. A signature by a key that is not pinned proves nothing here. Exit status 3: nobody said yes.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright keys new work', 'work.key, which is secret, and work.pub, which you pass on'],
    ['skillwright keys add anna RWQf6LRCGA9i5…', 'take what Anna signs'],
    ['skillwright keys', 'whose packs are taken'],
    ['skillwright keys remove anna', 'and no longer'],
  ],
  positionals: [0, 3],
  async run(invocation) {
    const { flags: given, positionals } = invocation;
    const { cwd, home } = surroundingsOf(given.cwd === undefined ? {} : { cwd: given.cwd });
    const asked: Asked = { ...invocation, cwd, home };
    const [verb = 'list', name = '', text = '', ...rest] = positionals;
    const count = positionals.length;
    if (verb === 'list' && count <= 1) return list(asked);
    if (verb === 'new' && count === 2) return makeNew(asked, name);
    if (verb === 'add' && count === 3 && rest.length === 0) return add(asked, name, text);
    if (verb === 'remove' && count === 2) return remove(asked, name);
    throw new UsageError('that makes no sense here', `usage: skillwright ${command.usage}`);
  },
});

interface Asked extends Invocation<typeof flags> {
  readonly cwd: string;
  readonly home: string | undefined;
}

function keyJson({ name, key, at }: PinnedKey): object {
  return { name, id: key.id, key: publicKeyLine(key), at };
}

function list({ flags: given, terminal, home }: Asked): number {
  const { keys, problems } = openPinnedKeys({ home }).list();
  if (given.json === true) terminal.out(jsonText({ keys: keys.map(keyJson), problems }));
  else {
    for (const { name, key, at } of keys)
      terminal.out(`${printable(name)}  ${key.id}  ${publicKeyLine(key)}  ${printable(at)}`);
    if (keys.length === 0) terminal.remark('no key is pinned');
  }
  for (const problem of problems) terminal.err(`${terminal.style('yellow', 'warning')}: ${printable(problem)}`);
  return problems.length === 0 ? EXIT.done : EXIT.failed;
}

async function makeNew(asked: Asked, name: string): Promise<number> {
  const { flags: given, terminal, cwd, home } = asked;
  if (given.folder === undefined && home === undefined) throw noHome();
  const folder = given.folder === undefined ? path.join(home ?? cwd, '.agent/keys') : path.resolve(cwd, given.folder);
  if (given['dry-run'] === true) {
    const files = [`${name}.key`, `${name}.pub`].map((file) => path.join(folder, file));
    if (given.json === true) terminal.out(jsonText({ ok: true, done: false, files }));
    else for (const file of files) terminal.out(`would write ${printable(file)}`);
    return EXIT.done;
  }
  const password = await newPassword(asked);
  if (typeof password === 'object') return refuse(asked, password);
  const unmade = makeFolder(folder);
  if (unmade !== undefined) return refuse(asked, unmade);
  const made = await writeNewKey({ folder, name }, password === undefined ? {} : { password });
  if (isRefusal(made)) return refuse(asked, made);
  const { id, publicFile, secretFile, publicText } = made;
  const line = publicText.trim().split('\n').at(-1) ?? '';
  if (given.json === true) terminal.out(jsonText({ ok: true, done: true, id, publicFile, secretFile, key: line }));
  else {
    terminal.remark(`secret key: ${printable(secretFile)}`);
    terminal.remark(`public key: ${printable(publicFile)}`);
    terminal.remark(`others pin it with: skillwright keys add ${name} ${line}`);
    terminal.out(`${id}  ${line}`);
  }
  return EXIT.done;
}

/** Nothing for a key without one. Typed twice: a slip would lock the key for good. */
async function newPassword({ flags: given, signal, cwd }: Asked): Promise<string | undefined | PackRefusal> {
  const { 'no-password': isOpen = false, 'password-file': file } = given;
  if (isOpen && file !== undefined)
    throw new UsageError('--no-password and --password-file exclude each other', 'see skillwright keys --help');
  if (isOpen) return undefined;
  const ask = (prompt: string): Promise<string | undefined> => askPassword(askStreams(process), prompt, { signal });
  const password = file === undefined ? await ask('password of the new key') : passwordOfFile(file, cwd);
  if (typeof password === 'object') return password;
  if (password === undefined)
    return packRefusal('install/refused', 'nobody gave a password: say --no-password or --password-file');
  if (password === '')
    return packRefusal('install/refused', 'the password is empty: say --no-password if none is meant');
  if (file === undefined && (await ask('and again')) !== password)
    return packRefusal('install/refused', 'the two passwords differ');
  return password;
}

function makeFolder(folder: string): PackRefusal | undefined {
  try {
    makeFolders(folder, 0o700);
    return undefined;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return packRefusal('pack/unwritable', `${quoted(folder, 200)} cannot be made (${error.code})`, folder);
  }
}

const MAX_KEY_BYTES = 16 * 1024;

async function add(asked: Asked, name: string, given: string): Promise<number> {
  const { flags, terminal, cwd, home } = asked;
  const text = keyText(path.resolve(cwd, given), given);
  const key = parsePublicKey(text);
  if (key.type === 'invalid')
    throw new SkillError({
      code: 'input/invalid',
      message: `it is no public key: ${key.reason}`,
      hint: 'give the line of a .pub file, or the file',
      data: { expected: 'a public key of minisign' },
    });
  const what = `pin ${key.id} as ${quoted(name)}, and take what it signs`;
  if (flags['dry-run'] === true) {
    if (flags.json === true) terminal.out(jsonText({ ok: true, done: false, id: key.id }));
    else terminal.out(`would ${what}`);
    return EXIT.done;
  }
  if (!(await asker(asked, flags.yes)(what)))
    return refuse(asked, packRefusal('install/refused', 'nobody said yes: no key was pinned'));
  const pinned = await openPinnedKeys({ home }).add(name, text);
  if (flags.json === true) terminal.out(jsonText({ ok: true, done: true, key: keyJson(pinned) }));
  else terminal.out(`pinned ${pinned.key.id} as ${printable(pinned.name)}`);
  return EXIT.done;
}

/** A file that is there, else the key itself. */
function keyText(file: string, given: string): string {
  if (!isPresent(file)) return given;
  const read = readTextFile(file, MAX_KEY_BYTES);
  return read.type === 'read' ? read.text : given;
}

async function remove(asked: Asked, name: string): Promise<number> {
  const { flags: given, terminal, home } = asked;
  const keys = openPinnedKeys({ home });
  const meant = keys.list().keys.filter((one) => one.name === name || one.key.id === name.toUpperCase());
  if (meant.length === 0)
    throw new SkillError({
      code: 'input/invalid',
      message: `no key ${quoted(name)} is pinned`,
      hint: 'skillwright keys shows which are',
      data: { expected: 'the name or the id of a pinned key' },
    });
  const isDry = given['dry-run'] === true;
  const what = `pin no longer: ${meant.map((one) => `${one.name} (${one.key.id})`).join(', ')}`;
  if (!isDry && !(await asker(asked, given.yes)(what)))
    return refuse(asked, packRefusal('install/refused', 'nobody said yes: every key is pinned as before'));
  const gone = isDry ? meant : await keys.remove(name);
  if (given.json === true) terminal.out(jsonText({ ok: true, done: !isDry, removed: gone.map(keyJson) }));
  else
    for (const { name: called, key } of gone)
      terminal.out(`${isDry ? 'would remove' : 'removed'} ${printable(called)} ${key.id}`);
  return EXIT.done;
}

function noHome(): SkillError<'input/invalid'> {
  return new SkillError({
    code: 'input/invalid',
    message: 'there is no home folder to keep it in',
    hint: 'name a folder: --folder DIR',
    data: { expected: 'a folder' },
  });
}
