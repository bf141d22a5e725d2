import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { ApprovalDetail, ApprovalRequest } from '../../src/core/approval.ts';
import { approvalLines } from '../../src/policy/approval-text.ts';
import { findHidden } from '../../src/core/text/text.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { textWidth } from '../../src/platform/text-width.ts';
import { commandRequest, requestOf } from './approval-request.ts';
import { runs } from '../property-runs.ts';

const show = (request: ApprovalRequest, width = 80, isWhole = false): readonly string[] =>
  approvalLines(request, { width, show: isWhole ? 'whole' : 'short' });

/** Every line that we write ourselves. Nothing of a stranger can look like one of them, because it has a frame. */
const OURS = [
  /^approval needed; risk: (?:low|medium|high)$/,
  /^(?:tool|programs|script|file|request|what|starts in|stdin|text for the editor):$/,
  /^required by a rule \([a-z-]+\):$/,
  /^skill (?:with the digest [0-9a-f]{12}|without a digest):$/,
  /^(?:command|body), [\d,]+ characters:$/,
  /^(?:arguments|environment|headers|input files) \([\d,]+\):$/,
  /^file to delete, [\d,]+ bytes:$/,
  /^a new file, [\d,]+ lines?:$/,
  /^changes, [\d,]+ lines? added, [\d,]+ removed:$/,
  /^the content does not change$/,
  /^ {2}from line [\d,]+$/,
  /^ {2}the line end at the end of the file is (?:added|removed)$/,
  /^ {2}… [\d,]+ of [\d,]+(?: characters| lines)? omitted; digest of everything:$/,
  /^ {2}sha256 [0-9a-f]{64}$/,
  /^affects \d+:$/,
  /^isolation: (?:bubblewrap|container|seatbelt|none; it can do everything that you can do)$/,
  /^[\d,]+ characters are not ASCII; some may imitate others$/,
  /^id: (?:[0-9a-f]{12}|none)$/,
];

const isOurs = (line: string): boolean => OURS.some((pattern) => pattern.test(line));
const framed = (lines: readonly string[]): readonly string[] => lines.filter((line) => /^ {2}│[ ↳]/.test(line));

