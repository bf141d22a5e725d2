import { writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  findDrift,
  hasDrift,
  lockFileText,
  lockTime,
  readLockFile,
  type LockFile,
  type LockedFile,
  type LockedSkill,
} from '../../../src/packs/lock/lock-file.ts';
import { findLocked } from '../../../src/packs/lock/find-locked.ts';
import { scratch } from '../../skills/registry/support.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runs } from '../../property-runs.ts';

const HASH = 'a'.repeat(64);
const FULL: LockedSkill = {
  name: 'alpha',
  version: '1.2.0',
  source: 'git+https://example.com/skills.git',
  revision: 'b'.repeat(40),
  archive: `sha256:${HASH}`,
  folder: 'skills/alpha',
  digest: `sha256-tree:${HASH}`,
  files: {
    'SKILL.md': { sha256: HASH, bytes: 12 },
    'scripts/run.sh': { sha256: 'c'.repeat(64), bytes: 0, executable: true },
  },
  requires: ['beta'],
  signedBy: 'RWQ1',
  installedAt: '2026-11-15T12:00:00Z',
  tool: '0.1.0',
};
const SMALL: LockedSkill = {
  name: 'beta',
  source: './beta',
  digest: `sha256-tree:${HASH}`,
  files: {},
  installedAt: '2026-11-15T12:00:00Z',
  tool: '0.1.0',
};

const lockOf = (...skills: readonly LockedSkill[]): LockFile => ({
  schema: 1,
  skills: new Map(skills.map((skill) => [skill.name, skill])),
});

const TEXT = `{
  "schema": 1,
  "skills": {
    "alpha": {
      "archive": "sha256:${HASH}",
      "digest": "sha256-tree:${HASH}",
      "files": {
        "SKILL.md": { "bytes": 12, "sha256": "${HASH}" },
        "scripts/run.sh": { "bytes": 0, "executable": true, "sha256": "${'c'.repeat(64)}" }
      },
      "folder": "skills/alpha",
      "installedAt": "2026-11-15T12:00:00Z",
      "requires": ["beta"],
      "revision": "${'b'.repeat(40)}",
      "signedBy": "RWQ1",
      "source": "git+https://example.com/skills.git",
      "tool": "0.1.0",
      "version": "1.2.0"
    },
    "beta": {
      "digest": "sha256-tree:${HASH}",
      "files": {},
      "installedAt": "2026-11-15T12:00:00Z",
      "source": "./beta",
      "tool": "0.1.0"
    }
  }
}
`;

describe('the text of a lock', () => {
  verifies('PACK-4', 'is sorted, a file a line, whatever the order of its skills', () => {
    expect(lockFileText(lockOf(SMALL, FULL))).toBe(TEXT);
    expect(readLockFile(TEXT)).toEqual(lockOf(FULL, SMALL));
  });

  test('of an empty lock can be parsed', () => {
    expect(lockFileText(lockOf())).toBe('{\n  "schema": 1,\n  "skills": {}\n}\n');
    expect(readLockFile(lockFileText(lockOf()))).toEqual(lockOf());
  });

  test('changes only the lines of the changed skill', () => {
    const before = lockFileText(lockOf(FULL, SMALL)).split('\n');
    const after = lockFileText(lockOf(FULL, { ...SMALL, tool: '0.2.0' })).split('\n');
    expect(after.filter((line) => !before.includes(line))).toEqual(['      "tool": "0.2.0"']);
    expect(after).toHaveLength(before.length);
  });

  test('may be formatted differently', () => {
    expect(readLockFile(JSON.stringify(JSON.parse(TEXT)))).toEqual(lockOf(FULL, SMALL));
  });

  test('has times to the second', () => {
    expect(lockTime(new Date('2026-11-15T12:00:00.987Z'))).toBe('2026-11-15T12:00:00Z');
  });

  test('round-trips through parsing and formatting', () => {
    fc.assert(
      fc.property(locks(), (lock) => {
        const text = lockFileText(lock);
        const read = readLockFile(text);
        expect(read).toEqual(lock);
        expect('skills' in read ? lockFileText(read) : '').toBe(text);
      }),
    );
  });
});

