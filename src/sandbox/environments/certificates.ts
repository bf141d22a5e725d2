import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { quoted, type ActionProblem } from '#core';
import { readTextFile } from '#platform';
import { packagesFailed } from './build.ts';
import type { BuildSandbox } from './build-sandbox.ts';
import type { CertificateFile } from './index-settings.ts';

const MAX_BYTES = 16 * 1024 * 1024;
/** Also OpenSSL's `TRUSTED CERTIFICATE`. A private key in the same file is left out. */
const CERTIFICATE = /-----BEGIN ((?:TRUSTED |X509 )?CERTIFICATE)-----[^-]+-----END \1-----/g;

/** Copies the certificates of files into the sandbox of a package manager and returns their path inside; nothing without files. */
export function copyCertificates(
  files: readonly CertificateFile[],
  name: string,
  { root, work }: Pick<BuildSandbox, 'root' | 'work'>,
): string | undefined | ActionProblem {
  const found: string[] = [];
  for (const { setting, file } of files) {
    const read = readTextFile(file, MAX_BYTES);
    const texts = read.type === 'read' ? [...read.text.matchAll(CERTIFICATE)].map(([text]) => text) : [];
    if (texts.length === 0)
      return packagesFailed(
        `the certificates in ${quoted(file, 300)} (${setting}) cannot be read${read.type === 'read' ? ': the file has none in PEM format' : ''}`,
        `correct ${setting}, or remove it to use the certificates of the system`,
      );
    found.push(...texts);
  }
  if (found.length === 0) return undefined;
  writeFileSync(path.join(work, name), `${[...new Set(found)].join('\n')}\n`, { flag: 'wx', mode: 0o644 });
  return `${root}/work/${name}`;
}