describe('a question', () => {
  test('says what, why, of which skill, with what, and behind which walls', () => {
    const action = {
      type: 'run_command',
      command: 'git push origin main',
      env: { GIT_DIR: '/x' },
      stdin: 'y\n',
      cwd: 'work',
      inputs: [{ from: 'host://a.txt', to: 'work/a.txt' }],
    } as const;
    const request = commandRequest(action.command, {
      action,
      risk: 'high',
      affects: ['.git', 'origin'],
      capabilities: [],
    });
    expect(show(request)).toEqual([
      'approval needed; risk: high',
      'tool:',
      '  │ run_command',
      'required by a rule (user):',
      '  │ run_command',
      '  │ /home/me/.agent/config.json',
      'skill with the digest abababababab:',
      '  │ project/release',
      'command, 20 characters:',
      '  │ git push origin main',
      'starts in:',
      '  │ work',
      'environment (1):',
      '  │ GIT_DIR=/x',
      'stdin:',
      '  │ y',
      '  │ ',
      'input files (1):',
      '  │ host://a.txt as work/a.txt',
      'affects 2:',
      '  │ .git',
      '  │ origin',
      'isolation: bubblewrap',
      'contained: isolated, no network, no secrets, no write access to your files',
      'id: 0123456789ab',
    ]);
  });

  test('shows each argument of a script for itself, empty ones and those with spaces too', () => {
    const detail: ApprovalDetail = { kind: 'script', script: 'scripts/a.py', args: ['', ' x ', 'two\nlines', '"'] };
    const action = { type: 'run_script', skill: 'a', script: 'a.py', args: detail.args } as const;
    const lines = show(requestOf({ detail, action }));
    expect(lines.slice(lines.indexOf('script:'), -2)).toEqual([
      'script:',
      '  │ scripts/a.py',
      'arguments (4):',
      '  │ ""',
      '  │ " x "',
      '  │ "two\\nlines"',
      '  │ "\\""',
    ]);
  });

  test('shows a change of a file as a diff with counts', () => {
    const detail: ApprovalDetail = {
      kind: 'write',
      path: 'a.txt',
      before: 'one\ntwo\nthree\n',
      after: 'one\n2\r\nthree',
    };
    const lines = show(requestOf({ detail, action: { type: 'write_file', path: 'a.txt', content: detail.after } }));
    expect(lines.slice(lines.indexOf('file:'), -2)).toEqual([
      'file:',
      '  │ a.txt',
      'changes, 1 line added, 1 removed:',
      '  │   one',
      '  │ - two',
      '  │ + 2\\r',
      '  │   three',
      '  the line end at the end of the file is removed',
    ]);
  });

  test('shows at most 40 lines of a diff, its start and its end, and says how many there are', () => {
    const after = Array.from({ length: 500 }, (_, at) => `new ${String(at)}\n`).join('');
    const detail: ApprovalDetail = { kind: 'write', path: 'a.txt', before: undefined, after };
    const lines = show(requestOf({ detail }));
    const shown = lines.filter((line) => line.startsWith('  │ + '));
    expect([shown.length, shown[0], shown.at(-1)]).toEqual([40, '  │ + new 0', '  │ + new 499']);
    expect(lines).toContain('a new file, 500 lines:');
    expect(lines).toContain('  … 460 of 500 lines omitted; digest of everything:');
    expect(lines).toContain(`  sha256 ${sha256(after)}`);
    expect(show(requestOf({ detail }), 80, true).filter((line) => line.startsWith('  │ + ')).length).toBe(500);
  });

  test('shows requests, deletions and what is none of these', () => {
    const shown = (detail: ApprovalDetail): readonly string[] => {
      const lines = show(requestOf({ detail, action: { type: 'final_answer', answer: '' } }));
      return lines.slice(lines.indexOf('  │ project/release') + 1, -2);
    };
    expect(shown({ kind: 'request', method: 'POST', url: 'https://a.example/', body: '{}' })).toEqual([
      'request:',
      '  │ POST https://a.example/',
      'body, 2 characters:',
      '  │ {}',
    ]);
    expect(shown({ kind: 'delete', path: 'a', bytes: 1234 })).toEqual(['file to delete, 1,234 bytes:', '  │ a']);
    expect(shown({ kind: 'other', summary: 'calls it' })).toEqual(['what:', '  │ calls it']);
    expect(shown({ kind: 'write', path: 'a', before: 'x', after: 'x' }).at(-1)).toBe('the content does not change');
  });

  test('the start and the end of a command of 10 kB are both seen, with what is left out and the hash of all', () => {
    const command = `START ${'x'.repeat(10_000)} END`;
    const lines = show(commandRequest(command));
    const rows = framed(lines);
    expect(rows.find((line) => line.includes('START'))).toBe(`  │ START ${'x'.repeat(69)}`);
    expect(rows.some((line) => line.endsWith('x END'))).toBe(true);
    expect(lines.length).toBeLessThan(40);
    expect(lines).toContain(`  sha256 ${sha256(command)}`);
    const [, left = '', all = ''] = /… ([\d,]+) of ([\d,]+) characters/.exec(lines.join('\n')) ?? [];
    const shown = rows.slice(4).reduce((sum, line) => sum + line.length - 4, 0);
    expect([all, Number(left.replace(',', '')) + shown]).toEqual(['10,010', 10_010]);
  });

  test('ten thousand short lines are cut as well', () => {
    const lines = show(commandRequest('a\n'.repeat(10_000)));
    expect(lines.length).toBeLessThan(45);
  });

  test('the id is short, and an invalid one is reported', () => {
    const idIn = (id: string): string | undefined => show(requestOf({ id })).at(-1);
    expect([idIn(requestOf().id), idIn('sha256:zz')]).toEqual(['id: 0123456789ab', 'id: none']);
  });
});

