import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { LockedFile } from '../../../src/packs/lock/lock-file.ts';
import {
  UPDATE_MODES,
  planUpdate,
  type FileTable,
  type PlannedFile,
  type UpdateMode,
} from '../../../src/packs/update/update-plan.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runs } from '../../property-runs.ts';

/** `a` is a file with this content; `a!` is the same file with the executable bit. */
const file = (content: string): LockedFile => {
  const letter = content.replace('!', '');
  return { sha256: letter.repeat(64), bytes: 1, ...(content.endsWith('!') ? { executable: true as const } : {}) };
};
const table = (files: Readonly<Record<string, string>>): FileTable =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path, file(content)]));
const plan = (
  mode: UpdateMode,
  base: Record<string, string>,
  local: Record<string, string>,
  incoming: Record<string, string>,
) => planUpdate({ mode, base: table(base), local: table(local), incoming: table(incoming) });
const rows = ({ files }: { readonly files: readonly PlannedFile[] }): readonly string[] =>
  files.map(({ path, change, take, isExecutable }) => `${path} ${change} ${take}${isExecutable ? ' x' : ''}`);

const BASE = { same: 'a', new: 'a', gone: 'a', edited: 'a', deleted: 'a', both: 'a', 'gone-edited': 'a', back: 'a' };
const LOCAL = {
  same: 'a',
  new: 'a',
  gone: 'a',
  edited: 'b',
  both: 'b',
  'gone-edited': 'b',
  mine: 'b',
  agreed: 'c',
  clash: 'b',
};
const INCOMING = {
  same: 'a',
  new: 'c',
  edited: 'a',
  deleted: 'a',
  both: 'c',
  back: 'c',
  added: 'c',
  agreed: 'c',
  clash: 'c',
};

