/** The built files of the page. They are read once; nothing else of the disk is served. */
import { readFileSync, readdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';

import { isSystemError, LOOPBACK_HEADERS } from '#platform';

export interface PageFiles {
  readonly isPresent: boolean;
  has(pathname: string): boolean;
  send(response: ServerResponse, pathname: string): void;
}

interface PageFile {
  readonly bytes: Buffer;
  readonly mediaType: string;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the files of a built page. Without a folder there is no page. */
export function openPageFiles(folder: string | undefined): PageFiles {
  const files = folder === undefined ? new Map<string, PageFile>() : readPageFiles(folder);
  return {
    isPresent: files.size > 0,
    has: (pathname) => files.has(pathname),
    send(response, pathname) {
      const file = files.get(pathname);
      response.writeHead(200, { ...LOOPBACK_HEADERS, ...PAGE_HEADERS, 'content-type': file?.mediaType });
      response.end(file?.bytes);
    },
  };
}

/** The files by the path of their address. Empty if the page was not built. */
function readPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const mediaType = MEDIA_TYPES[path.extname(entry.name)];
      if (!entry.isFile() || mediaType === undefined) continue;
      const file = path.join(entry.parentPath, entry.name);
      files.set(`/${path.relative(folder, file).split(path.sep).join('/')}`, { bytes: readFileSync(file), mediaType });
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
  const index = files.get('/index.html');
  if (index !== undefined) files.set('/', index);
  return files;
}

/** No inline script, no request to another host, no frame around the page, and no markup from text. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;
