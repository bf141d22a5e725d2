import { deflateRawSync } from 'node:zlib';

import { zipSync } from 'fflate';

import { longName, makeTarGz, pax, type TarPart } from './archives-make-tar.ts';
import { extraField, makeZip, unicodePath, type ZipPart } from './archives-make-zip.ts';
import { SKILL_TEXT, type SampleArchive } from './archives-sample.ts';

/** What must lie in the folder afterwards, as `harvest` gives it: `x ` before programs, base64, nothing for folders. */
export interface BenignArchive extends SampleArchive {
  readonly tree: Readonly<Record<string, string>>;
  readonly leftOut: readonly string[];
}

const SCRIPT = '#!/bin/sh\necho hello\n';
const LOGO = Buffer.from(Array.from({ length: 5000 }, (_, place) => (place * 7919) % 256));
const base64 = (content: string | Buffer): string => Buffer.from(content).toString('base64');

const TREE = {
  'sample/': '',
  'sample/SKILL.md': base64(SKILL_TEXT),
  'sample/assets/': '',
  'sample/assets/logo.png': base64(LOGO),
  'sample/empty.txt': '',
  'sample/scripts/': '',
  'sample/scripts/run.sh': `x ${base64(SCRIPT)}`,
};

const FILES = [
  { name: 'sample/SKILL.md', content: SKILL_TEXT },
  { name: 'sample/scripts/run.sh', content: SCRIPT, mode: 0o100755 },
  { name: 'sample/assets/logo.png', content: LOGO },
  { name: 'sample/empty.txt', content: '' },
] as const;
const FOLDERS = [{ name: 'sample/' }, { name: 'sample/scripts/' }, { name: 'sample/assets/' }] as const;
const ONE = { 'sample/': '', 'sample/SKILL.md': base64(SKILL_TEXT) };

interface Expected {
  readonly tree?: Readonly<Record<string, string>>;
  readonly leftOut?: readonly string[];
  readonly attack?: number;
}

function zip(name: string, bytes: () => Buffer, { tree = TREE, leftOut = [], ...rest }: Expected = {}): BenignArchive {
  return { name: `zip: ${name}`, format: 'zip', bytes, tree, leftOut, ...rest };
}

const each = (change: Partial<ZipPart>): readonly ZipPart[] => FILES.map((file) => ({ ...file, ...change }));
const withFile =
  (part: ZipPart): (() => Buffer) =>
  () =>
    makeZip([FILES[0], part]);
const nested = makeZip([{ name: 'inner/SKILL.md', content: SKILL_TEXT }]);

const HIDDEN = [
  'sample/.git/hooks/post-checkout',
  'sample/.git/config',
  'sample/.mcp.json',
  'sample/.claude/settings.json',
  '__MACOSX/sample/._SKILL.md',
  'sample/.DS_Store',
] as const;
const HIDDEN_LINES = [
  'sample/.git/: version control',
  'sample/.mcp.json: hidden file',
  'sample/.claude/: hidden folder',
  '__MACOSX/: system file',
  'sample/.DS_Store: system file',
];
const KEPT = ['.gitignore', '.skillignore', '.env.example', '.gitkeep'] as const;