describe('a hostile text', () => {
  const shownCommand = (command: string, width = 80): readonly string[] => {
    const lines = show(commandRequest(command), width);
    const from = lines.findIndex((line) => line.startsWith('command,')) + 1;
    return lines.slice(from, lines.indexOf('isolation: bubblewrap'));
  };

  test.each([
    ['ANSI', 'ls \x1b[2J\x1b[H', ['  │ ls \\x1b[2J\\x1b[H']],
    ['a hyperlink (OSC 8)', '\x1b]8;;http://x\x07a\x1b]8;;\x07', ['  │ \\x1b]8;;http://x\\x07a\\x1b]8;;\\x07']],
    ['the clipboard (OSC 52)', '\x9d52;c;AA==\x9c', ['  │ \\x9d52;c;AA==\\x9c']],
    ['a row written over', 'rm -rf ~\rls', ['  │ rm -rf ~\\rls']],
    ['a faked question', 'ls\nApprove? [y]\nid: 0', ['  │ ls', '  │ Approve? [y]', '  │ id: 0']],
    ['a faked frame', '  │ ls\n│\n┃ x', ['  │   │ ls', '  │ │', '  │ ┃ x']],
    ['a turned direction', 'cat \u202etxt.exe', ['  │ cat \\u{202e}txt.exe']],
    ['letters that turn it', 'rm \u05d0 / \u0628', ['  │ rm \\u{5d0} / \\u{628}']],
    ['nothing to see', 'a\u200bb\u2060\u00ad\ufeff', ['  │ a\\u{200b}b\\u{2060}\\xad\\u{feff}']],
    ['spaces that are none', 'a\u00a0b\u3000c\u2800', ['  │ a\\u{a0}b\\u{3000}c\\u{2800}']],
    ['accents on the frame', '\u0338x', ['  │ \\u{338}x']],
    ['a tower of accents', `a${'\u0300'.repeat(5)}`, [`  │ a${'\u0300'.repeat(3)}\\u{300}\\u{300}`]],
    ['private and unassigned', '\ue000\u{fffff}\u0378', ['  │ \\u{e000}\\u{fffff}\\u{378}']],
    ['half a character', 'a\ud800b', ['  │ a\\u{d800}b']],
    ['a tab and a bell', 'a\tb\x07', ['  │ a\\tb\\x07']],
    ['indentation', '+ \t\tx\ty', ['  │ + →   →   x\\ty']],
  ])('%s is written out and stays in its frame', (_, command, expected) => {
    expect(shownCommand(command)).toEqual(expected);
  });

  test('wide characters fill no more than the row', () => {
    const rows = shownCommand('数'.repeat(60), 60);
    expect(rows.map((row) => [row.slice(0, 4), textWidth(row.slice(4))])).toEqual([
      ['  │ ', 54],
      ['  │↳', 54],
      ['  │↳', 12],
    ]);
  });

  test('letters that look like others are counted', () => {
    expect(show(commandRequest('c\u0430t'))).toContain('1 characters are not ASCII; some may imitate others');
  });

  test('whatever strangers write, it is framed, visible and no wider than the screen', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.constantFrom('\r', '\x1b[1A', '  │ ', '\nid: 0123456789ab', '\u0300'.repeat(50), '\u{1f468}\u200d'.repeat(40)),
    );
    const texts = fc.array(text, { maxLength: 30 });
    const detail: fc.Arbitrary<ApprovalDetail> = fc.oneof(
      fc.record({ kind: fc.constant('command' as const), command: text, programs: texts }),
      fc.record({ kind: fc.constant('script' as const), script: text, args: texts }),
      fc.record({
        kind: fc.constant('write' as const),
        path: text,
        before: fc.option(text, { nil: undefined }),
        after: text,
      }),
      fc.record({ kind: fc.constant('delete' as const), path: text, bytes: fc.nat() }),
      fc.record({ kind: fc.constant('request' as const), method: text, url: text, body: text }),
      fc.record({ kind: fc.constant('other' as const), summary: text }),
    );
    fc.assert(
      fc.property(detail, text, texts, fc.integer({ min: 25, max: 200 }), (what, name, affects, width) => {
        const lines = show(
          requestOf({
            detail: what,
            affects,
            tool: name,
            rule: name,
            origin: { layer: 'project', where: name },
            skill: { id: name, name, digest: name },
            id: name,
            action: { type: 'run_command', command: name, env: { [name]: name }, stdin: name, cwd: name },
          }),
          width,
        );
        const foreign = framed(lines);
        expect(lines.filter((line) => !foreign.includes(line) && !isOurs(line))).toEqual([]);
        expect(foreign.filter((line) => findHidden(line) !== undefined)).toEqual([]);
        expect(foreign.filter((line) => textWidth(line) >= width)).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });
});
