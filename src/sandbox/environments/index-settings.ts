/** The package indexes that the user has configured for pip and npm. Files of a project or a skill are never read. */
import path from 'node:path';

import { readTextFile } from '../../platform/fs/read-file.ts';

export interface UserEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | undefined;
}

export interface PipSettings {
  /** Absent: the default of pip. May contain credentials. */
  readonly index?: string;
  readonly extraIndexes: readonly string[];
  readonly trustedHosts: readonly string[];
}

export interface NpmSettings {
  /** Absent: the default of npm. */
  readonly registry?: string;
  /** Lines of the user's .npmrc that concern registries, such as access tokens. */
  readonly lines: readonly string[];
}

const MAX_BYTES = 256 * 1024;

export function pipSettings({ env, home }: UserEnvironment): PipSettings {
  const config = env['XDG_CONFIG_HOME'] ?? (home === undefined ? undefined : path.join(home, '.config'));
  const files = [
    '/etc/pip.conf',
    ...(home === undefined ? [] : [path.join(home, '.pip', 'pip.conf')]),
    ...(config === undefined ? [] : [path.join(config, 'pip', 'pip.conf')]),
    ...(env['PIP_CONFIG_FILE'] === undefined ? [] : [env['PIP_CONFIG_FILE']]),
  ];
  const values = new Map<string, string>();
  for (const file of files) for (const [key, value] of settingsIn(file)) values.set(key, value);
  const variable = (name: string): string | undefined => env[`PIP_${name.toUpperCase().replaceAll('-', '_')}`];
  const value = (name: string): string | undefined => variable(name) ?? values.get(name);
  const list = (name: string): readonly string[] => (value(name) ?? '').split(/\s+/).filter((word) => word !== '');
  // uv allows a name before the address.
  const index = value('index-url') ?? (env['UV_DEFAULT_INDEX'] ?? env['UV_INDEX_URL'])?.replace(/^[\w-]+=/, '');
  return {
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
  for (const line of linesOf(file)) {
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
  const lines = file === undefined ? [] : linesOf(file).map((line) => line.trim());
  const named = lines.flatMap((line) => /^registry\s*=\s*(\S+)/.exec(line)?.[1] ?? []).at(-1);
  const registry = env['npm_config_registry'] ?? env['NPM_CONFIG_REGISTRY'] ?? named;
  return {
    ...(registry === undefined || registry === '' ? {} : { registry }),
    lines: lines.filter((line) => /^(?:\/\/|@[\w.-]+:registry\s*=)/.test(line)).map((line) => expanded(line, env)),
  };
}

/** npm replaces `${NAME}` by variables, which the sandbox does not have. */
function expanded(line: string, env: UserEnvironment['env']): string {
  return line.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => env[name] ?? whole);
}

function linesOf(file: string): readonly string[] {
  const read = readTextFile(file, MAX_BYTES);
  return read.type === 'read' ? read.text.split(/\r?\n/) : [];
}

/** The grant for the host of an index, or undefined for a URL that is not HTTP. Loopback and private addresses need `private://`. */
export function hostGrant(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  const host = `${hostname}:${port === '' ? (protocol === 'http:' ? '80' : '443') : port}`;
  return isPrivateName(hostname) ? `private://${host}` : host;
}

/** The user configured the index, so it may be in a private network; public names stay checked. */
function isPrivateName(hostname: string): boolean {
  return (
    /^(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]|\[f[cd])/.test(hostname) ||
    !hostname.includes('.') ||
    /\.(?:local|internal|intranet|corp|lan)$/.test(hostname)
  );
}

/** A URL without user name and password, for records and messages. */
export function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return '';
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}
