import { describe, expect, test } from 'vitest';

import { planEdit } from '../../src/project/edit-file.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { placed, world, type World } from './support.ts';

function edit(here: World, oldText: string, newText: string, path = 'a.txt') {
  return planEdit({ type: 'edit_file', path, oldText, newText }, placed(here, path, 'write'));
}

describe('edit_file', () => {
  test('replaces the only occurrence and keeps every other byte', () => {
    const here = world({ 'project/a.txt': '\uFEFFone\ntwo $& three\n' });
    expect(edit(here, 'two $& ', "$' ")).toEqual({
      write: { type: 'write_file', path: 'a.txt', content: "\uFEFFone\n$' three\n" },
      preview: { before: '\uFEFFone\ntwo $& three\n', digest: `sha256:${sha256('\uFEFFone\ntwo $& three\n')}` },
    });
  });

  test('keeps CRLF line ends, because the model sees and writes LF', () => {
    const here = world({ 'project/a.txt': 'one\r\ntwo\r\nthree\r\n' });
    expect(edit(here, 'one\ntwo\n', '1\n2\n')).toMatchObject({ write: { content: '1\r\n2\r\nthree\r\n' } });
  });

  test.each([
    ['a passage that is missing', 'gone', 'x', 'edit/no-single-match', 'occurs 0 times'],
    ['a passage that occurs twice', 'o', 'x', 'edit/no-single-match', 'occurs 2 times'],
    ['half of a character', '\uD83D', 'x', 'input/invalid', 'half of a character'],
    ['half of a character to write', 'two', '\uDE00', 'input/invalid', 'half of a character'],
    ['an empty passage', '', 'x', 'input/invalid', 'old_text is empty'],
    ['a replacement that changes nothing', 'one', 'one', 'input/invalid', 'the same'],
  ])('refuses %s', (_, oldText, newText, code, message) => {
    const here = world({ 'project/a.txt': 'one\ntwo\n' });
    expect(edit(here, oldText, newText)).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('counts matches that overlap: each of them could be meant', () => {
    const here = world({
      'project/a.txt': 'aaa',
      'project/b.txt': 'a\n\na\n\na\n',
      'project/c.txt': 'a'.repeat(99_999),
    });
    const messages = [
      edit(here, 'aa', 'b'),
      edit(here, 'a\n\na', 'b', 'b.txt'),
      edit(here, 'a'.repeat(50_000), 'b', 'c.txt'),
    ];
    expect(messages).toMatchObject([
      { code: 'edit/no-single-match', message: expect.stringContaining('occurs 2 times') },
      { code: 'edit/no-single-match', message: expect.stringContaining('occurs 2 times') },
      { code: 'edit/no-single-match', message: expect.stringContaining('occurs more than 20 times') },
    ]);
  });

  test('refuses files that are missing, folders or not text', () => {
    const here = world({ 'project/binary': new Uint8Array([0xff, 0xfe, 0x00]), 'project/folder/x': '' });
    const codes = ['gone.txt', 'folder', 'binary'].map((file) => edit(here, 'a', 'b', file));
    expect(codes).toMatchObject([{ code: 'file/missing' }, { code: 'file/directory' }, { code: 'file/not-utf8' }]);
  });
});
