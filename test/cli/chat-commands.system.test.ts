/** Commands of a chat at a terminal that go back, compare, shorten, run something, and name what it costs. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { chunk, serve, startStream } from '../model/local-server.ts';
import { needs } from '../needs.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { SHARED_CACHE, temporaryFolder, writeFiles } from './run-cli.ts';

const PROGRAM = path.join(PROJECT, 'dist/command/skillwright.js');
const home = temporaryFolder();
const CHAT = ['chat', '--model', 'scripted:script.json', '--executor', 'none', '--set', 'policy.allow=["write_file"]'];

const write = (file: string, content: string): object => ({
  toolCalls: [{ name: 'write_file', input: { path: file, content } }],
});
const answer = (text: string): object => ({ text });

function project(turns: readonly object[]): string {
  const folder = temporaryFolder();
  writeFiles(folder, { 'a.txt': 'one\n', 'script.json': JSON.stringify({ turns }) });
  return folder;
}

function chat(folder: string, steps: readonly Step[], words: readonly string[] = []): Promise<Screen> {
  return atTerminal([process.execPath, PROGRAM, ...CHAT, ...words], steps, {
    cwd: folder,
    env: { HOME: home, ...SHARED_CACHE },
  });
}

const SECRET = 'gsk-canary-5f2b81c09d7e';

const until = (text: string): Step => ({ until: text });
const keys = (text: string): Step => ({ keys: text });
const PROMPT = until('> ');
const QUIT = [PROMPT, keys('/quit\r')] as const;
const text = (folder: string, file: string): string => readFileSync(path.join(folder, file), 'utf8');

/** Three messages: the first two change a.txt, the second also makes b.txt. */
const CHANGES = [
  write('a.txt', 'two\n'),
  answer('First.'),
  write('a.txt', 'three\n'),
  write('b.txt', 'new\n'),
  answer('Second.'),
  answer('Third.'),
];
const SEND_THREE = [
  PROMPT,
  keys('make two\r'),
  until('First.'),
  PROMPT,
  keys('make three\r'),
  until('Second.'),
  PROMPT,
  keys('and now\r'),
  until('Third.'),
] as const;

