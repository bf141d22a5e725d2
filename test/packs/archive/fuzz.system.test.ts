import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';

import { makeTarGz } from '../../corpus/archives-make-tar.ts';
import { makeZip, type ZipPart } from '../../corpus/archives-make-zip.ts';
import { SKILL_TEXT } from '../../corpus/archives-sample.ts';
import { verifies } from '../../conformance/verifies.ts';
import { place, unpackAgain } from './support.ts';
import { STEP, runs } from '../../property-runs.ts';

const FILES = [
  { name: 'sample/', mode: 0o040755 },
  { name: 'sample/SKILL.md', content: SKILL_TEXT, mode: 0o100644 },
  { name: 'sample/run.sh', content: 'echo hello\n'.repeat(20), mode: 0o100755 },
  { name: 'sample/references/é.md', content: 'text\n', mode: 0o100644 },
];
const tarMode = <Part extends { readonly mode: number }>(part: Part): Part => ({ ...part, mode: part.mode & 0o7777 });
const GOOD: readonly (readonly [string, Buffer])[] = [
  ['zip', makeZip(FILES, { comment: Buffer.from('a comment') })],
  [
    'zip, sizes follow',
    makeZip(FILES.map((part) => ({ ...part, ...(part.name.endsWith('/') ? {} : { descriptor: 'signed' as const }) }))),
  ],
  [
    'zip, 64-bit',
    makeZip(
      FILES.map((part) => ({ ...part, isWide: true })),
      { end64: {} },
    ),
  ],
  ['tar.gz', makeTarGz(FILES.map(tarMode))],
];

/** Programs or not is told by a bit that no checksum covers. */
function contents(tree: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(tree).map(([name, content]) => [name, content.replace(/^x /, '')]));
}

describe('damage', () => {
  test.each(GOOD)('%s, cut anywhere, is refused', async (_, bytes) => {
    const at = place(bytes);
    const accepted: number[] = [];
    for (let length = 0; length < bytes.length; length += STEP)
      if ('tree' in (await unpackAgain(at, bytes.subarray(0, length)))) accepted.push(length);
    expect(accepted).toEqual([]);
  });

  test.each(GOOD)('%s with any bit turned over is refused, or has the same content', async (_, bytes) => {
    const at = place(bytes);
    const good = await unpackAgain(at, bytes);
    const expected = 'tree' in good ? contents(good.tree) : undefined;
    const outcomes = new Map<string, number>();
    for (let place = 0; place < bytes.length; place += STEP) {
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8(damaged.readUInt8(place) ^ (1 << ((place * 5) % 8)), place);
      const outcome = await unpackAgain(at, damaged);
      if ('tree' in outcome) expect([place, contents(outcome.tree)]).toEqual([place, expected]);
      const result = 'tree' in outcome ? 'accepted' : 'refused';
      outcomes.set(result, (outcomes.get(result) ?? 0) + 1);
    }
    expect(outcomes.get('refused')).toBeGreaterThan(outcomes.get('accepted') ?? 0);
  });

  test('random bytes in random places are never more than a refusal', async () => {
    const at = place(Buffer.alloc(0));
    const splice = fc.record({
      good: fc.constantFrom(...GOOD.map(([, bytes]) => bytes)),
      from: fc.nat(2000),
      drop: fc.nat(40),
      add: fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc
          .constantFrom('PK\x05\x06', 'PK\x01\x02', 'PK\x03\x04', 'PK\x06\x06', 'PK\x07\x08')
          .map((text) => new Uint8Array(Buffer.from(text, 'latin1'))),
      ),
    });
    await fc.assert(
      fc.asyncProperty(splice, async ({ good, from, drop, add }) => {
        const cut = from % good.length;
        const outcome = await unpackAgain(at, Buffer.concat([good.subarray(0, cut), add, good.subarray(cut + drop)]));
        expect(Object.keys(outcome)).toHaveLength(2);
      }),
      { numRuns: runs(1000) },
    );
  });
});

const PART = fc.constantFrom(
  'a',
  'b',
  'A',
  'SKILL.md',
  'skill.md',
  'é',
  'e\u0301',
  'ﬁ',
  'fi',
  '数据',
  'constructor',
  'a b',
  '.git',
  '.mcp.json',
  '.gitkeep',
  '__MACOSX',
);
const BAD_PART = fc.constantFrom(
  '..',
  '.',
  '',
  'CON',
  'a.',
  'a ',
  'x\\y',
  'a:b',
  'C:',
  '~',
  'a\0b',
  'a\nb',
  '\u202ea',
  '...',
  '..\\..',
  'a'.repeat(256),
);
const NAME = fc
  .tuple(
    fc.array(fc.oneof({ weight: 30, arbitrary: PART }, { weight: 1, arbitrary: BAD_PART }), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.constantFrom('', '', '', '', '/'),
    fc.constantFrom('', '', '', '', '', '', '', '', '', '/', '../', '//'),
  )
  .map(([parts, end, start]) => start + parts.join('/') + end);
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const ENTRY = fc.record({
  name: NAME,
  content: fc.string({ maxLength: 30 }),
  isStored: fc.boolean(),
  mode: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(0, 0o100644, 0o100755) },
    { weight: 1, arbitrary: fc.constantFrom(0o120777, 0o104755, 0o020666, 0o040755) },
  ),
  descriptor: fc.constantFrom(undefined, undefined, 'plain' as const, 'signed' as const, 'wide' as const),
  isWide: fc.boolean(),
  localName: rarely(NAME),
  crc: rarely(fc.nat()),
  bytes: rarely(fc.nat(100)),
  gap: rarely(fc.constant(Buffer.from('gap'))),
});
const SHAPE = fc.record({
  prefix: rarely(fc.constant(Buffer.from('#!'))),
  comment: rarely(fc.string({ maxLength: 9 }).map((text) => Buffer.from(text))),
  suffix: rarely(fc.constant(Buffer.from('x'))),
});
type RandomEntry = typeof ENTRY extends fc.Arbitrary<infer Value> ? Value : never;

