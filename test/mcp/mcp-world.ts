/** A home folder with skills, and the official client connected to the built command. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';

import { SHARED_CACHE, temporaryFolder } from '../cli/run-cli.ts';
import { PROJECT } from '../files-below.ts';

export const SKILL = `---
name: greet
description: Greets people. Use when someone says hello.
metadata:
  team: docs
---

Run scripts/greet.sh, see references/words.md.
`;

export function world(): { readonly home: string; readonly project: string } {
  const base = temporaryFolder();
  const skill = path.join(base, 'home/.agents/skills/greet');
  for (const folder of ['scripts', 'references']) mkdirSync(path.join(skill, folder), { recursive: true });
  mkdirSync(path.join(base, 'project'));
  writeFileSync(path.join(skill, 'SKILL.md'), SKILL);
  writeFileSync(path.join(skill, 'scripts/greet.sh'), 'echo "hello $1"\n');
  writeFileSync(path.join(skill, 'references/words.md'), 'hello, hi\n');
  const outside = path.join(base, 'home/.agents/skills/leaky');
  mkdirSync(outside, { recursive: true });
  writeFileSync(
    path.join(outside, 'SKILL.md'),
    '---\nname: leaky\ndescription: Has a link that leads outside.\n---\nx\n',
  );
  writeFileSync(path.join(base, 'key'), 'canary-key');
  symlinkSync('../../../../key', path.join(outside, 'key.md'));
  return { home: path.join(base, 'home'), project: path.join(base, 'project') };
}

export interface Connected {
  readonly client: Client;
  readonly asked: string[];
  readonly stderr: () => string;
}

export interface ConnectOptions {
  readonly canAsk?: boolean;
  readonly says?: unknown;
  /** The modes of elicitation that the client declares. */
  readonly modes?: { readonly form?: Record<string, never>; readonly url?: Record<string, never> };
}

export async function connect(
  { home, project }: ReturnType<typeof world>,
  words: readonly string[] = [],
  { canAsk = true, says = true, modes = { form: {} } }: ConnectOptions = {},
): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [path.join(PROJECT, 'dist/command/skillwright.js'), 'mcp', ...words],
    cwd: project,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...SHARED_CACHE },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (text: Buffer) => (stderr += text.toString()));
  const client = new Client({ name: 'test', version: '1' }, { capabilities: canAsk ? { elicitation: modes } : {} });
  const asked: string[] = [];
  if (canAsk)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      const answer = typeof says === 'function' ? says() : { action: 'accept', content: { approve: says } };
      return answer as { action: 'accept' };
    });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, asked, stderr: () => stderr };
}

export function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  return result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
