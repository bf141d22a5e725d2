import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

import { completeMention, mentionedFiles, pastedMention } from '../../src/cli/agent/chat-files.ts';
import { openPasteFilter } from '../../src/cli/agent/paste-filter.ts';
import { scratch } from '../skills/registry/support.ts';

function places(): { readonly cwd: string; readonly home: string; readonly outside: string } {
  const base = scratch();
  const [cwd, home] = [path.join(base, 'project'), path.join(base, 'home')];
  mkdirSync(path.join(cwd, 'src'), { recursive: true });
  mkdirSync(path.join(cwd, 'node_modules'));
  mkdirSync(home);
  for (const file of [
    'project/src/a.ts',
    'project/src/ab.ts',
    'project/.env',
    'project/b c.txt',
    'home/x.csv',
    'my file.csv',
  ])
    writeFileSync(path.join(base, file), '');
  writeFileSync(path.join(cwd, 'bad\u001B[2J.txt'), '');
  return { cwd, home, outside: path.join(base, 'my file.csv') };
}

describe('mentions in a message', () => {
  test('are files outside of the project that exist, each once', () => {
    const at = places();
    const x = path.join(at.home, 'x.csv');
    expect(mentionedFiles(`look at @~/x.csv, @${x}; and @"${at.outside}"`, at)).toEqual([x, at.outside]);
  });

  test.each([
    '@src/a.ts',
    '@gone.csv',
    'me@~/x.csv',
    '@',
    '@"',
    '@src',
    '@/dev/null',
    '@\u0000',
    `@${'a/'.repeat(3_000)}`,
  ])('%j attaches nothing', (message) => {
    expect(mentionedFiles(message, places())).toEqual([]);
  });
});

describe('a paste', () => {
  test('that is the path of a file becomes a mention, however the terminal writes it', () => {
    const at = places();
    const mention = `@"${at.outside}" `;
    for (const text of [
      at.outside,
      `'${at.outside}'`,
      `${at.outside.replaceAll(' ', '\\ ')} `,
      pathToFileURL(at.outside).href,
    ])
      expect(pastedMention(text, at)).toBe(mention);
    expect(pastedMention(path.join(at.cwd, 'src/a.ts'), at)).toBe('@src/a.ts ');
  });

  test('that is anything else stays text', () => {
    const at = places();
    for (const text of [
      '',
      'x',
      '/gone',
      at.cwd,
      `see ${at.outside}`,
      `${at.outside}\n${at.outside}`,
      'file:///%00',
      'file:///a%2Fb',
      path.join(at.cwd, 'bad\u001B[2J.txt'),
    ])
      expect(pastedMention(text, at)).toBeUndefined();
  });

  test('is one only between its marks, in one piece', () => {
    const filter = openPasteFilter((text) => `<${text}>`);
    expect(filter('\u001B[200~/a/b\u001B[201~ and')).toBe('</a/b> and');
    expect(filter('\u001B[200~/a') + filter('/b\u001B[201~')).toBe('/a/b');
  });
});

test('Tab completes the files of a folder, without hidden ones, and nothing that could act on the terminal', () => {
  const at = places();
  expect(completeMention('see @', at)).toEqual({ hits: ['@src/'], of: '@' });
  expect(completeMention('see @src/a', at)).toEqual({ hits: ['@src/a.ts ', '@src/ab.ts '], of: '@src/a' });
  expect(completeMention('@.e', at)).toEqual({ hits: ['@.env '], of: '@.e' });
  expect(completeMention('@~/', at)).toEqual({ hits: ['@~/x.csv '], of: '@~/' });
  for (const line of ['see', 'a@src', '@gone/', '@src/a.ts ']) expect(completeMention(line, at).hits).toEqual([]);
});
