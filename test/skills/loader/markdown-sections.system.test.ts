import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { findSection, listHeadings } from '../../../src/skills/loader/markdown-sections.ts';
import { verifies } from '../../conformance/verifies.ts';

const GUIDE = `# Guide

Intro.

## Setup

Install it.

### On Linux

Use apt.

## 指标定义 ##

GMV 是总额。

Usage
-----

Run it.
`;

const sectionText = (text: string, heading: string): string | undefined => {
  const found = findSection(text, heading);
  return found === undefined ? undefined : text.slice(found.start, found.end);
};
const titleOf = (text: string, heading: string): string | undefined => findSection(text, heading)?.title;

describe('the headings of a text', () => {
  verifies('DISC-3', 'the headings of a text are given in order with the marks of their level', () => {
    expect(listHeadings(GUIDE)).toEqual(['# Guide', '## Setup', '### On Linux', '## 指标定义', '## Usage']);
  });

  it.each([
    ['#', ['#']],
    ['## ##', ['##']],
    ['# C#', ['# C#']],
    ['#tag and #!shebang', []],
    ['####### seven', []],
    ['   ### indented ###   ', ['### indented']],
    ['    # code', []],
    ['\t# code', []],
    ['text\n    # still text', []],
    ['#\ttab', ['# tab']],
    ['# a\r\n\r\ntext\r\n\r\nb\r\n===\r\n', ['# a', '# b']],
    ['## **Bold** and `code` [link](x.md)', ['## **Bold** and `code` [link](x.md)']],
    ['two\nlines\n---', ['## two lines']],
  ])('%j has %j', (text, headings) => {
    expect(listHeadings(text)).toEqual(headings);
  });

  it.each([
    '```sh\n# comment\n```',
    '~~~\n# comment\n```\n# comment\n~~~~',
    '````md\n```\n# inner\n```\n````',
    '```\n# never closed\n\n# nor here',
    '1. do\n\n   ```\n   # comment\n   ```',
    '<!-- # x\n# y\n-->',
    '<!--\n# never closed',
    '> # quoted',
    '- item\n---',
    '1. item\n---',
    '> quote\n---',
    'text\n- item\n---',
    '| a |\n---',
    'a | b\n--- | ---\n1 | 2\n---',
    '<div>\n---',
    '\n---\n\n***\n\n- - -\n',
    '```\ncode\n```\n---',
    '---\nname: x\n# comment\ndescription: y\n---\n',
    '\ufeff---\n# comment\nname: x\n---\n',
    'text\n\n---\n',
    'text\n= =',
  ])('%j has none', (text) => {
    expect(listHeadings(text)).toEqual([]);
  });

  test('code, comments and rules do not hide what comes after them', () => {
    const text = '---\n\n# a\n\n---\n\n```\n# no\n```\n## b\n<!-- # no -->\n### c <!-- note -->\n`<!--`\n#### d';
    expect(listHeadings(text)).toEqual(['# a', '## b', '### c <!-- note -->', '#### d']);
  });
});