export const BENIGN_ZIPS: readonly BenignArchive[] = [
  zip('deflated', () => makeZip(FILES)),
  zip('stored', () => makeZip(each({ isStored: true }))),
  zip('with folders', () => makeZip([...FOLDERS, ...FILES])),
  zip('folders last', () => makeZip([...FILES, ...FOLDERS.map((part) => ({ ...part, mode: 0o040755, dos: 0x10 }))])),
  zip('sizes follow', () => makeZip(each({ descriptor: 'plain' }))),
  zip('sizes follow, signed', () => makeZip(each({ descriptor: 'signed' }))),
  zip('64-bit sizes follow', () => makeZip(each({ descriptor: 'wide' }))),
  zip('64-bit sizes, small', () => makeZip(each({ isWide: true }), { end64: {} })),
  zip('comments', () => makeZip(each({ comment: 'a file' }), { comment: Buffer.from('made by hand, PK') })),
  zip('other fields', () => makeZip(each({ extra: extraField(0x5455, Buffer.from([1, 0, 0, 0, 0])) }))),
  zip('by fflate', byFflate),
  zip('nothing', () => makeZip([]), { tree: {} }),
  zip('an empty folder, deflated', withFile({ name: 'sample/a/', method: 8, packed: deflateRawSync('') }), {
    tree: { ...ONE, 'sample/a/': '' },
  }),
  zip('the same name twice over', withFile({ name: 'sample/é', extra: unicodePath('sample/é', 'sample/é') }), {
    tree: { ...ONE, 'sample/é': '' },
  }),
  zip('decomposed name', withFile({ name: 'sample/cafe\u0301.md' }), { tree: { ...ONE, 'sample/caf\u00e9.md': '' } }),
  zip('UTF-8 without saying so', withFile({ name: 'sample/数据.md', flags: 0 }), {
    tree: { ...ONE, 'sample/数据.md': '' },
  }),
  zip('0777', withFile({ name: 'sample/a', mode: 0o100777 }), { tree: { ...ONE, 'sample/a': 'x ' }, attack: 66 }),
  zip('an archive inside', withFile({ name: 'sample/a.zip', content: nested, isStored: true }), {
    tree: { ...ONE, 'sample/a.zip': base64(nested) },
    attack: 65,
  }),
  zip('hidden files', () => makeZip([FILES[0], ...HIDDEN.map((name) => ({ name, content: 'evil' }))]), {
    tree: ONE,
    leftOut: HIDDEN_LINES,
    attack: 79,
  }),
  zip('hidden files that are wanted', () => makeZip([FILES[0], ...KEPT.map((name) => ({ name: `sample/${name}` }))]), {
    tree: { ...ONE, ...Object.fromEntries(KEPT.map((name) => [`sample/${name}`, ''])) },
  }),
  zip('no SKILL.md', () => makeZip([{ name: 'sample/skill.md/' }]), {
    tree: { 'sample/': '', 'sample/skill.md/': '' },
    attack: 80,
  }),
  zip('names of JavaScript', () => makeZip([{ name: '__proto__/constructor' }, { name: 'constructor/__proto__' }]), {
    tree: {
      ['__proto__/']: '',
      '__proto__/constructor': '',
      'constructor/': '',
      'constructor/__proto__': '',
    },
    attack: 81,
  }),
];

function byFflate(): Buffer {
  const bytes = (content: string | Buffer): Uint8Array => new Uint8Array(Buffer.from(content));
  const [skill, script, logo, empty] = FILES;
  return Buffer.from(
    zipSync({
      [skill.name]: bytes(skill.content),
      [script.name]: [bytes(script.content), { os: 3, attrs: script.mode * 0x1_0000 }],
      [logo.name]: [bytes(logo.content), { level: 0 }],
      [empty.name]: bytes(empty.content),
    }),
  );
}

function tar(
  name: string,
  made: readonly TarPart[],
  { tree = TREE, leftOut = [], ...rest }: Expected = {},
): BenignArchive {
  return { name: `tar.gz: ${name}`, format: 'tar.gz', bytes: () => makeTarGz(made), tree, leftOut, ...rest };
}

const DEEP = `sample/${'long-'.repeat(28)}/a.md`;
const DEEP_TREE = { ...ONE, [DEEP.slice(0, -4)]: '', [DEEP]: base64('a') };
const deep = (part: Partial<TarPart>): TarPart => ({ name: DEEP, content: 'a', ...part });
const PLAIN: readonly TarPart[] = FILES.map((file) => ({ ...file, mode: 'mode' in file ? 0o755 : 0o644 }));

export const BENIGN_TARS: readonly BenignArchive[] = [
  tar('plain', PLAIN),
  tar('with folders', [...FOLDERS, ...PLAIN]),
  tar('of the folder it is in', [
    { name: './' },
    ...PLAIN.map((part) => ({ ...part, name: `./${String(part.name)}` })),
  ]),
  tar(
    'by GNU',
    PLAIN.map((part) => ({ ...part, magic: 'gnu' })),
  ),
  tar(
    'older than types',
    [...FOLDERS, ...PLAIN].map((part) => ({ ...part, type: '\0', magic: 'old' })),
  ),
  tar('with a comment for all', [pax([['comment', 'a'.repeat(40)]], 'g'), ...PLAIN]),
  tar(
    'a long name, extended',
    [
      PLAIN[0] ?? deep({}),
      pax([
        ['path', DEEP],
        ['mtime', '1.5'],
        ['size', '1'],
      ]),
      deep({}),
    ],
    {
      tree: DEEP_TREE,
    },
  ),
  tar('a long name, GNU', [PLAIN[0] ?? deep({}), longName(DEEP), deep({ magic: 'gnu' })], { tree: DEEP_TREE }),
  tar('a long name, prefix', [PLAIN[0] ?? deep({}), deep({ name: 'a.md', prefix: DEEP.slice(0, -5) })], {
    tree: DEEP_TREE,
  }),
  tar('hidden files', [...PLAIN.slice(0, 1), ...HIDDEN.map((name) => ({ name, content: 'evil' }))], {
    tree: ONE,
    leftOut: HIDDEN_LINES,
    attack: 79,
  }),
  tar('nothing', [], { tree: {} }),
];