describe('planUpdate', () => {
  test('merge takes the changed side, and merges or reports files that both sides changed', () => {
    const merged = plan('merge', BASE, LOCAL, INCOMING);
    expect(rows(merged)).toEqual([
      'added added incoming',
      'agreed same-on-both-sides incoming',
      'back deleted-locally-updated conflict',
      'both edited-on-both-sides merge',
      'clash added-on-both-sides conflict',
      'deleted deleted-locally nothing',
      'edited edited-locally local',
      'gone removed nothing',
      'gone-edited edited-locally-removed conflict',
      'mine added-locally local',
      'new updated incoming',
      'same unchanged incoming',
    ]);
    expect([merged.edited, merged.lost, merged.toMerge]).toEqual([
      ['back', 'both', 'clash', 'deleted', 'edited', 'gone-edited', 'mine'],
      [],
      ['both'],
    ]);
    expect(merged.refusal).toMatchObject({
      code: 'install/conflict',
      path: 'back',
      message: '"back" was deleted here, and the new version changes it, and 2 more',
    });
  });

  test('an edited file that becomes a folder is a collision in every mode, with a hint that works', () => {
    for (const mode of ['merge', 'keep'] as const)
      expect(plan(mode, { 'a.txt': 'a' }, { 'a.txt': 'b' }, { 'a.txt/x': 'c' }).refusal).toMatchObject({
        message: '"a.txt" collides with a file or folder of the new version',
        hint: expect.stringContaining('rename or remove your file') as string,
      });
  });

  test('keep keeps every edited file and updates all others', () => {
    const kept = plan('keep', BASE, LOCAL, INCOMING);
    expect(
      rows(kept).map((row) =>
        row
          .split(' ')
          .filter((_, at) => at !== 1)
          .join(' '),
      ),
    ).toEqual([
      'added incoming',
      'agreed incoming',
      'back nothing',
      'both local',
      'clash local',
      'deleted nothing',
      'edited local',
      'gone nothing',
      'gone-edited local',
      'mine local',
      'new incoming',
      'same incoming',
    ]);
    expect([kept.lost, kept.refusal]).toEqual([[], undefined]);
  });

  test('force replaces all files and lists the lost edits', () => {
    const forced = plan('force', BASE, LOCAL, INCOMING);
    const result = forced.files.filter(({ take }) => take !== 'nothing');
    expect(result.map(({ path, take }) => [path, take])).toEqual(
      Object.keys(INCOMING)
        .sort()
        .map((path) => [path, 'incoming']),
    );
    expect(forced.lost).toEqual(['back', 'both', 'clash', 'deleted', 'edited', 'gone-edited', 'mine']);
    expect(forced.refusal).toBeUndefined();
  });

  verifies('PACK-6', 'refuses an update over local edits by default, and lists them', () => {
    const refused = plan('refuse', BASE, LOCAL, INCOMING);
    expect(refused.refusal).toEqual({
      type: 'refused',
      code: 'install/edited',
      path: 'back',
      message: 'locally modified: "back", "both", "clash", "deleted", "edited" and 2 more',
      hint: 'files were edited after the install: --merge merges your edits with the new version, --keep keeps the edited files, --force replaces them',
    });
    expect(plan('refuse', { a: 'a' }, { a: 'a' }, { a: 'b' }).refusal).toBeUndefined();
    expect(plan('refuse', { a: 'a' }, { a: 'b' }, { a: 'b' }).refusal).toBeUndefined();
  });

  test('merges the executable bit separately from the content', () => {
    expect(rows(plan('merge', { run: 'a' }, { run: 'a!' }, { run: 'b' }))).toEqual([
      'run edited-on-both-sides incoming x',
    ]);
    expect(rows(plan('merge', { run: 'a' }, { run: 'b' }, { run: 'a!' }))).toEqual([
      'run edited-on-both-sides local x',
    ]);
    expect(rows(plan('merge', { run: 'a!' }, { run: 'b' }, { run: 'c!' }))).toEqual(['run edited-on-both-sides merge']);
    expect(rows(plan('keep', { run: 'a' }, { run: 'b' }, { run: 'a!' }))).toEqual(['run edited-on-both-sides local']);
    expect(rows(plan('merge', { run: 'a' }, { run: 'a' }, { run: 'a!' }))).toEqual(['run updated incoming x']);
  });

  test.each([
    ['a file whose parent folder is a new file', { 'notes/mine.md': 'b' }, { notes: 'c' }],
    ['a file with the name of a new folder', { notes: 'b' }, { 'notes/theirs.md': 'c' }],
    ['a name that differs in case', { 'README.md': 'b' }, { 'readme.md': 'c' }],
    ['a name that differs in Unicode form', { 'caf\u00e9.md': 'b' }, { 'cafe\u0301.md': 'c' }],
    ['a parent folder that is a new file with different case', { 'Notes/mine.md': 'b' }, { notes: 'c' }],
  ])('%s is a conflict in merge and keep, but not in force', (_, local, incoming) => {
    for (const mode of ['merge', 'keep'] as const)
      expect(plan(mode, {}, local, incoming).refusal).toMatchObject({
        code: 'install/conflict',
        path: Object.keys(local)[0],
      });
    expect(plan('force', {}, local, incoming)).toMatchObject({ lost: Object.keys(local) });
    expect(plan('force', {}, local, incoming).refusal).toBeUndefined();
  });

  test('handles paths such as __proto__, and quotes untrusted paths', () => {
    const hostile = JSON.parse('{"__proto__": "b", "constructor": "b", "\\u001b[2Jx": "b"}') as Record<string, string>;
    const refused = plan('refuse', {}, hostile, { toString: 'c' });
    expect(refused.edited).toEqual(['\u001b[2Jx', '__proto__', 'constructor']);
    expect(refused.refusal?.message).toBe('locally modified: "\\x1b[2Jx", "__proto__", "constructor"');
    expect(rows(refused)).toContain('toString added incoming');
  });

  test('hasNews says whether the new version differs', () => {
    expect(plan('merge', { a: 'a' }, { a: 'b' }, { a: 'a' }).hasNews).toBe(false);
    expect(plan('merge', { a: 'a' }, { a: 'a' }, { a: 'a!' }).hasNews).toBe(true);
  });

  test('loses no local edit in refuse, merge and keep; force loses only what it lists', () => {
    const some = fc.dictionary(
      fc.constantFrom('a', 'b', 'a/b', 'a/c', 'B', 'd', '__proto__'),
      fc.constantFrom('1', '2', '3', '1!', '2!'),
      { maxKeys: 6 },
    );
    fc.assert(
      fc.property(some, some, some, fc.constantFrom(...UPDATE_MODES), (base, local, incoming, mode) => {
        const planned = plan(mode, base, local, incoming);
        const paths = new Set([base, local, incoming].flatMap((files) => Object.keys(files)));
        expect(planned.files.map(({ path }) => path)).toEqual([...paths].sort());
        for (const path of paths) {
          const [before, here, there] = [base, local, incoming].map((files) =>
            new Map(Object.entries(files)).get(path),
          );
          const row = planned.files.find((each) => each.path === path);
          const isEdit = here !== before && here !== there;
          expect(planned.edited.includes(path)).toBe(isEdit);
          expect(planned.lost.includes(path)).toBe(mode === 'force' && isEdit);
          if (mode === 'force' || !isEdit) {
            // Without a local edit, and in force, the result is the new version.
            expect(row?.take).toBe(there === undefined ? 'nothing' : 'incoming');
            if (there !== undefined) expect(row?.isExecutable).toBe(there.endsWith('!'));
          } else if (planned.refusal === undefined) {
            if (here === undefined) expect(row?.take).toBe('nothing');
            else if (row?.take === 'incoming') expect(here.replace('!', '')).toBe(before?.replace('!', ''));
            else expect(['local', 'merge']).toContain(row?.take);
            const isBitOurs = here !== undefined && here.endsWith('!') !== (before?.endsWith('!') ?? false);
            if (isBitOurs) expect(row?.isExecutable).toBe(here.endsWith('!'));
          }
        }
        if (mode === 'refuse') expect(planned.refusal === undefined).toBe(planned.edited.length === 0);
      }),
      { numRuns: runs(500) },
    );
  });
});
