/** The pages of the package, read where only the packed files are. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from './files-below.ts';

test('the pages link to files of the package only, and say in words what their images show', () => {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'];
  const [packed]: readonly [{ readonly files: readonly { readonly path: string }[] }] = JSON.parse(
    execFileSync('npm', words, { cwd: PROJECT, encoding: 'utf8', maxBuffer: 64_000_000 }),
  );
  const files = packed.files.map((one) => one.path);
  const folders = files.flatMap((file) => {
    const names = path.dirname(file).split('/');
    return names.map((_, place) => names.slice(0, place + 1).join('/'));
  });
  const known = new Set([...files, ...folders]);
  const pages = files.filter((file) => file.endsWith('.md'));
  const dead = pages.flatMap((page) => {
    const text = readFileSync(path.join(PROJECT, page), 'utf8').replaceAll(/^(`{3,})[^]*?^\1$/gm, '');
    const links = text.matchAll(
      /(?<image>!?)\[(?<words>[^\]]*)\]\((?!#|[a-z]+:)(?<link>[^)\s]+)|(?<html><img )?(?:href|src)="(?!#|[a-z]+:)(?<attribute>[^"]+)"(?: alt="(?<alternative>[^"]*)")?/g,
    );
    return [...links].flatMap(({ groups = {} }) => {
      const { image = '', words: shown = '', link = '', html = '', attribute = '', alternative = '' } = groups;
      const isImage = image + html !== '';
      const target = link === '' ? attribute : link;
      const file = path.posix.join(path.posix.dirname(page), target.replace(/#.*$/, ''));
      // The package leaves images out for their size.
      const isThere =
        isImage && file.endsWith('.png') ? shown + alternative !== '' : known.has(file.replace(/\/$/, ''));
      return isThere ? [] : [`${page}: ${target}`];
    });
  });
  expect([pages.length > 60, dead]).toEqual([true, []]);
});
