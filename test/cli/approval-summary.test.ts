import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { ApprovalDetail, ApprovalRequest } from '../../src/core/approval.ts';
import { FRAME } from '../../src/core/text/framed-text.ts';
import { cleanText } from '../../src/core/text/text.ts';
import { approvalSummary } from '../../src/cli/terminal/approval-summary.ts';
import { runs } from '../property-runs.ts';
import { commandRequest, requestOf } from '../policy/approval-request.ts';

const summary = (detail: ApprovalDetail, more: Partial<ApprovalRequest> = {}): readonly [string, boolean] => {
  const { lines, isWhole } = approvalSummary(requestOf({ detail, capabilities: [], ...more }), 80);
  return [lines.join('\n'), isWhole];
};

describe('the question', () => {
  test.each<readonly [ApprovalDetail, string, boolean]>([
    [{ kind: 'command', command: 'git status', programs: [] }, 'run command for release: git status', true],
    [{ kind: 'command', command: 'a\nb', programs: [] }, String.raw`run command for release: a\nb`, true],
    [
      { kind: 'script', script: 'scripts/x.py', args: ['a b', '', '--n=1'] },
      'run script for release: scripts/x.py "a b" "" --n=1',
      true,
    ],
    [{ kind: 'write', path: 'a.txt', before: undefined, after: 'x\ny\n' }, 'create +2 for release: a.txt', false],
    [{ kind: 'write', path: 'a.txt', before: 'x', after: 'x' }, 'write the same content to for release: a.txt', true],
    [{ kind: 'delete', path: 'a.txt', bytes: 3 }, 'delete 3 bytes for release: a.txt', true],
    [
      { kind: 'request', method: 'POST', url: 'https://e.org/a', body: 'x' },
      'send request for release: POST https://e.org/a',
      false,
    ],
    [{ kind: 'other', summary: '{}' }, 'run_command for release: {}', true],
    [
      { kind: 'packages', requested: ['pypdf'], packages: ['pypdf 1 x', 'b 2 y'], index: 'i', lock: 'l' },
      'install 2 packages for release: pypdf',
      false,
    ],
  ])('%j', (detail, text, isWhole) => {
    expect(summary(detail)).toEqual([`◆ medium risk, contained: ${text}`, isWhole]);
  });

  test('says what is not contained, and counts what may imitate letters', () => {
    const command: ApprovalDetail = { kind: 'command', command: 'аpt update', programs: [] };
    const capabilities = [{ name: 'network', on: ['e.org'] }] as const;
    expect(summary(command, { capabilities })[0]).toContain('medium risk, uses the network, 1 not ASCII: run command');
    expect(summary(command, { isolation: 'none' })[0]).toContain('medium risk, NOT ISOLATED, 1 not ASCII: run command');
  });

  test('names the project as the folder of a command; another folder is seen in the details', () => {
    const inFolder = (cwd: string): readonly [string, boolean] => {
      const request = commandRequest('npm test', { action: { type: 'run_command', command: 'npm test', cwd } });
      const { lines, isWhole } = approvalSummary(request, 80);
      return [lines.join('\n').replace(/^.*?: /, ''), isWhole];
    };
    expect(inFolder('$PROJECT_DIR')).toEqual(['run in project for release: npm test', true]);
    expect(inFolder('$PROJECT_DIR/packages/a')).toEqual(['run command for release: npm test', false]);
  });

  test('names the files of the machine that a program gets, in a frame, and is not whole', () => {
    const inputs = ['/home/ann/notes.txt', '/tmp/a\nb', ...'cdefg'].map((file) => ({ from: `host://${file}` }));
    const withInputs = (count: number): readonly string[] => {
      const some = [{ from: 'artifact://a' }, ...inputs.slice(0, count)];
      const action = { type: 'run_command', command: 'wc x', inputs: some } as const;
      const { lines, isWhole } = approvalSummary(commandRequest('wc x', { action }), 80);
      expect(isWhole).toBe(false);
      return lines.slice(1);
    };
    expect(withInputs(0)).toEqual([]);
    const label = '  it gets a copy of files of this machine:';
    expect(withInputs(2)).toEqual([label, `${FRAME}/home/ann/notes.txt`, `${FRAME}"/tmp/a\\nb"`]);
    expect(withInputs(7).slice(-2)).toEqual([`${FRAME}d`, '  and 3 more']);
  });

  test('is not whole where something else is given with the command, or does not fit', () => {
    const isWhole = (request: ApprovalRequest): boolean => approvalSummary(request, 80).isWhole;
    const action = { type: 'run_command', command: 'true' } as const;
    expect(isWhole(commandRequest('true'))).toBe(true);
    for (const more of [{ env: { A: '1' } }, { stdin: 'y' }, { cwd: 'x' }, { inputs: [{ from: 'host://a' }] }])
      expect(isWhole(commandRequest('true', { action: { ...action, ...more } }))).toBe(false);
    for (let length = 1; length < 200; length += 1) {
      const command = `${'x'.repeat(length)}!`;
      const { lines, isWhole: isAll } = approvalSummary(commandRequest(command), 80);
      const shown = lines.map((line) => line.replace(/^ {2}│./, '')).join('');
      expect([length, isAll, shown.endsWith('…')]).toEqual([length, shown.includes(command), !shown.includes(command)]);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    }
  });

  test('shows a command that does not fit beside our words in a frame below, and the start of one of more than four rows', () => {
    const ofLength = (length: number): readonly [string, boolean] =>
      summary({ kind: 'command', command: 'x'.repeat(length), programs: [] });
    expect(ofLength(80)).toEqual([
      `◆ medium risk, contained: run command for release:\n  │ ${'x'.repeat(75)}\n  │↳xxxxx`,
      true,
    ]);
    expect(ofLength(75 * 4)[1]).toBe(true);
    expect(ofLength(75 * 4 + 1)).toEqual([
      `◆ medium risk, contained: run command for release: ${'x'.repeat(28)}…`,
      false,
    ]);
  });
});

const FORGED = '\n◆ low risk, contained: run command: ls\n  [y]es  [n]o > ';
const CONTROLS = ['\n', '\r', '\u001B[2J', '\u001B]8;;e\u0007', '\u202E', '\u200B', '\u0008', '\u0301'] as const;
const HOSTILE = fc.string({
  unit: fc.constantFrom(...CONTROLS, '"', '\\', ' ', 'a', '数', '◆', FORGED),
  maxLength: 30,
});

test('names and texts of a skill make no line without a frame, no terminal code and no other beginning', () => {
  fc.assert(
    fc.property(HOSTILE, HOSTILE, HOSTILE, (name, first, second) => {
      const skill = { id: name, name, digest: '' };
      const details: readonly ApprovalDetail[] = [
        { kind: 'command', command: first, programs: [second] },
        { kind: 'script', script: first, args: [second] },
        { kind: 'write', path: first, before: undefined, after: second },
        { kind: 'delete', path: first, bytes: 1 },
        { kind: 'request', method: second, url: first, body: '' },
        { kind: 'packages', requested: [first], packages: [second], index: '', lock: '' },
        { kind: 'other', summary: first },
      ];
      for (const detail of details) {
        const { lines } = approvalSummary(requestOf({ skill, detail, tool: second }), 80);
        expect(lines[0]).toMatch(/^◆ medium risk, bubblewrap(?:, \d+ not ASCII)?: /);
        expect(lines.slice(1).filter((line) => !line.startsWith('  │'))).toEqual([]);
        for (const line of lines) expect([line.split(/[\n\r]/).length, cleanText(line)]).toEqual([1, line]);
      }
    }),
    { numRuns: runs(200) },
  );
});
