import { describe, expect, test } from 'vitest';

import { AGENTS } from '../../src/activation/agents/agents.ts';
import type { Row } from '../../src/activation/agents/transcript.ts';

/** How each agent records that its tool for reading a file was called. */
const CALLS: Readonly<Record<string, (file: string) => Row>> = {
  'claude-code': (file) => ({
    type: 'assistant',
    message: { content: [{ type: 'tool_use', id: 'c', name: 'Read', input: { file_path: file } }] },
  }),
  'gemini-cli': (file) => ({
    type: 'gemini',
    id: 'm',
    toolCalls: [{ id: 'c', name: 'read_file', args: { file_path: file }, status: 'success' }],
  }),
  'github-copilot': (file) => ({
    type: 'tool.execution_start',
    data: { toolCallId: 'c', toolName: 'view', arguments: { path: file } },
  }),
  opencode: (file) => ({
    table: 'part',
    id: 'p',
    session_id: 's',
    message_id: 'm',
    data: JSON.stringify({
      type: 'tool',
      tool: 'read',
      callID: 'c',
      state: { status: 'completed', input: { filePath: file } },
    }),
  }),
  pi: (file) => ({
    type: 'message',
    message: { role: 'assistant', content: [{ type: 'toolCall', id: 'c', name: 'read', arguments: { path: file } }] },
  }),
  'qwen-code': (file) => ({
    type: 'assistant',
    message: { parts: [{ functionCall: { id: 'c', name: 'read_file', args: { absolute_path: file } } }] },
  }),
};

function skillsIn(agent: string, row: Row): readonly string[] {
  const read = AGENTS.find(({ id }) => id === agent)?.transcript.open();
  return (read?.(row) ?? []).flatMap((event) => (event.type === 'call' || event.type === 'load' ? [event.skill] : []));
}

describe.each(Object.entries(CALLS))('%s', (agent, call) => {
  test.each([
    ['/home/ada/.agent/shelf/pdf/SKILL.md', ['pdf']],
    ['/home/ada/my skills/pdf forms/SKILL.md', ['pdf forms']],
    [String.raw`C:\Users\ada\.agent\skills\pdf\SKILL.md`, ['pdf']],
    ['/home/ada/.agent/skills/pdf/reference.md', []],
    ['/home/ada/.agent/skills/pdf/SKILL.md.orig', []],
    ['SKILL.md', []],
    ['', []],
  ])('a read of %s loads %j', (file, skills) => {
    expect(skillsIn(agent, call(file))).toEqual(skills);
  });
});

test('another tool that names the file loads nothing', () => {
  const input = { file_path: '/home/ada/.agent/skills/pdf/SKILL.md', old_string: 'a', new_string: 'b' };
  const content = [{ type: 'tool_use', id: 'c', name: 'Edit', input }];
  expect(skillsIn('claude-code', { type: 'assistant', message: { content } })).toEqual([]);
});
