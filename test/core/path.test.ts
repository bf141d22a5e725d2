import { describe, expect, test } from 'vitest';

import { FAILURES, type FailureCode } from '../../src/core/failure-codes.ts';
import { listParentFolders, parentFolder, toRelativePath } from '../../src/core/path.ts';
import { verifies } from '../conformance/verifies.ts';
import { isOfferedPath, kindOfFile } from '../../src/skills/loader/file-kind.ts';
import { isProblem } from '../../src/core/problem.ts';

const REFUSED: readonly (readonly [text: string, code: FailureCode])[] = [
  ['', 'path/empty'],
  ['  \n', 'path/empty'],
  ['.', 'path/empty'],
  ['././', 'path/empty'],
  ['/', 'path/absolute'],
  ['/etc/passwd', 'path/absolute'],
  ['/proc/self/root/etc/passwd', 'path/absolute'],
  ['/dev/fd/0', 'path/absolute'],
  ['~', 'path/absolute'],
  ['~/.ssh/id_rsa', 'path/absolute'],
  ['~root/x', 'path/absolute'],
  [String.raw`C:\Windows\x`, 'path/absolute'],
  ['C:/Windows/x', 'path/absolute'],
  ['c:x', 'path/absolute'],
  [String.raw`\\host\share\x`, 'path/absolute'],
  ['//host/share/x', 'path/absolute'],
  ['file:///etc/passwd', 'path/absolute'],
  ['FILE:/etc/passwd', 'path/absolute'],
  ['skill://other/SKILL.md', 'path/absolute'],
  ['https://example.com/x', 'path/absolute'],
  ['..', 'path/parent'],
  ['../x', 'path/parent'],
  ['references/../../x', 'path/parent'],
  ['references/..', 'path/parent'],
  ['./..//x', 'path/parent'],
  ['references/x\0.md', 'path/control-character'],
  ['references/x\n.md', 'path/control-character'],
  ['references/\u001B[31mx', 'path/control-character'],
  ['references/\u009Bx', 'path/control-character'],
  ['references/x\u202Edm.exe', 'path/control-character'],
  ['references/x\u200B.md', 'path/control-character'],
  ['references/\u{E0041}', 'path/control-character'],
  ['references/\uD800', 'path/control-character'],
  [String.raw`references\x.md`, 'path/backslash'],
  [String.raw`..\x.md`, 'path/backslash'],
  [String.raw`\x.md`, 'path/backslash'],
  ['%2e%2e/x', 'path/encoded'],
  ['references/%2E%2E/x', 'path/encoded'],
  ['references%2fx', 'path/encoded'],
  ['references%5Cx', 'path/encoded'],
  ['references/x%00.md', 'path/encoded'],
  ['%252e%252e/x', 'path/encoded'],
  ['%25252e/x', 'path/encoded'],
  ['%c0%ae%c0%ae/x', 'path/encoded'],
  ['a/'.repeat(513), 'path/too-long'],
  [`references/${'x'.repeat(256)}`, 'path/too-long'],
  [`references/${'語'.repeat(86)}`, 'path/too-long'],
];

describe('a path', () => {
  verifies(
    'DISC-9',
    'every path that does not plainly stay in the skill is refused by name, with a code for each reason',
    () => {
      const codes = REFUSED.map(([text]) => {
        const reading = toRelativePath(text);
        return [text, isProblem(reading) ? reading.code : reading];
      });
      expect(codes).toEqual(REFUSED);
    },
  );

  test('that is refused is quoted in the message, harmless and short, and the hint says what to do', () => {
    expect(toRelativePath('references/\u001B[2J\u202E/x')).toEqual({
      code: 'path/control-character',
      message: String.raw`the path "references/\x1b[2J\u{202e}/x" contains an invisible character`,
      hint: FAILURES['path/control-character'],
      nearest: [],
    });
    const long = toRelativePath('y'.repeat(1_000_000));
    expect(isProblem(long) ? long.message.length : 0).toBeLessThan(150);
  });

  test('that is fine comes out without . and doubled slashes', () => {
    const fine = [
      ['SKILL.md', 'SKILL.md'],
      ['./references//a.md', 'references/a.md'],
      ['references/./a.md/', 'references/a.md'],
      ['references/100%25 sure.md', 'references/100%25 sure.md'],
      ['references/...md', 'references/...md'],
      ['references/..a', 'references/..a'],
      ['references/a:b.md', 'references/a:b.md'],
      ['references/数据 分析.md', 'references/数据 分析.md'],
      ['assets/👩‍💻.txt', 'assets/👩‍💻.txt'],
      [`references/${'語'.repeat(85)}`, `references/${'語'.repeat(85)}`],
      ['proc/self/root', 'proc/self/root'],
    ];
    expect(fine.map(([text = '']) => toRelativePath(text))).toEqual(fine.map(([, path]) => path));
  });
});

test('the kind of a file follows from where it lies, and all but others may be asked for', () => {
  const kinds = [
    ['SKILL.md', 'document'],
    ['FORMS.MD', 'document'],
    ['docs/deep/notes.txt', 'document'],
    ['scripts/run.py', 'script'],
    ['scripts/README.md', 'script'],
    ['scripts/templates/report.py', 'asset'],
    ['scripts/page.html.j2', 'asset'],
    ['scripts/template_filler.py', 'script'],
    ['references/a.json', 'reference'],
    ['reference/a', 'reference'],
    ['assets/logo.png', 'asset'],
    ['scripts', 'other'],
    ['scriptsx/run.py', 'other'],
    ['deep/scripts/run.py', 'other'],
    ['LICENSE', 'other'],
    ['.env', 'other'],
    ['a.md.exe', 'other'],
  ];
  expect(kinds.map(([path = '']) => [path, kindOfFile(path)])).toEqual(kinds);
  expect(kinds.filter(([path = '']) => !isOfferedPath(path))).toEqual(kinds.filter(([, kind]) => kind === 'other'));
});

test('the folders of a path are told by its name', () => {
  const paths = ['a', 'a/b', 'a/b/c.md', ''];
  expect(paths.map((each) => [parentFolder(each), listParentFolders(each)])).toEqual([
    ['', []],
    ['a', ['a']],
    ['a/b', ['a', 'a/b']],
    ['', []],
  ]);
});
