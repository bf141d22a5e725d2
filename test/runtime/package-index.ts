import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { strToU8, zipSync } from 'fflate';
import { onTestFinished } from 'vitest';

/** A file of a package index: its name, its bytes, and the hash that the index states. */
export interface IndexFile {
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly hash?: string;
  /** Where the page of the package says that the file is (default: this server). */
  readonly origin?: string;
}

export interface PackageIndex {
  readonly url: string;
  readonly requests: string[];
  close(): void;
}

/** A package index as PEP 503 describes it, on the loopback interface. */
export async function openIndex(packages: Readonly<Record<string, readonly IndexFile[]>>): Promise<PackageIndex> {
  const requests: string[] = [];
  const files = Object.values(packages).flat();
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    requests.push(url);
    const listed = packages[/^\/simple\/([^/]+)\/$/.exec(url)?.[1] ?? ''];
    const wanted = files.find(({ file }) => url === `/files/${file}`);
    if (listed !== undefined)
      response
        .setHeader('content-type', 'text/html')
        .end(
          listed
            .map(
              (file) =>
                `<a href="${file.origin ?? ''}/files/${file.file}#sha256=${file.hash ?? sha256(file.bytes)}">${file.file}</a>`,
            )
            .join('\n'),
        );
    else if (wanted === undefined) response.writeHead(404).end();
    else response.end(wanted.bytes);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  // A net server that listens on a port has an address object.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, requests, close };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A wheel of pure Python. */
export function wheel(
  name: string,
  version: string,
  files: Readonly<Record<string, string>>,
  { needs = [], scripts = [] }: { readonly needs?: readonly string[]; readonly scripts?: readonly string[] } = {},
): IndexFile {
  const info = `${name}-${version}.dist-info`;
  const all: Record<string, string> = {
    ...files,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n${needs.map((need) => `Requires-Dist: ${need}\n`).join('')}`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ...(scripts.length === 0 ? {} : { [`${info}/entry_points.txt`]: `[console_scripts]\n${scripts.join('\n')}\n` }),
    [`${info}/RECORD`]: '',
  };
  const bytes = zipSync(Object.fromEntries(Object.entries(all).map(([file, text]) => [file, strToU8(text)])));
  return { file: `${name}-${version}-py3-none-any.whl`, bytes };
}
