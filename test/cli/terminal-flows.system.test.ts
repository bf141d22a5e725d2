/** Flows of chat, exec and trust at a terminal that other files try without one: invoked skills, subagents, compaction, remedies. */
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { needs } from '../needs.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { SHARED_CACHE, skillText, temporaryFolder, writeFiles } from './run-cli.ts';

const PROGRAM = path.join(PROJECT, 'dist/command/skillwright.js');
const home = temporaryFolder();
writeFiles(home, {
  '.agents/skills/greet/SKILL.md': skillText('greet', 'Greets by name. Use it for greetings.'),
  '.agents/skills/deep/SKILL.md':
    '---\nname: deep\ndescription: Works alone. Use it for deep work.\nmetadata:\n  run-mode: subagent\n---\n\nSay that you are deep.\n',
  '.agents/skills/tools/SKILL.md': skillText('tools', 'Has scripts.'),
  '.agents/skills/tools/scripts/parse.py': '# Parses a file.\nimport pypdf_that_nobody_has\n',
  '.agents/skills/tools/scripts/fetch.sh': '# Fetches a page.\nexec sleep 300 # curl https://example.org/\n',
});

function atHome(words: readonly string[], steps: readonly Step[], turns: readonly object[] = []): Promise<Screen> {
  const folder = temporaryFolder();
  writeFiles(folder, { 'script.json': JSON.stringify({ turns }) });
  const sized = ['sh', '-c', 'stty cols 60 rows 40; exec "$@"', 'sh', process.execPath, PROGRAM];
  return atTerminal([...sized, ...words], steps, { cwd: folder, env: { HOME: home, ...SHARED_CACHE } });
}

const CHAT = ['chat', '--model', 'scripted:script.json', '--executor', 'none'];
const send = (text: string): readonly Step[] => [{ until: '> ' }, { keys: `${text}\r` }];
const END = [{ until: '> ' }, { keys: '\u0004' }] as const;

describe('at a terminal of 60 columns', needs('python3 with pty'), () => {
  test('/NAME invokes a skill with its arguments', async () => {
    const { status, text } = await atHome(
      CHAT,
      [...send('/greet Ada'), { until: 'Hello Ada.' }, ...END],
      [{ expect: { contains: ['greet', 'Ada'] }, text: 'Hello Ada.' }],
    );
    expect(status, text).toBe(0);
  });

  test('a skill that runs as a subagent shows its own lines', async () => {
    const { text } = await atHome(
      CHAT,
      [...send('go deep'), { until: 'All of it.' }, ...END],
      [
        { toolCalls: [{ name: 'load_skill', input: { skill: 'deep' } }] },
        { text: 'I am deep.' },
        { text: 'All of it.' },
      ],
    );
    expect(text).toContain('subagent for ');
    expect(text).toContain('subagent done');
  });

  test('a conversation that grows too long is shortened by itself, and the terminal says so', async () => {
    const long = 'word '.repeat(3000);
    const messages = ['one', 'two', 'three', 'four'];
    const { status, text } = await atHome(
      [...CHAT, '--budget', 'contextTokens=12000'],
      [...messages.flatMap((message) => [...send(message), { until: `end of ${message}` }]), ...END],
      messages.map((message) => ({ text: `${long} end of ${message}` })),
    );
    expect(status, text.slice(-500)).toBe(0);
    expect(text).not.toContain('budget exhausted');
    expect(text).toContain('context compacted');
  });
});

describe('exec at a terminal', needs('bubblewrap', 'python3 with pty'), () => {
  test('lists scripts, names the remedy of a missing module, and says within seconds that there is no network', async () => {
    const listed = await atHome(['exec', 'tools'], []);
    expect(listed.text).toMatch(/scripts\/fetch\.sh +Fetches a page\.\r\nscripts\/parse\.py +Parses a file\./);
    const missing = await atHome(['exec', 'tools', 'parse.py'], []);
    expect(missing.status).toBe(1);
    expect(missing.text.replaceAll(/\s+/g, ' ')).toContain('the Python module pypdf_that_nobody_has is missing');
    const silent = await atHome(
      ['exec', 'tools', 'fetch.sh', '--timeout', '100'],
      [{ until: 'this program has no network' }, { keys: '\u0003' }],
    );
    expect(silent.text).not.toContain('timeout');
  });
});
