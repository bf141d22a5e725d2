import { describe, expect, test } from 'vitest';

import { FAILURES } from '../../../src/core/failure-codes.ts';
import { readResourceFile, type ReadResourceOptions } from '../../../src/skills/loader/read-resource.ts';
import { verifies } from '../../conformance/verifies.ts';
import { digestOf, makeSkill } from './support.ts';

const GUIDE = '# Guide\n\nHello.\n\n## Setup\n\nOne.\nTwo.\n\n## Use\n\nThree.\n';

function readText(content: string | Buffer, options: ReadResourceOptions, file = 'references/x.md'): unknown {
  const read = readResourceFile(makeSkill({ [file]: content }), file, options);
  if (read.type === 'failed') return read.failure;
  const { truncated, next } = read.report;
  return { text: read.text, lines: read.lines, truncated, notes: read.notes, next };
}

describe('a file of a skill', () => {
  verifies(['DISC-3', 'DISC-4'], 'is read whole, with a report of what was read', () => {
    expect(readResourceFile(makeSkill({ 'references/guide.md': GUIDE }), './references//guide.md')).toEqual({
      type: 'read',
      mediaType: 'text/markdown',
      isBinary: false,
      text: GUIDE,
      lines: { from: 1, to: 12 },
      totalLines: 12,
      report: {
        path: 'references/guide.md',
        digest: digestOf(GUIDE),
        bytes: GUIDE.length,
        characters: GUIDE.length,
        truncated: false,
        reference: 'skill://demo/references/guide.md',
      },
      notes: [],
      headings: [],
    });
  });

  verifies(
    'DISC-3',
    'is read by section; a section that does not exist gives the start, a note and the headings',
    () => {
      const skill = makeSkill({ 'references/guide.md': GUIDE });
      expect(readResourceFile(skill, 'references/guide.md', { section: 'setup' })).toMatchObject({
        text: '## Setup\n\nOne.\nTwo.\n\n',
        lines: { from: 5, to: 9 },
        totalLines: 12,
        report: { characters: 21, truncated: false },
        headings: [],
      });
      expect(readResourceFile(skill, 'references/guide.md', { section: 'Nothing like it\u202E' })).toMatchObject({
        text: GUIDE,
        lines: { from: 1, to: 12 },
        report: { truncated: false },
        notes: [String.raw`section "Nothing like it\u{202e}" not found; this is the start of the file`],
        headings: ['# Guide', '## Setup', '## Use'],
      });
    },
  );

  verifies('DISC-3', 'is read by lines; lines it does not have are refused with the number it has', () => {
    const whole = { truncated: false, notes: [] };
    expect(readText('a\nb\nc\n', { lines: { from: 2 } })).toEqual({
      text: 'b\nc\n',
      lines: { from: 2, to: 3 },
      ...whole,
    });
    expect(readText('a\nb\nc', { lines: { from: 2, to: 2 } })).toEqual({
      text: 'b\n',
      lines: { from: 2, to: 2 },
      ...whole,
    });
    expect(readText('a\nb\nc', { lines: { from: 1, to: 99 } })).toEqual({
      text: 'a\nb\nc',
      lines: { from: 1, to: 3 },
      ...whole,
    });
    for (const lines of [
      { from: 0 },
      { from: -1 },
      { from: 1.5 },
      { from: 4 },
      { from: 3, to: 2 },
      { from: NaN },
      { from: 1, to: NaN },
    ])
      expect(readText('a\nb\nc\n', { lines })).toMatchObject({
        code: 'lines/invalid',
        message: expect.stringContaining('"references/x.md" has 3 lines'),
      });
    expect(readText('', { lines: { from: 1 } })).toMatchObject({ code: 'lines/invalid' });
    expect(readText('', {})).toEqual({ text: '', lines: { from: 0, to: 0 }, ...whole });
  });

  verifies('DISC-3', 'shows 12,000 characters at once, up to the end of a line, and says how to read on', () => {
    const text = `${'x'.repeat(99)}\n`.repeat(300);
    expect(readText(text, {})).toEqual({
      text: text.slice(0, 12_000),
      lines: { from: 1, to: 120 },
      truncated: true,
      next: 12_000,
      notes: [],
    });
    expect(readText(text, { lines: { from: 121, to: 290 } })).toEqual({
      text: text.slice(0, 12_000),
      lines: { from: 121, to: 240 },
      truncated: true,
      next: 24_000,
      notes: [],
    });
    expect(readText(text, { lines: { from: 290 } })).toMatchObject({ lines: { from: 290, to: 300 }, truncated: false });
    expect(readText(text, { offset: 24_050 })).toEqual({
      text: text.slice(24_050),
      lines: { from: 241, to: 300 },
      truncated: false,
      notes: [],
    });
    expect(readText(text, { offset: 30_000 })).toMatchObject({
      code: 'lines/invalid',
      message: '"references/x.md" has 30000 characters; offset 30000 was requested',
    });
  });

  test('with lines that are too long is cut between two characters, and reading on comes to an end', () => {
    expect(readText('😀'.repeat(100_000), {})).toEqual({
      text: '😀'.repeat(12_000),
      lines: { from: 1, to: 1 },
      truncated: true,
      next: 24_000,
      notes: [],
    });
    const three = `first\n${'y'.repeat(20_000)}\nlast\n`;
    const cutInside = { truncated: true };
    expect(readText(three, {})).toEqual({
      text: `first\n${'y'.repeat(11_994)}`,
      lines: { from: 1, to: 2 },
      notes: [],
      next: 12_000,
      ...cutInside,
    });
    expect(readText(three, { lines: { from: 2 } })).toEqual({
      text: 'y'.repeat(12_000),
      lines: { from: 2, to: 2 },
      notes: [],
      next: 12_006,
      ...cutInside,
    });
    expect(readText(three, { offset: 12_006 })).toEqual({
      text: three.slice(12_006),
      lines: { from: 2, to: 3 },
      truncated: false,
      notes: [],
    });
    // An offset inside a surrogate pair starts with the whole character.
    expect(readText('😀b', { offset: 1 })).toMatchObject({ text: '😀b' });
  });

  verifies('DISC-3', 'that is binary is described and not shown, whatever it is called', () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    expect(readResourceFile(makeSkill({ 'references/x.md': png }), 'references/x.md')).toEqual({
      type: 'read',
      mediaType: 'image/png',
      isBinary: true,
      text: '',
      lines: { from: 0, to: 0 },
      totalLines: 0,
      report: {
        path: 'references/x.md',
        digest: digestOf(png),
        bytes: 16,
        characters: 0,
        truncated: false,
        reference: 'skill://demo/references/x.md',
      },
      notes: [],
      headings: [],
    });
  });

  test('is cleaned, and a note says so', () => {
    expect(readText('\uFEFFa\u200B\r\nb\u202E\n', {})).toEqual({
      text: 'a\nb\n',
      lines: { from: 1, to: 2 },
      truncated: false,
      notes: ['2 hidden or control characters were removed'],
    });
  });
});