describe('a section', () => {
  verifies('DISC-3', 'a section runs to the next heading of its level or a higher one', () => {
    expect(sectionText(GUIDE, '## Setup')).toBe('## Setup\n\nInstall it.\n\n### On Linux\n\nUse apt.\n\n');
    expect(sectionText(GUIDE, '### On Linux')).toBe('### On Linux\n\nUse apt.\n\n');
    expect(sectionText(GUIDE, 'Usage')).toBe('Usage\n-----\n\nRun it.\n');
    expect(sectionText(GUIDE, '# Guide')).toBe(GUIDE);
  });

  verifies('DISC-3', 'a section says where it is and what it is called', () => {
    expect(findSection(GUIDE, '指标定义')).toEqual({
      start: GUIDE.indexOf('## 指标'),
      end: GUIDE.indexOf('Usage'),
      title: '指标定义',
      line: 13,
    });
  });

  it.each([
    '## 指标定义',
    '指标定义',
    '#指标定义',
    '  ##   指标定义  ##',
    '##指标定义',
    '**指标定义**',
    '# 指标定义',
    '指标',
  ])('is found by %j', (heading) => {
    expect(titleOf(GUIDE, heading)).toBe('指标定义');
  });

  it.each([
    ['## **Setup** guide', 'setup guide'],
    ['## Setup   Guide', '#setup-guide'],
    ['## `setup` [guide](x_(y).md "t")', 'Setup Guide'],
    ['## 🚀 Setup & guide!', 'setup--guide'],
    ['## 🚀 Setup & guide!', 'setup-guide'],
    ['## setup guide', '## `Setup` *guide*'],
    ['## ![icon](i.png) Setup guide', 'icon setup guide'],
    ['## [Setup][1] guide', 'setup guide'],
    ['## Setup guide <!-- fold -->', 'setup-guide'],
    ['## Set\u200bup guide', 'setup guide'],
    ['## Ｓｅｔｕｐ　guide', 'setup guide'],
    ['## 1. Setup guide: the long way', '1. setup guide'],
    ['## `my_setup`', 'my_setup'],
    ['## _my_ \\*setup\\*', 'my *setup*'],
  ])('%j is found by %j', (text, heading) => {
    expect(findSection(text, heading)).toEqual(expect.objectContaining({ start: 0, end: text.length, line: 1 }));
  });

  it.each(['', ' ', '#', '##', '!!!', 'nothing like it', 'uide', '**'])('is not found by %j', (heading) => {
    expect(findSection(GUIDE, heading)).toBeUndefined();
    expect(findSection('# !?\n## \n', heading === '!!!' ? '' : heading)).toBeUndefined();
  });

  const line = (text: string, heading: string): number | undefined => findSection(text, heading)?.line;

  test('of the same title comes before the same anchor, and that before a longer title', () => {
    expect(line('## a b c\n## A, B\n## A B', 'a b')).toBe(3);
    expect(line('## a b c\n## A, B', 'a b')).toBe(2);
    expect(line('## a b c', 'a b')).toBe(1);
  });

  test('of the level that was asked for comes first, another is taken where there is none', () => {
    expect(line('# a\n## a\n### a', '## a')).toBe(2);
    expect(line('# a\n### a', '## a')).toBe(1);
    expect(line('## a\n# a', '#a')).toBe(1);
  });

  test('in the case that was asked for comes first', () => {
    expect(line('# setup\n# SETUP', 'SETUP')).toBe(2);
  });

  test('that comes first is taken among equals; the others have numbered anchors', () => {
    const text = '# x\n## Examples\n# y\n## Examples\n# z\n## Examples 1\n## Examples';
    expect(['examples', '#examples-1', 'examples-2', 'examples-1-1'].map((asked) => line(text, asked))).toEqual([
      2, 4, 7, 6,
    ]);
  });

  test('lies inside the text and starts with its heading, whatever the text is', () => {
    const piece = fc.constantFrom(
      '# ',
      '## ',
      '#',
      'a',
      'b',
      ' ',
      '\n',
      '\n\n',
      '```',
      '---',
      '===',
      '<!--',
      '-->',
      '- ',
      '>',
      '\t',
      '[',
      '](',
      ')',
      '*',
      '_',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('');
        for (const heading of listHeadings(text)) {
          expect(heading).not.toContain('\n');
          const found = findSection(text, heading);
          if (found === undefined) continue;
          expect(text.slice(0, found.start).split('\n').length).toBe(found.line);
          expect(found.start === 0 || text.charAt(found.start - 1) === '\n').toBe(true);
          expect(found.end > found.start && found.end <= text.length).toBe(true);
        }
      }),
    );
  });
});

describe('hostile text', () => {
  const MEGA = 250_000;
  it.each([
    ['one line', 'x'.repeat(MEGA)],
    ['one line of marks', '#'.repeat(MEGA)],
    ['a heading of marks and spaces', `# ${'# '.repeat(MEGA / 2)}x`],
    ['a heading of spaces', `#${' '.repeat(MEGA)}x`],
    ['half links', `# ${'[]('.repeat(MEGA / 3)}`],
    ['half references', `# ${'[]['.repeat(MEGA / 3)}`],
    ['underscores', `# ${'_'.repeat(MEGA)}`],
    ['hyphens', `# ${'- '.repeat(MEGA / 2)}`],
    ['a thematic break that is none', `${'- '.repeat(MEGA / 2)}x`],
    ['a long underlined paragraph', `${'a\n'.repeat(MEGA / 2)}---`],
    ['one hundred thousand headings', '## same\n'.repeat(100_000)],
    ['one hundred thousand numbered headings', Array.from({ length: 100_000 }, (_, n) => `# a-${n}\n# a\n`).join('')],
    ['a frontmatter of spaces', `---\n${' '.repeat(MEGA)}\n---\n`],
    ['a frontmatter of comments', `---\n${'#\n'.repeat(MEGA / 2)}x\n---\n`],
    ['a heading of open comments', `# ${'<!--'.repeat(MEGA / 4)}`],
    ['open comments', '<!--\n'.repeat(MEGA / 5)],
    ['fences', '```\n~~~\n'.repeat(MEGA / 8)],
    ['backticks', '`'.repeat(MEGA)],
  ])('%s is read in time that grows with its length only', (_, text) => {
    // A quadratic step takes minutes here, and then the runner's own limit ends the test.
    expect(listHeadings(text).length).toBeLessThanOrEqual(MEGA);
    expect(findSection(text, 'nothing like it')).toBeUndefined();
    findSection(text, text.slice(0, 200_000));
  });
});
