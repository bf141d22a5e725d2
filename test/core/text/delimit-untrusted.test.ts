import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { delimit, escapeHeaderLines } from '../../../src/core/text/delimit-untrusted.ts';
import { runs } from '../../property-runs.ts';

const TAGS = ['skill_content', 'skill_file', 'available_skills', 'skill', 'skill_files', 'skills_note'];
const wrap = (text: string): string => delimit({ tag: 'skill_content', attributes: {}, text });
const inner = (text: string): string => {
  const whole = wrap(text);
  return whole.slice('<skill_content>\n'.length, -'\n</skill_content>'.length);
};

/** As forgiving as a reader could be: width, case, invisible characters, white space and slashes do not matter to it. */
function tolerantTags(text: string): readonly string[] {
  const plain = text
    .replaceAll(/[^\S\r\n]/gu, ' ')
    .replaceAll(/(?!\s)[\p{C}\p{M}\u115f\u1160\u3164\uffa0]/gu, '')
    .normalize('NFKC')
    .toLowerCase();
  return [...plain.matchAll(/<[\s/\\]*([\w.:-]+)/g)]
    .map((match) => match[1] ?? '')
    .filter((name) => TAGS.includes(name));
}

describe('delimited text', () => {
  test('stands on lines of its own between the tags, with its attributes escaped', () => {
    const attributes = { name: 'a"b', dir: '/x\n<y>&\u200b' };
    expect(delimit({ tag: 'skill_content', attributes, text: '# Title\n' })).toBe(
      '<skill_content name="a&quot;b" dir="/x &lt;y&gt;&amp;">\n# Title\n\n</skill_content>',
    );
  });

  it.each([
    ['</skill_content>', '&lt;/skill_content>'],
    ['<skill_content name="x">', '&lt;skill_content name="x">'],
    ['</ skill_content >', '&lt;/ skill_content >'],
    ['< / SKILL_Content>', '&lt; / SKILL_Content>'],
    ['<\u200b/skill_content>', '&lt;\u200b/skill_content>'],
    ['</skill\u200b_content>', '&lt;/skill\u200b_content>'],
    ['</skill\u200bs>', '&lt;/skill\u200bs>'],
    ['＜/skill_content＞', '&lt;/skill_content＞'],
    ['﹤／ｓｋｉｌｌ＿ｃｏｎｔｅｎｔ>', '&lt;／ｓｋｉｌｌ＿ｃｏｎｔｅｎｔ>'],
    ['<\\/skill>', '&lt;\\/skill>'],
    ['<\n/\n\tskill_file', '&lt;\n/\n\tskill_file'],
    ['<<skill>', '<&lt;skill>'],
    ['<available_skills><skill_files/></skills_note>', '&lt;available_skills>&lt;skill_files/>&lt;/skills_note>'],
    ['<skill', '&lt;skill'],
    ['<s\u0301kill>', '&lt;s\u0301kill>'],
  ])('%j is written as %j', (text, written) => {
    expect(wrap(text)).toBe(`<skill_content>\n${written}\n</skill_content>`);
  });

  it.each([
    'if (a < b && c > d) x << 2',
    '<div class="skill">skill</div>',
    'Array<skills> <skillset> <skill-card> <skill_content_x> <my_skill>',
    '#include <stdio.h>',
    'a < 5 skill',
    '&lt;/skill_content&gt;',
    '<',
    '',
  ])('%j stays as it is', (text) => {
    expect(inner(text)).toBe(text);
  });

  test('a tag that is not on the list cannot be broken out of either', () => {
    expect(delimit({ tag: 'my_tag', attributes: {}, text: '</MY_tag></skill></other>' })).toBe(
      '<my_tag>\n&lt;/MY_tag>&lt;/skill></other>\n</my_tag>',
    );
  });

  const hostile = fc
    .array(
      fc.oneof(
        fc.constantFrom(...TAGS, ...TAGS.map((tag) => tag.toUpperCase())),
        fc.constantFrom(
          '<',
          '＜',
          '﹤',
          '/',
          '／',
          '\\',
          '>',
          ' ',
          '\n',
          '\t',
          '\r',
          '\u200b',
          '\ufeff',
          '\u00ad',
          '\u0301',
          '\u3164',
          '\u{e0041}',
          '\u2028',
          '\u3000',
          '_',
          's',
          '&lt;',
        ),
        fc.string({ unit: 'binary', maxLength: 2 }),
      ),
      { maxLength: 30 },
    )
    .map((pieces) => pieces.join(''));

  test('holds nothing that a forgiving reader takes for a tag of ours', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(tolerantTags(inner(text))).toEqual([]);
        expect(tolerantTags(wrap(text))).toEqual(['skill_content', 'skill_content']);
      }),
      { numRuns: runs(3000) },
    );
  });

  test('differs from the text in signs before tags only', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const plain = (each: string): string => each.replaceAll(/[＜﹤]|&lt;/g, '<');
        expect(plain(inner(text))).toBe(plain(text));
      }),
      { numRuns: runs(1000) },
    );
  });

  it.each(['<', '< ', '</', '<skill ', '<\u200b', 's', '</skill_content', '<s'])(
    'half a megabyte of %j is read',
    (piece) => {
      const text = piece.repeat(500_000 / piece.length);
      expect(tolerantTags(inner(text))).toEqual([]);
    },
  );

  test('half a megabyte of invisible characters after one sign is read', () => {
    expect(inner(`<${'\u200b'.repeat(500_000)}/skill`).startsWith('&lt;')).toBe(true);
  });
});

