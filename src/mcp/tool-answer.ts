/** The answer of a tool of an MCP server as an observation: text within limits, and the images that models may see. */
import type { CallToolResult } from '@modelcontextprotocol/client';

import { cleanText, detectMediaType, sliceStart, type Observation, type OfType } from '#core';

const MAX_CHARACTERS = 100_000;
/** What providers take: of one answer, and of one image. */
const MAX_IMAGES = 4;
const MAX_IMAGE_BYTES = 3 * 1024 * 1024;
const SHOWN_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

type Part = CallToolResult['content'][number];

export function toolCalled(
  name: string,
  { content, structuredContent, isError = false }: CallToolResult,
): OfType<Observation, 'tool-called'> {
  const images: Image[] = [];
  const parts = content.map((part) => partText(part, images));
  const isEmpty = parts.every((part) => part === '');
  const whole =
    isEmpty && structuredContent !== undefined ? JSON.stringify(structuredContent) : cleanText(parts.join('\n'));
  return {
    type: 'tool-called',
    action: 'call_mcp_tool',
    name,
    text: sliceStart(whole, MAX_CHARACTERS),
    ...(images.length === 0 ? {} : { images }),
    isError,
    truncated: whole.length > MAX_CHARACTERS,
  };
}

type Image = NonNullable<OfType<Observation, 'tool-called'>['images']>[number];

/** Adds the images that a model may see to `images`. */
function partText(part: Part, images: Image[]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
      return imageText(part, images);
    case 'audio':
      return `[audio ${part.mimeType}, ${bytesText(part.data)}, not shown]`;
    case 'resource_link':
      return `[link to the resource ${part.uri}]`;
    case 'resource': {
      const { resource } = part;
      if ('text' in resource) return resource.text;
      const { blob, mimeType = 'without a type', uri } = resource;
      return mimeType.startsWith('image/')
        ? imageText({ data: blob, mimeType }, images)
        : `[resource ${uri}, ${mimeType}, ${bytesText(blob)}, not shown]`;
    }
    default:
      return '[a part of an unknown kind, not shown]';
  }
}

/** The type comes from the bytes: a server may name any, and providers refuse a wrong one. */
function imageText({ data, mimeType }: { readonly data: string; readonly mimeType: string }, images: Image[]): string {
  const bytes = Buffer.from(data, 'base64');
  const { mediaType } = detectMediaType('', bytes);
  const problem = !SHOWN_TYPES.has(mediaType)
    ? `its bytes are not ${mimeType}`
    : bytes.length > MAX_IMAGE_BYTES
      ? `it is larger than ${String(MAX_IMAGE_BYTES)} bytes`
      : images.length >= MAX_IMAGES
        ? `only ${String(MAX_IMAGES)} images of one answer are shown`
        : undefined;
  if (problem !== undefined) return `[image ${mimeType}, ${bytesText(data)}, not shown: ${problem}]`;
  images.push({ mediaType, data: bytes.toString('base64') });
  return `[image ${mediaType}, ${bytesText(data)}]`;
}

function bytesText(base64: string): string {
  return `${String(Buffer.byteLength(base64, 'base64'))} bytes`;
}
