import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openTrust } from '../../src/policy/trust.ts';
import type { ApprovalRequest } from '../../src/core/approval.ts';
import { commandRequest } from '../policy/approval-request.ts';
import { PROJECT } from '../files-below.ts';
import { built, scratch, writeSkill } from '../skills/registry/support.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { needs } from '../needs.ts';
const COMMAND = [process.execPath, path.join(PROJECT, 'dist/command/skillwright.js')];
/** More than keys need to count. */
const PAUSE = { seconds: 0.6 };

interface World {
  readonly home: string;
  readonly project: string;
}

function world(): World {
  const base = scratch();
  const [home, project] = [path.join(base, 'home'), path.join(base, 'project')];
  mkdirSync(home);
  writeSkill(path.join(project, '.agent/skills/release'));
  return { home, project };
}

const trustedIn = ({ home }: World): readonly string[] =>
  openTrust({ home, bind: 'path' })
    .list()
    .folders.map(({ folder }) => folder);

function trust(at: World, steps: readonly Step[]): Promise<Screen> {
  return atTerminal([...COMMAND, 'trust', '--no-cache'], steps, { cwd: at.project, env: { HOME: at.home } });
}

/** Asks as a run would, and prints the answer and whether it was interrupted. */
const ASKING = `
  const [, ask, approver, request] = process.argv;
  const { askStreams, openTerminalAsker } = await import(ask);
  const { openApprovals } = await import(approver);
  let interrupts = 0;
  process.on('SIGINT', () => (interrupts += 1));
  const { approve } = openApprovals({ home: undefined, asker: openTerminalAsker(askStreams(process)) });
  const said = [await approve(JSON.parse(request), {}), await approve(JSON.parse(request), {})];
  await new Promise((resolve) => setTimeout(resolve, 50));
  console.log('ANSWERS ' + JSON.stringify({ said, interrupts, isRaw: process.stdin.isRaw }) + ' END');`;

async function ask(request: ApprovalRequest, steps: readonly Step[]): Promise<unknown> {
  const words = [
    process.execPath,
    '--input-type=module',
    '-e',
    ASKING,
    built('cli/terminal/ask.js'),
    built('policy/approval/approver.js'),
    JSON.stringify(request),
  ];
  const { text } = await atTerminal(words, steps, { cwd: scratch(), env: {} });
  const [, answers = `"${text}"`] = /ANSWERS (.*) END/.exec(text) ?? [];
  return JSON.parse(answers);
}

const MENU = { until: '[d]etails > ' };
const WORDS = { until: 'is no > ' };
const terminal = (verdict: string, scope: string): unknown => ({ verdict, scope, by: 'terminal' });

describe('at a real terminal', needs('python3 with pty'), () => {
  test('a project is trusted by a key', async () => {
    const at = world();
    const { status, text } = await trust(at, [{ until: '[n] no > ' }, PAUSE, { keys: 'y' }]);
    expect([status, trustedIn(at)]).toEqual([0, [at.project]]);
    expect(text).toContain('release  0 scripts, 1 file  sha256-tree:');
  });

  test('what was typed ahead trusts nothing', async () => {
    const at = world();
    const { status } = await trust(at, [
      { keys: 'y' },
      { keys: 'y\r' },
      { until: '[n] no > ' },
      { keys: 'y' },
      PAUSE,
      { keys: '\r' },
    ]);
    expect([status, trustedIn(at)]).toEqual([3, []]);
  });

  test('Ctrl-C interrupts, Ctrl-D is a no', async () => {
    const at = world();
    expect((await trust(at, [{ until: '[n] no > ' }, PAUSE, { keys: '\u0003' }])).status).toBe(130);
    expect((await trust(at, [{ until: '[n] no > ' }, PAUSE, { keys: '\u0004' }])).status).toBe(3);
    expect(trustedIn(at)).toEqual([]);
  });

  test('a pasted word is no answer to a high-risk question', async () => {
    const no = [{ keys: 'no\r' }, WORDS, PAUSE, { keys: 'no\r' }];
    expect(
      await ask(commandRequest('rm -r .', { risk: 'high' }), [WORDS, PAUSE, { paste: 'yes\n' }, PAUSE, ...no]),
    ).toEqual({
      said: [terminal('no', 'once'), terminal('no', 'once')],
      interrupts: 0,
      isRaw: false,
    });
  });

  test.each([['process.exit(1)'], ["setTimeout(() => { throw new Error('a bug'); })"]])(
    'a process that ends at a question with %s leaves the terminal without paste marks',
    async (end) => {
      const program = `
      const { askStreams, confirm } = await import(process.argv[1]);
      setTimeout(() => { ${end} }, 50);
      await confirm(askStreams(process), 'sure?', { signal: new AbortController().signal });`;
      const words = [process.execPath, '--input-type=module', '-e', program, built('cli/terminal/ask.js')];
      const { pasteModes } = await atTerminal(words, [], { cwd: scratch(), env: {} });
      expect(pasteModes).toBe('hl');
    },
  );

  test('two questions are asked in turn, with a key for one and for the run', async () => {
    expect(await ask(commandRequest('git status'), [MENU, PAUSE, { keys: 'y' }, MENU, PAUSE, { keys: 'r' }])).toEqual({
      said: [terminal('yes', 'once'), terminal('yes', 'run')],
      interrupts: 0,
      isRaw: false,
    });
  });

  test('the enter key that came after an answer is none to the next question', async () => {
    expect(
      await ask(commandRequest('git status'), [
        MENU,
        PAUSE,
        { keys: 'y' },
        { until: 'yes, once' },
        { keys: 'y\ry\r' },
        MENU,
        PAUSE,
        { keys: 'n' },
      ]),
    ).toEqual({ said: [terminal('yes', 'once'), terminal('no', 'once')], interrupts: 0, isRaw: false });
  });

  test('high risk takes the word', async () => {
    expect(
      await ask(commandRequest('rm -r x', { risk: 'high' }), [
        WORDS,
        PAUSE,
        { keys: 'y\r' },
        WORDS,
        PAUSE,
        ...[...'yes\r'].map((keys) => ({ keys })),
      ]),
    ).toEqual({ said: [terminal('no', 'once'), terminal('yes', 'once')], interrupts: 0, isRaw: false });
  });

  test('Ctrl-C is a no and an interrupt', async () => {
    expect(
      await ask(commandRequest('git status'), [MENU, PAUSE, { keys: '\u0003' }, MENU, PAUSE, { keys: '\u0003' }]),
    ).toEqual({ said: [terminal('no', 'once'), terminal('no', 'once')], interrupts: 2, isRaw: false });
  });
});
