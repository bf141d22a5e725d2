import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  changedFiles,
  countChanges,
  type FileSide,
  type UpdatedFile,
} from '../../../src/packs/update/capability-diff.ts';
import type { ChangedSkill } from '../../../src/packs/update/update-skill.ts';
import { updateLines } from '../../../src/packs/update/update-text.ts';
import { sha256 } from '../../../src/platform/hash.ts';

const side = (text: string, isExecutable = false): FileSide => ({ sha256: sha256(text), text, isExecutable });
const binary = (name: string): FileSide => ({ sha256: sha256(name), isExecutable: false });
const HEAD = '---\nname: pdf\ndescription: d\nallowed-tools: Read\n---\n';
const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${String(at)}\n`).join('');

interface View {
  readonly name: string;
  readonly from?: string;
  readonly to?: string;
  readonly files: readonly UpdatedFile[];
}

/** The lines of an update with the fields that they show. */
function linesFor({ name, from, to, files }: View): readonly string[] {
  const shown = {
    status: 'update',
    name,
    files,
    before: { version: from },
    lock: { version: to, source: 'github:acme/skills' },
  } as const;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other fields are not shown.
  return updateLines({ ...shown, changes: countChanges(changedFiles(files)) } as unknown as ChangedSkill, 80);
}

/** The start of every row that is not untrusted text, and the frame. */
const ROW =
  /^(?:"|from "|\d+ files? changed|no file changes|now it |no new capabilities |  (?:changed|added|removed|…|│|the newline)|changes in |@@ -\d|…)/;
const widthOf = (line: string): number =>
  Array.from(line).reduce((sum, letter) => sum + (letter > '~' && !'│↳…'.includes(letter) ? 2 : 1), 0);

describe('updateLines', () => {
  test('lists new capabilities first, then changed files, then the diff', () => {
    const lines = linesFor({
      name: 'pdf',
      from: '1.2.0',
      to: '1.3.0',
      files: [
        { path: 'assets/logo.png', before: binary('a'), after: binary('b') },
        { path: 'notes.md', before: side('gone\n') },
        { path: 'scripts/run.sh', after: side('curl x\n', true) },
        { path: 'same.md', before: side('s'), after: side('s') },
        {
          path: 'SKILL.md',
          before: side(`${HEAD}1\n2\n`),
          after: side(`${HEAD.replace('Read', 'Read Bash')}1\ntwo\n`),
        },
      ],
    });
    expect(lines).toEqual([
      '"pdf" from "1.2.0" to "1.3.0"',
      'from "github:acme/skills"',
      '2 files changed, 1 added, 1 removed; 3 lines added, 3 removed',
      'now it uses these tools:',
      '  │ Bash',
      'now it adds these programs:',
      '  │ scripts/run.sh',
      '  changed "SKILL.md" +2 -2',
      '  added "scripts/run.sh" +1 -0, now executable',
      '  changed "assets/logo.png" (not shown)',
      '  removed "notes.md" +0 -1',
      'changes in "SKILL.md"',
      '@@ -1,7 +1,7 @@',
      '  │  ---',
      '  │  name: pdf',
      '  │  description: d',
      '  │ -allowed-tools: Read',
      '  │ +allowed-tools: Read Bash',
      '  │  ---',
      '  │  1',
      '  │ -2',
      '  │ +two',
      'changes in "scripts/run.sh"',
      '@@ -0,0 +1,1 @@',
      '  │ +curl x',
      'changes in "notes.md"',
      '@@ -1,1 +0,0 @@',
      '  │ -gone',
    ]);
  });

  test('counts earlier hunks in the line numbers of hunk headers', () => {
    const before = numbered(60);
    const after = before.replace('line 5\n', 'a\nb\nc\n').replace('line 40\n', '').replace('line 50\n', 'x\n');
    const headers = linesFor({
      name: 'pdf',
      files: [{ path: 'a.md', before: side(before), after: side(after) }],
    }).filter((line) => line.startsWith('@@'));
    expect(headers).toEqual(['@@ -3,7 +3,9 @@', '@@ -38,7 +40,6 @@', '@@ -48,7 +49,7 @@']);
  });

  test('truncates long diffs over all files and counts the rest', () => {
    const files = ['a.md', 'b.md'].map((path) => ({ path, after: side(numbered(100)) }));
    const lines = linesFor({ name: 'pdf', files });
    expect(lines.filter((line) => line.startsWith('  │ +'))).toHaveLength(120);
    expect(lines.at(-1)).toBe('… 80 more diff lines not shown');
    expect(countChanges(changedFiles(files))).toEqual({
      changed: 0,
      added: 2,
      removed: 0,
      linesAdded: 200,
      linesRemoved: 0,
    });
  });

  test('truncates long lists of files and items', () => {
    const files = Array.from({ length: 1000 }, (_, at) => ({ path: `scripts/${String(at)}.sh`, after: side('x') }));
    expect(linesFor({ name: 'pdf', files }).length).toBeLessThan(700);
  });

  test('reports an empty update, and a changed newline at the end of a file', () => {
    expect(linesFor({ name: 'pdf', files: [] })).toEqual([
      '"pdf"',
      'from "github:acme/skills"',
      'no file changes',
      'no new capabilities found in its files',
    ]);
    const ended = linesFor({ name: 'pdf', to: '2', files: [{ path: 'a.md', before: side('a\n'), after: side('a') }] });
    expect(ended.slice(-2)).toEqual(['changes in "a.md"', '  the newline at the end of the file was added or removed']);
  });

  test('reports a changed executable bit', () => {
    const lines = linesFor({ name: 'pdf', files: [{ path: 'a.sh', before: side('a'), after: side('a', true) }] });
    expect(lines).toContain('  changed "a.sh" +0 -0, now executable');
  });

  test('frames or quotes all untrusted text, removes control characters and fits the width', () => {
    const text = fc.oneof(
      fc.array(fc.nat({ max: 0xffff }), { maxLength: 12 }).map((codes) => String.fromCharCode(...codes)),
      fc.constantFrom(
        '\u001b]0;x\u0007',
        '\u202eabc',
        '@@ -1 +1 @@\nnow it uses no tools',
        'a'.repeat(500),
        '文'.repeat(90),
        '\u200b'.repeat(70),
      ),
    );
    const file = fc.record({ path: text, before: text.map((all) => side(all)), after: text.map((all) => side(all)) });
    fc.assert(
      fc.property(text, text, fc.array(file, { maxLength: 3 }), (name, to, files) => {
        for (const line of linesFor({ name, to, files })) {
          expect(widthOf(line), line).toBeLessThanOrEqual(80);
          // oxlint-disable-next-line no-control-regex
          expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
          expect(line).toMatch(ROW);
        }
      }),
      { numRuns: 60 },
    );
  });
});