describe('at a terminal', needs('python3 with pty'), () => {
  verifies(
    ['UNDO-1', 'AGT-13'],
    '/rewind lists messages, /diff compares, and /rewind N restores files and puts the message back',
    async () => {
      const folder = project([...CHANGES, answer('Again.')]);
      const { text: screen } = await chat(folder, [
        ...SEND_THREE,
        PROMPT,
        keys('/rewind\r'),
        until('/rewind N goes back'),
        PROMPT,
        keys('/diff\r'),
        until('b.txt (new)'),
        PROMPT,
        keys('/diff 2\r'),
        until('- two'),
        PROMPT,
        keys('/rewind 2\r'),
        until('removed: "make three" and 1 later message'),
        until('2 files as before the run'),
        until('make three'),
        keys(' please\r'),
        until('Again.'),
        ...QUIT,
      ]);
      expect(screen).toContain('  2  "make three"  (2 files changed)');
      expect(screen).toMatch(/a\.txt \+1 -1\r\n- one\r\n\+ three/);
      expect(screen).toContain('make three please');
      expect(text(folder, 'a.txt')).toBe('two\n');
      expect(() => text(folder, 'b.txt')).toThrow('ENOENT');
    },
  );

  test('an edit of the user is left alone, also between two messages, and /rewind refuses unknown numbers', async () => {
    const folder = project(CHANGES);
    const { text: screen } = await chat(folder, [
      ...SEND_THREE,
      PROMPT,
      keys('!echo mine | tee a.txt\r'),
      until('mine\r\n'),
      PROMPT,
      keys('/rewind 7\r'),
      until('there is no message 7: messages are 1 to 3'),
      PROMPT,
      keys('/rewind 1\r'),
      until('left alone  a.txt'),
      until('file as before'),
      until('make two'),
      keys('\u0015/quit\r'),
    ]);
    expect(screen).toContain('it changed after the run');
    expect(text(folder, 'a.txt')).toBe('mine\n');
    expect(() => text(folder, 'b.txt')).toThrow('ENOENT');
  });

  test('!command runs in the project, and the model reads its output with the next message', async () => {
    const contains = [
      'what is wrong?',
      'I ran this command myself: cat a.txt; exit 3',
      'exit code 3; its output:\none',
    ];
    const folder = project([{ ...answer('Seen.'), expect: { contains } }]);
    const { text: screen } = await chat(folder, [
      PROMPT,
      keys('!cat a.txt; exit 3\r'),
      until('one\r\n'),
      PROMPT,
      keys('what is wrong?\r'),
      until('done after'),
      PROMPT,
      keys('/rewind 1\r'),
      until('removed:'),
      until('what is wrong?'),
      until('what is wrong?'),
      keys(' Say it.'),
      until('Say it.'),
      keys('\u0015/quit\r'),
    ]);
    expect(screen).toContain('Seen.');
  });

  verifies('POL-4', 'no known secret reaches the model: not by !command, a message, or AGENTS.md', async () => {
    const folder = project([]);
    writeFiles(folder, { 'AGENTS.md': `The token is ${SECRET}.` });
    const server = await serve((response) =>
      startStream(response).end(chunk({ content: 'Seen.' }) + chunk({}, 'stop') + 'data: [DONE]\n\n'),
    );
    try {
      const { text: screen } = await atTerminal(
        [process.execPath, PROGRAM, 'chat', '--model', 'openai-compatible/m', '--executor', 'none'],
        [
          PROMPT,
          keys('!echo "token $GROQ_API_KEY"; yes "$GROQ_API_KEY" | head -3000\r'),
          until(`token ${SECRET}`),
          PROMPT,
          keys(`what is ${SECRET}?\r`),
          until('Seen.'),
          ...QUIT,
        ],
        { cwd: folder, env: { HOME: home, ...SHARED_CACHE, OPENAI_BASE_URL: server.url, GROQ_API_KEY: SECRET } },
      );
      expect(screen).toContain('Seen.');
    } finally {
      await server.close();
    }
    const sent = JSON.stringify(server.requests.map(({ body }) => body));
    expect(sent).toContain('[secret GROQ_API_KEY]');
    expect(sent).toContain('The token is [secret');
    // No part of it either, which a cut could leave.
    expect(sent).not.toContain(SECRET.slice(-8));
  });

  test('Ctrl-C stops a !command and not the chat', async () => {
    const { status, text: screen } = await chat(project([]), [
      PROMPT,
      keys('!echo started; exec sleep 300\r'),
      until('started\r\n'),
      keys('\u0003'),
      PROMPT,
      keys('/diff\r'),
      until('no differences'),
      ...QUIT,
    ]);
    expect([status, screen]).toEqual([0, expect.not.stringContaining('continue with')]);
  });

  test('@SKILL loads a skill, Tab completes it, /cost names the money, and /help lists commands and skills', async () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 100_000 };
    const folder = project([{ ...answer('Loaded.'), usage }]);
    const prices = { scripted: { input: 2, output: 10, date: '2026-01-02' } };
    const words = ['--set', `evals.prices=${JSON.stringify(prices)}`];
    const steps = [
      PROMPT,
      keys('/help\r'),
      until('/NAME    invoke a skill with arguments: /'),
      PROMPT,
      keys('use @csv-rep\t'),
      until('@csv-report'),
      keys('\r'),
      until('Loaded.'),
      PROMPT,
      keys('/cost\r'),
      until('csv-report'),
      ...QUIT,
    ];
    const { text: screen } = await chat(folder, steps, words);
    expect(screen).toContain('scripted: $3.00 at prices of 2026-01-02');
    for (const command of ['/rewind', '/diff', '/compact', '/cost', '/undo', '!COMMAND'])
      expect(screen).toContain(command);
    expect(screen).toContain('csv-report@0.1.0 SKILL.md (load)');
  });

  test('/compact shortens older exchanges, and says so if there are none', async () => {
    const turns = Array.from({ length: 4 }, (_, at) => answer(`Answer ${String(at)}. ${'word '.repeat(300)}`));
    const { text: screen } = await chat(project(turns), [
      PROMPT,
      keys('/compact\r'),
      until('nothing to shorten'),
      ...turns.flatMap((_, at) => [PROMPT, keys(`message ${String(at)}\r`), until('done after')]),
      PROMPT,
      keys('/compact\r'),
      until('conversation shortened'),
      ...QUIT,
    ]);
    expect(screen).toMatch(/conversation shortened from about [\d,]+ to [\d,]+ tokens/);
  });
});
