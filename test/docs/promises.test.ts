import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT, filesBelow } from '../files-below.ts';
import { PROMISES } from './promises.ts';

const read = (file: string): string => readFileSync(path.join(PROJECT, file), 'utf8');
const WORDS = /\b(?:never|always|at most|nothing|refuses|is refused|restores|cannot)\b/i;
const GENERATED_PARTS =
  /<!-- (?:From here on made|pass table|Measured by)[^]*?<!-- (?:End of the generated part\.|end of the pass table|end) -->/g;
/** A sentence of a paragraph, an item of a list or a cell of a table, without code blocks and line ends. */
const sentences = (page: string): readonly string[] =>
  page
    .replaceAll(/^(`{3,})[^]*?^\1/gm, '')
    .replaceAll(GENERATED_PARTS, '')
    .split(/\n\n+|\n(?=[-|#\d])/)
    .flatMap((part) => part.replaceAll(/\s+/g, ' ').split(/(?<=[.:;]) (?=[A-Z`*])| \| /))
    // A head of a table.
    .filter((sentence) => sentence.replaceAll('|', '').trim().split(' ').length > 3);

/** Made from code and tests; SECURITY.md has a test of its own, and what CONTRIBUTING and AGENTS say is for contributors. */
const GENERATED =
  /^docs\/(?:zh\/.*|vocabularies\/.*|api|cli|conformance|diagnostics|error-codes|events|executor-suite|install-reference|requirements)\.md$/;
const PAGES = ['README.md', ...filesBelow('docs', /\.md$/).filter((page) => !GENERATED.test(page))];

test('the register names no page that does not exist', () => {
  expect(Object.keys(PROMISES).filter((page) => !PAGES.includes(page))).toEqual([]);
});

describe.each(PAGES.map((page) => [page, PROMISES[page] ?? []] as const))('%s', (page, promises) => {
  const text = read(page).replaceAll(/\s+/g, ' ');

  test('has every promise of the register once, and each names a test that exists', () => {
    const wrong = promises.flatMap((promise) => {
      const count = text.split(promise.sentence).length - 1;
      if (count !== 1) return [`stands ${String(count)} times on the page: ${promise.sentence}`];
      if ('because' in promise) return [];
      const [file = '', title = ''] = promise.test.split(/: (.*)/s);
      const isThere = existsSync(path.join(PROJECT, file)) && title !== '' && read(file).includes(title);
      return isThere ? [] : [`no such test: ${promise.test}`];
    });
    expect(wrong).toEqual([]);
  });

  test('promises nothing in the words of a promise that is not in the register', () => {
    const open = sentences(read(page)).filter(
      (sentence) => WORDS.test(sentence) && promises.every((promise) => !sentence.includes(promise.sentence)),
    );
    expect(open).toEqual([]);
  });
});
