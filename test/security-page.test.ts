import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT } from './files-below.ts';

const PAGE = readFileSync(path.join(PROJECT, 'SECURITY.md'), 'utf8');
/** Between the threat model and what is not defended there are promises. */
const PROMISES = PAGE.slice(PAGE.indexOf('## A program in a sandbox'), PAGE.indexOf('## Not defended'));

/** The cells of the rows of tables whose header is that, without the line below it. */
function tableRows(text: string, header: RegExp): readonly (readonly string[])[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    if (!header.test(line)) return [];
    const end = lines.findIndex((other, index) => index > at && !other.startsWith('|'));
    return lines.slice(at + 2, end).map((row) => row.slice(2, -2).split(' | '));
  });
}

const SANDBOX = tableRows(
  PROMISES,
  /^\| a program \| bubblewrap \| namespaces \| container \| landlock \| attacked by \|$/,
);
const OTHERS = tableRows(PROMISES, /^\| promise \| attacked by \|$/);
const ROWS = [...SANDBOX, ...OTHERS];

interface Citation {
  readonly file: string;
  readonly title: string;
}

function citations(cells: readonly string[]): readonly Citation[] {
  return (cells.at(-1) ?? '').split(/; (?=`)/).map((text) => {
    const [, file = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(text) ?? [];
    return { file, title };
  });
}

describe('SECURITY.md', () => {
  test('has promises in tables only, each with a test that exists', () => {
    expect([SANDBOX.length > 35, OTHERS.length > 35]).toEqual([true, true]);
    expect(PROMISES.split('\n').filter((line) => /^(?:- |\* |\d\. )/.test(line))).toEqual([]);
    const missing = ROWS.flatMap((cells) =>
      citations(cells).flatMap(({ file, title }) => {
        const place = path.join(PROJECT, file);
        return title !== '' && existsSync(place) && readFileSync(place, 'utf8').includes(title)
          ? []
          : [`${cells[0] ?? ''}: ${file}: ${title}`];
      }),
    );
    expect(missing).toEqual([]);
  });

  test('says yes of an executor where the conformance suite passes there, and only there', () => {
    const suite = readFileSync(path.join(PROJECT, 'docs/executor-suite.md'), 'utf8');
    const results = tableRows(suite, /^\| case \| bubblewrap \| namespaces \| container \| landlock \| local \|$/);
    const wrong = SANDBOX.flatMap((cells) =>
      citations(cells).flatMap(({ file, title }) => {
        if (!file.startsWith('src/sandbox/conformance/')) return [];
        const passed = results.find(([name = '']) => name.includes(title))?.slice(1, 5);
        const claimed = cells.slice(1, 5).map((cell) => (cell === 'yes' ? 'pass' : 'no'));
        const measured = passed?.map((cell) => (cell === 'pass' ? 'pass' : 'no'));
        return measured?.join() === claimed.join()
          ? []
          : [`${title}: ${String(measured?.join())}, not ${claimed.join()}`];
      }),
    );
    expect(wrong).toEqual([]);
  });
});