function toZipPart({ localName, name, content, mode, ...entry }: RandomEntry): ZipPart {
  const isFolder = name.endsWith('/');
  return {
    ...defined(entry),
    name,
    content: isFolder ? '' : content,
    mode: isFolder && mode === 0o100755 ? 0o040755 : isFolder ? 0 : mode,
    local: localName === undefined ? undefined : { name: localName },
  };
}

/** The same without fields that hold nothing: those are to be absent. */
function defined<Fields extends object>(fields: Fields): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined)) as {
    [Key in keyof Fields]: Exclude<Fields[Key], undefined>;
  };
}

/** Folders whose skills are not those of the source. */
const NOT_SEARCHED =
  /^(?:\.git|\.svn|\.hg|__macosx|\.ds_store|node_modules|\.skillwright|\.cache|\.venv|\.tox|\.npm)$/i;

const KEPT = new Set(['.gitignore', '.skillignore', '.env.example', '.gitkeep']);

/** What must lie there, told without any of the code under test. */
function declared(
  parts: readonly { readonly name: string; readonly content?: string | Buffer; readonly mode?: number }[],
): Readonly<Record<string, string>> {
  const tree = new Map<string, string>();
  const split = (name: string): readonly string[] => name.replace(/\/$/, '').normalize('NFC').split('/');
  // A hidden folder above a skill does not hide it. A skill inside a skill is a part of it.
  const skills = parts
    .filter(({ name }) => /(?:^|\/)SKILL\.md$/.test(name.normalize('NFC')))
    .map(({ name }) => split(name).slice(0, -1))
    .filter((folder) => folder.length <= 6 && !folder.some((one) => NOT_SEARCHED.test(one)))
    .toSorted((a, b) => a.length - b.length);
  for (const { name, content = '', mode = 0 } of parts) {
    const names = split(name);
    const isFile = !name.endsWith('/');
    const skill = skills.find((folder) => names.length > folder.length && folder.every((one, at) => one === names[at]));
    const isHidden = names.some(
      (one, at) =>
        at >= (skill?.length ?? 0) &&
        (one.toLowerCase() === '__macosx' ||
          (one.startsWith('.') && !(isFile && at === names.length - 1 && KEPT.has(one)))),
    );
    if (isHidden) continue;
    for (const [at] of names.slice(isFile ? 1 : 0).entries()) tree.set(`${names.slice(0, at + 1).join('/')}/`, '');
    if (isFile)
      tree.set(names.join('/'), `${(mode & 0o111) === 0 ? '' : 'x '}${Buffer.from(content).toString('base64')}`);
  }
  return Object.fromEntries(tree);
}

async function secondOpinion(bytes: Buffer): Promise<Readonly<Record<string, string>>> {
  const zip = await fromBufferPromise(bytes);
  const read: Record<string, string> = {};
  for await (const entry of zip.eachEntry()) {
    const pieces: Buffer[] = [];
    for await (const piece of await zip.openReadStreamPromise(entry)) pieces.push(Buffer.from(piece));
    read[`=${entry.fileName}`] = Buffer.concat(pieces).toString('base64');
  }
  return read;
}

describe('random archives', () => {
  verifies(
    'PACK-5',
    'nothing is written outside; what is accepted is exactly what is declared, and other readers see the same',
    async () => {
      const at = place(Buffer.alloc(0));
      const counts = { accepted: 0, refused: 0 };
      await fc.assert(
        fc.asyncProperty(fc.array(ENTRY, { maxLength: 5 }), SHAPE, async (entries, shape) => {
          const parts = entries.map(toZipPart);
          const bytes = makeZip(parts, defined(shape));
          const outcome = await unpackAgain(at, bytes);
          counts['tree' in outcome ? 'accepted' : 'refused'] += 1;
          if (!('tree' in outcome)) return;
          const named = parts.map((part) => ({ ...part, name: String(part.name) }));
          expect(outcome.tree).toEqual(declared(named));
          const seen = Object.fromEntries(
            named.map(({ name, content = '' }) => [`=${name}`, Buffer.from(content).toString('base64')]),
          );
          expect(await secondOpinion(bytes)).toEqual(seen);
        }),
        { numRuns: runs(1000) },
      );
      // Otherwise one half of the law was never looked at.
      expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(runs(1000) / 10);
    },
  );

  test('the same for tar.gz', async () => {
    const at = place(Buffer.alloc(0));
    const counts = { accepted: 0, refused: 0 };
    const entry = fc.record({
      // Longer ones have headers of their own.
      name: NAME.filter((name) => Buffer.byteLength(name) <= 100),
      content: fc.string({ maxLength: 30 }),
      mode: fc.constantFrom(0o644, 0o644, 0o755, 0o755, 0o4755),
      type: rarely(fc.constantFrom('1', '2', '3', '6', 'S')),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 4 }), async (entries) => {
        const parts = entries.map((part) => ({ ...part, content: part.name.endsWith('/') ? '' : part.content }));
        const outcome = await unpackAgain(at, makeTarGz(parts.map(defined)));
        counts['tree' in outcome ? 'accepted' : 'refused'] += 1;
        if ('tree' in outcome)
          expect(outcome.tree).toEqual(
            declared(
              parts
                .filter(({ name }) => name !== './')
                .map((part) => ({ ...part, name: part.name.replace(/^\.\//, '') })),
            ),
          );
      }),
      { numRuns: runs(600) },
    );
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(runs(600) / 6);
  });
});
