/** A skill whose scripts give away what they were told, in every way that happens by accident; and the search for what got out. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { writeSkill } from '../../skills/registry/support.ts';

/** One from each source. The first has something in it that every way of writing changes; the others can be names of files. */
export const SECRETS = {
  CANARY_TOKEN: 'kanari/ö "7&9<%>\\ =Qz81+x',
  CANARY_FILE: 'canaryfile-51c0ffee77aa',
  CANARY_COMMAND: 'canarycommand-9d8b7a6c5e',
} as const;

/** In the surroundings of the process; for no skill at all. */
export const WITHHELD = {
  ANTHROPIC_API_KEY: 'sk-ant-canary-0123456789abcdef',
  OPENAI_API_KEY: 'sk-proj-canary-fedcba9876543210',
} as const;

/** Configured for a skill that does not declare it: it goes nowhere either. */
const UNDECLARED = 'undeclared-3e5d7c9b1a';

export const HASHES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(SECRETS).map(([name, value]) => [name, createHash('sha256').update(value).digest('hex')]),
);

/** Where a canary lives: a home with a user configuration, a project, a folder for programs; all below one root. */
export interface CanaryWorld {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly skills: string;
  readonly env: Readonly<Record<string, string>>;
}

export function writeCanaryWorld(root: string, endpoint = ''): CanaryWorld {
  const [home, project, skills] = ['home', 'project', 'skills'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  // Programs of another user pass through.
  chmodSync(root, 0o711);
  mkdirSync(path.join(home, '.agent'), { recursive: true, mode: 0o700 });
  mkdirSync(project);
  mkdirSync(path.join(root, 'tmp'));
  for (const name of ['CANARY_FILE', 'CANARY_COMMAND'] as const)
    writeFileSync(path.join(home, name), `${SECRETS[name]}\n`, { mode: 0o600 });
  const secrets = {
    canary: {
      CANARY_TOKEN: { env: 'MY_CANARY' },
      CANARY_FILE: { file: '~/CANARY_FILE' },
      CANARY_COMMAND: { command: ['cat', path.join(home, 'CANARY_COMMAND')] },
      UNDECLARED: { env: 'MY_UNDECLARED' },
    },
  };
  const telemetry = endpoint === '' ? {} : { telemetry: { endpoint } };
  writeFileSync(path.join(home, '.agent/config.json'), JSON.stringify({ secrets, ...telemetry }));
  const requires = `requires: [${Object.keys(SECRETS)
    .map((name) => `"env:${name}"`)
    .join(', ')}]`;
  for (const [name, fields] of [
    ['canary', [requires]],
    ['other', [requires]],
    ['thief', ['requires: ["env:ANTHROPIC_API_KEY"]']],
  ] as const) {
    writeSkill(path.join(skills, name), { fields });
    mkdirSync(path.join(skills, name, 'scripts'));
    writeFileSync(path.join(skills, name, 'scripts/leak.mjs'), LEAK);
  }
  const env = {
    TMPDIR: path.join(root, 'tmp'),
    MY_CANARY: SECRETS.CANARY_TOKEN,
    MY_UNDECLARED: UNDECLARED,
    ...WITHHELD,
  };
  return { root, home, project, skills, env };
}

/**
 * Says what it was given by hash, then gives it away by the way that is named. `none`: by none. Reversed is no such way: who wants to
 * give a secret away can, and only a sandbox without a network helps against that.
 */
const LEAK = `
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const names = ${JSON.stringify([...Object.keys(SECRETS), ...Object.keys(WITHHELD), 'UNDECLARED', 'MY_CANARY', 'MY_UNDECLARED'])};
const given = names.filter((name) => process.env[name] !== undefined);
const hash = (text) => createHash('sha256').update(text).digest('hex');
const out = process.env.OUTPUT_DIR;
mkdirSync(out, { recursive: true });
writeFileSync(out + '/given.json', JSON.stringify(Object.fromEntries(given.map((name) => [name, hash(process.env[name])]))));
const b64 = (text, kind = 'base64') => Buffer.from(text).toString(kind);
const spellings = (value) => [
  value, JSON.stringify(value), JSON.stringify(JSON.stringify(value)), encodeURIComponent(value), encodeURI(value),
  new URLSearchParams({ q: value }).toString(), b64(value, 'hex'), b64(value, 'hex').toUpperCase(),
  ...['', 'x', 'xy'].flatMap((before) => [b64(before + value + '!'), b64(before + value + '!', 'base64url'), b64(before + value)]),
];
const values = given.map((name) => process.env[name]);
const all = values.flatMap(spellings).join('\\n') + '\\n';
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const ways = {
  none() {},
  stdout: () => void process.stdout.write(all),
  stderr: () => void process.stderr.write(all),
  async split() {
    for (const value of values)
      for (const byte of Buffer.from('<' + value + '>')) {
        process.stdout.write(Buffer.from([byte]));
        process.stderr.write(Buffer.from([byte]));
        await pause(1);
      }
  },
  long: () => void process.stdout.write((values.join(' ') + ' ' + 'x'.repeat(37)).repeat(6000)),
  files() {
    writeFileSync(out + '/text.txt', all);
    writeFileSync(out + '/binary.bin', Buffer.concat([Buffer.from([0, 1, 255]), Buffer.from(all), Buffer.alloc(70000), Buffer.from(all)]));
    for (const value of values.slice(1)) writeFileSync(out + '/named-' + value + '.txt', 'a name');
  },
  flood: () => void process.stdout.write('x'.repeat(100000 - 13) + values[0] + 'y'.repeat(100000)),
  async half() {
    process.stdout.write(values[1].slice(0, 15));
    process.stderr.write(values[2].slice(0, 15));
    await pause(60000);
  },
  coloured() {
    const colour = (value) => '\\x1b[1m' + value.slice(0, 5) + '\\x1b[0m' + value.slice(5, 12) + '\\x07' + value.slice(12) + '\\n';
    process.stdout.write(values.map(colour).join(''));
    process.stderr.write(values.map(colour).join(''));
    writeFileSync(process.env.WORK_DIR + '/coloured.txt', values.map(colour).join(''));
  },
  cut() {
    const shifts = (value) => Array.from({ length: value.length - 1 }, (_, shift) => shift + 1);
    const line = (value, shift) => 'x'.repeat(2000 - shift) + value + 'y'.repeat(50);
    writeFileSync(process.env.WORK_DIR + '/lines.txt', values.flatMap((value) => shifts(value).map((shift) => line(value, shift))).join('\\n'));
    for (const [place, value] of values.entries())
      writeFileSync(out + '/start-' + place + '.txt', 'x'.repeat(32 * 1024 - 15) + value + 'y'.repeat(40000));
  },
  share: () => writeFileSync(process.env.WORK_DIR + '/shared.txt', all),
  async ask() {
    process.stdout.write(all + 'Name: ');
    process.stdin.once('data', async () => { process.stdout.write(all); await pause(50); process.exit(0); });
  },
  surroundings() {
    const read = (file) => { try { return readFileSync(file); } catch { return Buffer.alloc(0); } };
    process.stdout.write(Buffer.concat([read('/proc/self/environ'), read('/proc/self/cmdline'), Buffer.from(JSON.stringify(process.env))]));
  },
  throws() { throw new Error(all); },
};
await ways[process.argv[2] ?? 'none']();
`;

/** Every way of writing a secret that must not be found anywhere; made here by other means than the program's own. */
function needlesOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const json = JSON.stringify(value).slice(1, -1);
  const jsonTwice = JSON.stringify(json).slice(1, -1);
  const aligned = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before, 'x'), bytes]).toString('base64');
    const core = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const hex = bytes.toString('hex');
  const form = new URLSearchParams({ q: value }).toString().slice(2);
  return [
    value,
    json,
    jsonTwice,
    encodeURIComponent(value),
    encodeURI(value),
    form,
    hex,
    hex.toUpperCase(),
    ...aligned,
  ];
}

