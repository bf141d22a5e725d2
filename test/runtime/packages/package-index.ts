import { createHash } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { onTestFinished } from 'vitest';

import { CERTIFICATE, KEY } from '../../project/network/certificate.ts';

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
export async function openIndex(
  packages: Readonly<Record<string, readonly IndexFile[]>>,
  { secure = false } = {},
): Promise<PackageIndex> {
  const requests: string[] = [];
  const files = Object.values(packages).flat();
  const opened = await listen(secure, (request, response) => {
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
  return { ...opened, requests };
}

/** A server on the loopback interface until the end of the test. */
async function listen(secure: boolean, answer: RequestListener): Promise<Pick<PackageIndex, 'url' | 'close'>> {
  const server: Server = secure ? createSecureServer({ cert: CERTIFICATE, key: KEY }, answer) : createServer(answer);
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
  return { url: secure ? `https://localhost:${String(port)}` : `http://127.0.0.1:${String(port)}`, close };
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

/** A registry with hand-made npm packages. */
export async function openRegistry(
  packages: Readonly<
    Record<
      string,
      {
        readonly version: string;
        readonly files: Readonly<Record<string, string>>;
        readonly needs?: Readonly<Record<string, string>>;
      }
    >
  >,
  { secure = false } = {},
): Promise<PackageIndex> {
  const requests: string[] = [];
  let url = '';
  const built = Object.entries(packages).map(([name, { version, files, needs = {} }]) => {
    const manifest = { name, version, dependencies: needs, ...(JSON.parse(files['package.json'] ?? '{}') as object) };
    const bytes = tarball({ ...files, 'package.json': JSON.stringify(manifest) });
    return {
      name,
      version,
      manifest,
      bytes,
      integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    };
  });
  const opened = await listen(secure, (request, response) => {
    const asked = decodeURIComponent(request.url ?? '');
    requests.push(asked);
    const found = built.find(({ name }) => asked === `/${name}`);
    const file = built.find(({ name }) => asked === `/${name}/-/package.tgz`);
    if (found !== undefined) {
      const { name, version, manifest, integrity } = found;
      const dist = { tarball: `${url}/${name}/-/package.tgz`, integrity };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }),
      );
    } else if (file === undefined) response.writeHead(404).end('{}');
    else response.end(file.bytes);
  });
  url = opened.url;
  return { ...opened, requests };
}

/** An npm package: a gzipped tar with one folder. */
function tarball(files: Readonly<Record<string, string>>): Uint8Array {
  const blocks = Object.entries(files).map(([name, text]) => {
    const body = Buffer.from(text);
    const head = Buffer.alloc(512);
    head.write(`package/${name}`, 0);
    head.write('0000644\0', 100);
    head.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124);
    head.write('00000000000\0', 136);
    head.write('        0', 148);
    head.write('ustar\u000000', 257);
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return Buffer.concat([head, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}