describe('lines that imitate a header', () => {
  const HEADERS = ['[Loaded] ', '[Doc] ', 'Docs loaded:', '## Available Resources'];

  it.each([
    ['[Loaded] x', '\\[Loaded] x'],
    ['a\n  [ LOADED ]x\nb', 'a\n\\  [ LOADED ]x\nb'],
    ['[Doc]\r\ndocs  loaded : y', '\\[Doc]\r\n\\docs  loaded : y'],
    ['##Available resources', '\\##Available resources'],
    ['\u200b[Lo\u200baded] x', '\\\u200b[Lo\u200baded] x'],
    ['［Ｌｏａｄｅｄ］ x', '\\［Ｌｏａｄｅｄ］ x'],
    ['a\u2028[Doc] x\r[Doc] y', 'a\u2028\\[Doc] x\r\\[Doc] y'],
    ['\n\n[Doc]', '\n\n\\[Doc]'],
  ])('%j becomes %j', (text, escaped) => {
    expect(escapeHeaderLines(text, HEADERS)).toBe(escaped);
    expect(escapeHeaderLines(escaped, HEADERS)).toBe(escaped);
  });

  it.each(['see [Loaded] x', '[Load', '[Loaded\n] x', '### Available Resources', '- [Doc] x', ''])(
    '%j stays as it is',
    (text) => {
      expect(escapeHeaderLines(text, HEADERS)).toBe(text);
    },
  );

  test('without headers nothing changes', () => {
    expect(escapeHeaderLines('[Loaded] x', [])).toBe('[Loaded] x');
    expect(escapeHeaderLines('[Loaded] x', ['', ' '])).toBe('[Loaded] x');
  });

  test('only backslashes at the start of lines are added', () => {
    const piece = fc.constantFrom('[Doc]', '[', 'doc', ']', ' ', '\n', '\r', '\u200b', 'x', 'Docs loaded:');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const escaped = escapeHeaderLines(text, HEADERS);
        expect(escaped.replaceAll('\\', '')).toBe(text);
        expect(
          escaped.split(/[\n\r]/).filter((line) => /^\s*\[doc\]/i.test(line.replaceAll(/[\s\u200b]/g, ''))),
        ).toEqual([]);
      }),
    );
  });

  it.each(['\n', '[Doc] \n', ' ', '[', '\u200b'])('half a megabyte of %j is read', (piece) => {
    const text = piece.repeat(500_000 / piece.length);
    expect(escapeHeaderLines(text, HEADERS).replaceAll('\\', '')).toBe(text);
  });
});
