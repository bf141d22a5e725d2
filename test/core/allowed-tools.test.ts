import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { hasSeparatingComma, narrowTools, splitToolList, withoutTools } from '../../src/skills/format/controls.ts';
import { isToolPattern } from '../../src/core/allowed-tools.ts';
import { verifies } from '../conformance/verifies.ts';

describe('a list of tools as text', () => {
  it.each([
    ['Read Write', ['Read', 'Write']],
    ['Read, Write,Bash', ['Read', 'Write', 'Bash']],
    ['Bash(git add *), Read', ['Bash(git add *)', 'Read']],
    ['Bash(a (b) c) Read', ['Bash(a (b) c)', 'Read']],
    ['Bash(open, Read', ['Bash(open, Read']],
    [' \n\t ,, ', []],
    ['', []],
    ['a)b c', ['a)b', 'c']],
  ])('%j splits into %j', (text, entries) => {
    expect(splitToolList(text)).toEqual(entries);
  });

  verifies('FMT-4', 'splitting allowed-tools loses nothing but separators', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(splitToolList(text).join('').replaceAll(/[\s,]/g, '')).toBe(text.replaceAll(/[\s,]/g, ''));
      }),
    );
  });

  it('knows commas between entries from commas inside one', () => {
    expect(hasSeparatingComma('Read, Write')).toBe(true);
    expect(hasSeparatingComma('Bash(a, b) Read')).toBe(false);
  });
});

describe('a tool pattern', () => {
  it.each([
    'Read',
    '*',
    'Bash(git:*)',
    'Bash(git add *)',
    'mcp__github__list_issues',
    'mcp__*',
    'WebFetch(domain:a.b)',
    'Task(x(y))',
    '工具',
  ])('%s is one', (entry) => {
    expect(isToolPattern(entry)).toBe(true);
  });

  it.each([
    '',
    '9lives',
    'Bash(',
    'Bash()',
    'Bash(a) b',
    'Bash(a)(b)',
    '(x)',
    '-',
    '...',
    '\u202eRead',
    'x'.repeat(301),
    '<b>',
  ])('%j is none', (entry) => {
    expect(isToolPattern(entry)).toBe(false);
  });
});

describe('two lists', () => {
  it('allow together what both allow', () => {
    expect(narrowTools(['Read', 'Bash'], ['Bash(git:*)', 'Read'])).toEqual(['Read', 'Bash(git:*)']);
    expect(narrowTools(['Read'], ['Write'])).toEqual([]);
    expect(narrowTools(['*'], ['Read'])).toEqual(['Read']);
  });

  it('leave nothing of what one forbids whole', () => {
    expect(withoutTools(['Read', 'Bash', 'Bash(git:*)'], ['Bash'])).toEqual(['Read']);
    expect(withoutTools(['Read', 'Bash', 'Bash(rm:*)'], ['Bash(rm:*)'])).toEqual(['Read', 'Bash']);
    expect(withoutTools(['*'], ['Bash'])).toEqual(['*']);
    expect(withoutTools(['*', 'Read'], ['*'])).toEqual([]);
    expect(withoutTools(['*'], [])).toEqual(['*']);
  });
});