describe('a file that cannot be had', () => {
  test('is answered with the real names most like it', () => {
    const skill = makeSkill({
      'references/forms.md': '',
      'references/zebra-stripes.txt': '',
      'scripts/fill.py': '',
      'fill.toml': '',
    });
    expect(readResourceFile(skill, 'references/form.md')).toEqual({
      type: 'failed',
      failure: {
        code: 'file/missing',
        message: '"references/form.md" of the skill "demo" does not exist',
        hint: FAILURES['file/missing'],
        nearest: ['references/forms.md'],
      },
    });
    expect(readResourceFile(skill, 'fill.py')).toMatchObject({
      failure: { code: 'file/missing', nearest: ['scripts/fill.py'] },
    });
  });

  verifies('DISC-3', 'of another kind than those offered is not given', () => {
    const skill = makeSkill({
      '.env': 'KEY=1',
      'LICENSE.txt': 'MIT',
      LICENSE: 'MIT',
      'src/index.ts': '',
      'docs/deep/a.txt': 'a',
    });
    expect(readResourceFile(skill, 'LICENSE')).toEqual({
      type: 'failed',
      failure: {
        code: 'path/not-offered',
        message: '"LICENSE" is not among the files that the skill "demo" offers',
        hint: FAILURES['path/not-offered'],
        nearest: ['LICENSE.txt'],
      },
    });
    for (const file of ['.env', 'src/index.ts'])
      expect(readResourceFile(skill, file)).toMatchObject({ failure: { code: 'path/not-offered' } });
    for (const file of ['LICENSE.txt', 'docs/deep/a.txt', 'SKILL.md'])
      expect(readResourceFile(skill, file)).toMatchObject({ type: 'read', isBinary: false });
  });

  verifies('DISC-3', 'because it has more than 2,000,000 bytes is refused', () => {
    const skill = makeSkill({ 'assets/large.txt': 'x'.repeat(2_000_001), 'assets/fits.txt': 'x'.repeat(2_000_000) });
    expect(readResourceFile(skill, 'assets/large.txt')).toMatchObject({
      failure: {
        code: 'file/too-large',
        message: '"assets/large.txt" of the skill "demo" is too large (2000001 bytes)',
      },
    });
    expect(readResourceFile(skill, 'assets/fits.txt')).toMatchObject({ type: 'read', report: { bytes: 2_000_000 } });
  });
});
