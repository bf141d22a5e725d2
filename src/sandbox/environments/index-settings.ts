/** The package indexes that the user has configured for pip and npm. Files of a project or a skill are never read. */
import path from 'node:path';
import { writeFileSync } from 'node:fs';

import { readTextFile } from '#platform';
import { quoted, type ActionProblem, type Surroundings } from '#core';
import { packagesFailed } from './build.ts';
import type { BuildSandbox } from './build-sandbox.ts';

/** Variables and home folder of the user. */
export type UserEnvironment = Omit<Surroundings, 'cwd'>;

/** A file of certificate authorities that the user has configured, such as that of a company's proxy. */
export interface CertificateFile {
  /** For messages: `PIP_CERT`, `cafile in .npmrc`. */
  readonly setting: string;
  readonly file: string;
}

export interface PipSettings {
  /** Absent: the default of pip. May contain credentials. */
  readonly index?: string;
  readonly extraIndexes: readonly string[];
  readonly trustedHosts: readonly string[];
  /** Replace the certificates of pip and uv. pip prefers one or the other depending on its version, so all of them are trusted. */
  readonly certificates: readonly CertificateFile[];
}

export interface NpmSettings {
  /** Absent: the default of npm. */
  readonly registry?: string;
  /** Lines of the user's .npmrc that concern registries, such as access tokens and `ca`. */
  readonly lines: readonly string[];
  /** Replaces the certificates of npm (`cafile`). */
  readonly certificates: readonly CertificateFile[];
  /** Added to the certificates of Node. */
  readonly extraCertificates: readonly CertificateFile[];
}

const MAX_BYTES = 256 * 1024;

export function pipSettings({ env, home }: UserEnvironment): PipSettings {
  const config = env['XDG_CONFIG_HOME'] ?? (home === undefined ? undefined : path.join(home, '.config'));
  const files = [
    '/etc/pip.conf',
    home && path.join(home, '.pip', 'pip.conf'),
    config && path.join(config, 'pip', 'pip.conf'),
    env['PIP_CONFIG_FILE'],
  ];
  const values = new Map(files.flatMap((file) => (file === undefined ? [] : [...settingsIn(file)])));
  const variable = (name: string): string | undefined => env[`PIP_${name.toUpperCase().replaceAll('-', '_')}`];
  const value = (name: string): string | undefined => variable(name) ?? values.get(name);
  const list = (name: string): readonly string[] => (value(name) ?? '').split(/\s+/).filter((word) => word !== '');
  // uv allows a name before the address.
  const index = value('index-url') ?? (env['UV_DEFAULT_INDEX'] ?? env['UV_INDEX_URL'])?.replace(/^[\w-]+=/, '');
  const certificates = [
    ...['PIP_CERT', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'SSL_CERT_FILE'].flatMap((name) =>
      toCertificateFiles(name, env[name]),
    ),
    ...toCertificateFiles('cert in pip.conf', values.get('cert')),
  ];
  return {
    certificates,
    ...(index === undefined || index === '' ? {} : { index }),
    extraIndexes: list('extra-index-url').filter((url) => /^https?:/i.test(url)),
    trustedHosts: list('trusted-host'),
  };
}

/** The keys of `[global]`, `[install]` and `[download]`; a continued value is joined by spaces. */
function settingsIn(file: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let isUsed = false;
  let last = '';
  for (const line of readLines(file)) {
    const section = /^\[([^\]]+)\]/.exec(line)?.[1];
    const [, key, value = ''] = /^([\w-]+)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    if (section !== undefined) isUsed = ['global', 'install', 'download'].includes(section.trim());
    else if (isUsed && key !== undefined) {
      last = key.toLowerCase().replaceAll('_', '-');
      values.set(last, value.trim());
    } else if (isUsed && /^\s+\S/.test(line) && last !== '')
      values.set(last, `${values.get(last) ?? ''} ${line.trim()}`.trim());
  }
  return values;
}

export function npmSettings({ env, home }: UserEnvironment): NpmSettings {
  const file = env['npm_config_userconfig'] ?? (home === undefined ? undefined : path.join(home, '.npmrc'));
  const global = env['npm_config_globalconfig'] ?? path.join(path.dirname(process.execPath), '../etc/npmrc');
  const lines = [global, ...(file === undefined ? [] : [file])].flatMap(readLines).map((line) => expanded(line, env));
  const named = lines.flatMap((line) => /^registry\s*=\s*(\S+)/.exec(line)?.[1] ?? []).at(-1);
  const registry = env['npm_config_registry'] ?? env['NPM_CONFIG_REGISTRY'] ?? named;
  const cafile = lines.flatMap((line) => /^cafile\s*=\s*(["']?)(.+)\1$/.exec(line)?.[2] ?? []).at(-1);
  const certificates = [
    ...toCertificateFiles('npm_config_cafile', env['npm_config_cafile'] ?? env['NPM_CONFIG_CAFILE']),
    ...toCertificateFiles('cafile in .npmrc', cafile?.replace(/^~(?=\/)/, home ?? '~')),
  ].slice(0, 1);
  return {
    ...(registry === undefined || registry === '' ? {} : { registry }),
    certificates,
    extraCertificates: toCertificateFiles('NODE_EXTRA_CA_CERTS', env['NODE_EXTRA_CA_CERTS']),
    lines: lines.filter((line) => /^(?:\/\/|@[\w.-]+:registry\s*=|ca(?:\[\])?\s*=|strict-ssl\s*=)/.test(line)),
  };
}

function toCertificateFiles(setting: string, file: string | undefined): readonly CertificateFile[] {
  return file === undefined || file === '' ? [] : [{ setting, file }];
}

/** npm replaces `${NAME}` by variables, which the sandbox does not have. */
function expanded(line: string, env: UserEnvironment['env']): string {
  return line.trim().replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => env[name] ?? whole);
}

function readLines(file: string): readonly string[] {
  const read = readTextFile(file, MAX_BYTES);
  return read.type === 'read' ? read.text.split(/\r?\n/) : [];
}

/**
 * The grant for the host of an index, or undefined for a URL that is not HTTP. The user or the package manager chose the index, never a
 * skill, so its name may resolve to a private address: many companies run a mirror under the public name.
 */
export function hostGrant(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return `private://${hostname}:${port === '' ? (protocol === 'http:' ? '80' : '443') : port}`;
}

/** A URL without user name and password, for records and messages. */
export function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return '';
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

const MAX_CERTIFICATE_BYTES = 16 * 1024 * 1024;
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
    const read = readTextFile(file, MAX_CERTIFICATE_BYTES);
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
