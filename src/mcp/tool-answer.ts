/** The answer of a tool of an MCP server as text. */
import type { CallToolResult } from '@modelcontextprotocol/client';

import type { ToolCalled } from '../core/observation.ts';
import { cleanText } from '../core/text/text.ts';

const MAX_CHARACTERS = 100_000;

export function toolCalled(name: string, { content, structuredContent, isError = false }: CallToolResult): ToolCalled {
  const parts = content.map(partText);
  const isEmpty = parts.every((part) => part === '');
  const whole =
    isEmpty && structuredContent !== undefined ? JSON.stringify(structuredContent) : cleanText(parts.join('\n'));
  return {
    type: 'tool-called',
    action: 'call_mcp_tool',
    name,
    text: whole.slice(0, MAX_CHARACTERS),
    isError,
    truncated: whole.length > MAX_CHARACTERS,
  };
}

function partText(part: CallToolResult['content'][number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type} ${part.mimeType}, ${String(Math.floor((part.data.length * 3) / 4))} bytes, not shown]`;
    case 'resource_link':
      return `[resource ${part.uri}]`;
    case 'resource':
      return 'text' in part.resource ? part.resource.text : `[resource ${part.resource.uri}, binary, not shown]`;
    default:
      return '[a part of an unknown kind, not shown]';
  }
}