/** The halves of each: a cut in the wrong place gives away as much as none, and a whole one contains its halves. */
const NEEDLES: readonly Buffer[] = [
  ...new Set(
    [...Object.values(SECRETS), ...Object.values(WITHHELD), UNDECLARED].flatMap(needlesOf).flatMap((needle) => {
      const half = Math.max(10, Math.ceil(needle.length / 2));
      return [needle.slice(0, half), needle.slice(-half)];
    }),
  ),
].map((text) => Buffer.from(text));

/** Everything that could be searched: bytes by what they are. */
export type Surface = readonly [name: string, bytes: Uint8Array];

/** What of the secrets is in these bytes, with the place. Nothing, where all is well. */
export function hits(surfaces: Iterable<Surface>): readonly string[] {
  const found: string[] = [];
  for (const [name, data] of surfaces) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const needle = NEEDLES.find((text) => bytes.includes(text));
    if (needle !== undefined) found.push(`${name}: ${needle.toString()} at ${String(bytes.indexOf(needle))}`);
  }
  return found;
}

/** Each text of a value by itself, keys too: JSON would write it in another way. */
export function* surfacesOf(name: string, value: unknown): Generator<Surface> {
  if (value instanceof Uint8Array) yield [name, value];
  else if (typeof value === 'string') yield [name, Buffer.from(value)];
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      yield [`${name} (key)`, Buffer.from(key)];
      yield* surfacesOf(`${name}.${key}`, item);
    }
}

/** The names and the bytes of all files below a folder. */
export function* surfacesBelow(folder: string): Generator<Surface> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    yield [`name of ${file}`, Buffer.from(entry.name)];
    if (entry.isFile()) yield [file, readFileSync(file)];
  }
}