describe('a lock from elsewhere', () => {
  const entry = (change: Readonly<Record<string, unknown>>): string => {
    const { name: _, ...fields } = SMALL;
    return JSON.stringify({ schema: 1, skills: { beta: { ...fields, ...change } } });
  };
  const file = { sha256: HASH, bytes: 1 };
  const invalid: readonly (readonly [string, string, string])[] = [
    ['nothing', '', 'is not valid JSON'],
    ['half a file', TEXT.slice(0, 200), 'is not valid JSON'],
    ['a list', '[]', 'is not a'],
    ['null', 'null', 'is not a'],
    ['no schema', '{"skills":{}}', '"schema" of'],
    ['a schema that is text', '{"schema":"1","skills":{}}', '"schema" of'],
    ['no skills', '{"schema":1}', '"skills" of'],
    ['skills as a list', '{"schema":1,"skills":[]}', '"skills" of'],
    ['more than there is', '{"schema":1,"skills":{},"x":1}', 'is not a known field'],
    ['a path as a name', '{"schema":1,"skills":{"../x":{}}}', 'skill name'],
    ['__proto__ as a name', '{"schema":1,"skills":{"__proto__":{}}}', 'skill name'],
    ['an entry that is text', '{"schema":1,"skills":{"beta":"x"}}', 'is not a'],
    ['no source', entry({ source: undefined }), '"source" in the entry of "beta" is missing'],
    ['a source of two lines', entry({ source: 'a\nb' }), '"source" in'],
    ['a source with an escape', entry({ source: 'a\u001b[2J' }), '"source" in'],
    ['a digest of something else', entry({ digest: `sha256:${HASH}` }), '"digest" in'],
    ['a digest in capitals', entry({ digest: `sha256-tree:${HASH.toUpperCase()}` }), '"digest" in'],
    ['an archive that is no digest', entry({ archive: 'x' }), '"archive" in'],
    ['a folder outside', entry({ folder: '../x' }), '"folder" in'],
    ['a time without a zone', entry({ installedAt: '2026-11-15T12:00:00' }), '"installedAt" in'],
    ['a month that there is not', entry({ installedAt: '2026-13-15T12:00:00Z' }), '"installedAt" in'],
    ['needs that are text', entry({ requires: 'x' }), '"requires" in'],
    ['needs that are no names', entry({ requires: ['..'] }), '"requires" in'],
    ['an unknown field', entry({ onInstall: 'rm' }), 'is not a known field'],
    ['files as a list', entry({ files: [] }), '"files" in'],
    ['a file outside', entry({ files: { '../x': file } }), 'not a valid file path'],
    ['an absolute file', entry({ files: { '/x': file } }), 'not a valid file path'],
    ['a file with a backslash', entry({ files: { 'a\\b': file } }), 'not a valid file path'],
    ['a file with an empty part', entry({ files: { 'a//b': file } }), 'not a valid file path'],
    ['a file with a line end', entry({ files: { 'a\nb': file } }), 'not a valid file path'],
    ['a file without a hash', entry({ files: { a: { bytes: 1 } } }), 'must have'],
    ['a file of less than nothing', entry({ files: { a: { ...file, bytes: -1 } } }), 'must have'],
    ['a file of half a byte', entry({ files: { a: { ...file, bytes: 0.5 } } }), 'must have'],
    ['a file that is not executable', entry({ files: { a: { ...file, executable: false } } }), 'must have'],
    ['a file with more to it', entry({ files: { a: { ...file, mode: 1 } } }), 'is not a known field'],
    ['a skill twice', TEXT.replace('"beta": {', '"alpha": {'), 'duplicate key'],
    ['a file twice', TEXT.replace('"scripts/run.sh"', '"SKILL.md"'), 'duplicate key'],
  ];
  for (const [what, text, reason] of invalid)
    verifies('PACK-4', `with ${what} is refused`, () => {
      expect(readLockFile(text)).toMatchObject({
        type: 'refused',
        code: 'lock/invalid',
        message: expect.stringContaining(reason),
      });
    });

  test('of a newer version is not guessed at', () => {
    expect(readLockFile('{"schema":2,"plugins":[]}')).toMatchObject({ type: 'refused', code: 'lock/newer' });
  });

  for (const mark of ['<<<<<<< HEAD', '=======', '>>>>>>> theirs', '||||||| base'])
    test(`with the mark ${mark} names its line`, () => {
      const lines = TEXT.split('\n');
      expect(readLockFile(lines.toSpliced(5, 0, mark).join('\n'))).toMatchObject({
        code: 'lock/invalid',
        message: 'skills.lock.json has an unresolved merge conflict in line 6',
      });
    });

  test('may contain files named like prototype properties', () => {
    const odd = '{"__proto__":FILE,"constructor":FILE,"toString":FILE}'.replaceAll('FILE', JSON.stringify(file));
    const read = readLockFile(entry({}).replace('"files":{}', `"files":${odd}`));
    const files = 'skills' in read ? (read.skills.get('beta')?.files ?? {}) : {};
    expect(Object.keys(files)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(files)).toBe(Object.prototype);
    expect(findDrift(files, {}).missing).toEqual(['__proto__', 'constructor', 'toString']);
    expect(findDrift(SMALL.files, files).added).toEqual(['__proto__', 'constructor', 'toString']);
  });

  test('any text and any JSON is parsed or refused without throwing', () => {
    const texts = fc.oneof(fc.string(), fc.json(), damaged());
    fc.assert(
      fc.property(texts, (text) => {
        const read = readLockFile(text);
        expect('skills' in read || read.type === 'refused').toBe(true);
        if ('skills' in read) expect(readLockFile(lockFileText(read))).toEqual(read);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('what differs from a lock', () => {
  verifies('PACK-4', 'is named file by file', () => {
    const present: Readonly<Record<string, LockedFile>> = {
      'scripts/run.sh': { sha256: 'c'.repeat(64), bytes: 0 },
      'b.md': { sha256: HASH, bytes: 1 },
      'a.md': { sha256: HASH, bytes: 1 },
    };
    expect(findDrift(FULL.files, present)).toEqual({
      changed: ['scripts/run.sh'],
      missing: ['SKILL.md'],
      added: ['a.md', 'b.md'],
    });
    expect(hasDrift(findDrift(FULL.files, present))).toBe(true);
  });

  test('is empty for identical files', () => {
    expect(findDrift(FULL.files, FULL.files)).toEqual({ changed: [], missing: [], added: [] });
    expect(hasDrift(findDrift(FULL.files, FULL.files))).toBe(false);
  });
});

function locks(): fc.Arbitrary<LockFile> {
  const name = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,4})?$/);
  const part = fc.stringMatching(/^[a-z0-9_ é-][A-Za-z0-9._ é-]{0,8}$/);
  const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
  const file = fc.record(
    { sha256: hash, bytes: fc.nat(), executable: fc.constant(true as const) },
    { requiredKeys: ['sha256', 'bytes'] },
  );
  const paths = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const skill = fc.record(
    {
      version: fc.constantFrom('1.0.0', '0.1'),
      source: fc.constantFrom('./x', 'npm:x', 'https://example.com/x.zip'),
      digest: hash.map((hex) => `sha256-tree:${hex}`),
      files: fc.array(fc.tuple(paths, file), { maxLength: 5 }).map((files) => Object.fromEntries(files)),
      requires: fc.array(name, { maxLength: 3 }),
      installedAt: fc.constant('2026-11-15T12:00:00Z'),
      tool: fc.constant('0.1.0'),
    },
    { requiredKeys: ['source', 'digest', 'files', 'installedAt', 'tool'] },
  );
  return fc
    .dictionary(name, skill, { maxKeys: 5 })
    .map((skills) => lockOf(...Object.entries(skills).map(([key, value]) => ({ ...value, name: key }))));
}

/** Our own text with a piece taken out or put in. */
function damaged(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(TEXT.length), fc.nat(40), fc.string({ maxLength: 10 }))
    .map(([at, length, text]) => TEXT.slice(0, at) + text + TEXT.slice(at + length));
}

test('locks that are searched for a field are found with it, however it is spelled, and may be skipped without it', () => {
  const root = scratch();
  const folder = path.join(root, 'alpha');
  const file = path.join(root, 'skills.lock.json');
  const skill: LockedSkill = { ...FULL, accepted: ['net-fetch'] };
  const text = lockFileText({ schema: 1, skills: new Map([['alpha', skill]]) });
  for (const written of [text, text.replace('"accepted"', String.raw`"\u0061ccepted"`)]) {
    writeFileSync(file, written);
    expect([...findLocked([folder], 'accepted')]).toEqual([[folder, skill]]);
  }
  writeFileSync(file, lockFileText({ schema: 1, skills: new Map([['alpha', FULL]]) }));
  expect([...findLocked([folder], 'accepted')]).toEqual([]);
  expect([...findLocked([folder])]).toEqual([[folder, FULL]]);
});
