/**
 * Parses network grants and matches hosts against them.
 *
 *     example.org             that name, ports 80 and 443
 *     *.example.org           every name below it, at any depth; not example.org itself
 *     example.org:8443        one port;  example.org:* is every port
 *     93.184.216.34, [2606:2800::1]:443        an address; names that resolve to it are not granted
 *     private://db.intranet:5432               as above, and it may resolve to a private or local address
 *
 * Names are compared in lower case and punycode, without a trailing dot. A wildcard below a public suffix (`*.org`, `*.co.uk`,
 * `*.github.io`)
 * would grant names of unrelated owners and is refused. The list of such suffixes is incomplete, so use wildcards only for domains of one
 * owner.
 */

import { readAddress } from './network-address.ts';
import { quoted } from '../text/text.ts';
import type { Problem } from '../problem.ts';

export interface HostPattern {
  readonly text: string;
  /** The name, the parent domain of a wildcard, or the address. */
  readonly host: string;
  readonly kind: 'name' | 'below' | 'address';
  readonly ports: readonly number[] | 'all';
  /** Whether it may resolve to private or local addresses. */
  readonly isPrivate: boolean;
}

/** A normalized host. */
export interface Host {
  readonly name: string;
  readonly isAddress: boolean;
}

export interface HostAndPort {
  readonly host: Host;
  readonly port: number;
}

const PRIVATE = 'private://';
const DEFAULT_PORTS: readonly number[] = [80, 443];

/** Names have at most 253 characters in punycode; Unicode spellings stay far below this. */
const MAX_HOST_TEXT = 512;
const MAX_NAME = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Characters that end or change an authority, are invisible, or belong to other parts of a URL. */
const NEVER_IN_HOST =
  /[\u0000-\u0020\u007f-\u00a0%@/\\?#:[\]<>^`{|}"'*\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/;
const NUMBER_LIKE = /^(?:\d+|0x[0-9a-f]*)$/;

/** Parses a grant, or explains why the text is invalid. */
export function readHostPattern(text: string): HostPattern | Problem {
  const isPrivate = text.startsWith(PRIVATE);
  const bare = isPrivate ? text.slice(PRIVATE.length) : text;
  if (bare.includes('://') || bare.includes('/')) {
    return notPattern(`${quoted(text)} is a URL; a host with or without :port was expected`);
  }
  if (bare.includes('@'))
    return notPattern(`${quoted(text)} contains a user name; a host with or without :port was expected`);
  const split = splitPort(bare);
  if (split === undefined) return notPattern(`${quoted(text)} is not a host with or without :port`);
  const ports = split.port === undefined ? DEFAULT_PORTS : readPorts(split.port);
  if (ports === undefined) return notPattern(`${quoted(text)} needs a port from 1 to 65535, or * for every port`);
  const isWildcard = split.host.startsWith('*.');
  const host = readHost(isWildcard ? split.host.slice(2) : split.host);
  if (host === undefined)
    return notPattern(`${quoted(text)} is neither a host name nor an IP address in canonical form`);
  if (!isWildcard) return { text, host: host.name, kind: host.isAddress ? 'address' : 'name', ports, isPrivate };
  if (host.isAddress) return notPattern(`${quoted(text)} is a wildcard over an address`);
  if (isPublicSuffix(host.name)) {
    return notPattern(`${quoted(text)} would grant names of other owners; list the hosts one by one`);
  }
  if (isPrivate) return notPattern(`${quoted(text)} is a wildcard; list private hosts one by one`);
  return { text, host: host.name, kind: 'below', ports, isPrivate };
}

function notPattern(message: string): Problem {
  return { code: 'input/invalid', message, hint: 'write a host with or without :port, such as example.org:8443' };
}

/** The first grant that covers this host and port; without a port, any of its ports. */
export function findGrant(patterns: readonly HostPattern[], host: Host, port?: number): HostPattern | undefined {
  return patterns.find(
    (pattern) =>
      isForHost(pattern, host) && (port === undefined || pattern.ports === 'all' || pattern.ports.includes(port)),
  );
}

function isForHost(pattern: HostPattern, { name, isAddress }: Host): boolean {
  if (pattern.kind === 'below') return !isAddress && name.endsWith(`.${pattern.host}`);
  return name === pattern.host && isAddress === (pattern.kind === 'address');
}

/**
 * Normalizes a host. Ambiguous spellings such as `127.1`, `0x7f.1` and `2130706433` are neither names nor addresses here, because other
 * programs disagree about them.
 */
export function readHost(text: string): Host | undefined {
  if (text === '' || text.length > MAX_HOST_TEXT) return undefined;
  const bracketed = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : undefined;
  const literal = readAddress(bracketed ?? text);
  if (literal !== undefined && (bracketed === undefined || literal.bytes.length === 16)) {
    return { name: literal.text, isAddress: true };
  }
  if (bracketed !== undefined || NEVER_IN_HOST.test(text)) return undefined;
  const ascii = toAscii(text);
  if (ascii === undefined) return undefined;
  const name = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
  const labels = name.split('.');
  if (name.length > MAX_NAME || !labels.every((label) => LABEL.test(label))) return undefined;
  if (!NUMBER_LIKE.test(labels.at(-1) ?? '')) return { name, isAddress: false };
  // Digits of other scripts map to ASCII and may form an address.
  const address = readAddress(name);
  return address === undefined ? undefined : { name: address.text, isAddress: true };
}

/** Parses `host:port` as in CONNECT and absolute URLs. Returns nothing without a port and a default. */
export function readAuthority(text: string, defaultPort?: number): HostAndPort | undefined {
  const split = splitPort(text);
  if (split === undefined) return undefined;
  const host = readHost(split.host);
  const port = split.port === undefined ? defaultPort : readPort(split.port);
  return host === undefined || port === undefined ? undefined : { host, port };
}

function splitPort(text: string): { readonly host: string; readonly port: string | undefined } | undefined {
  if (text.length > MAX_HOST_TEXT) return undefined;
  if (text.startsWith('[')) {
    const end = text.indexOf(']');
    const rest = text.slice(end + 1);
    if (end === -1 || (rest !== '' && !rest.startsWith(':'))) return undefined;
    return { host: text.slice(0, end + 1), port: rest === '' ? undefined : rest.slice(1) };
  }
  const colon = text.indexOf(':');
  // An IPv6 address without brackets: its port would be ambiguous.
  if (colon === -1 || text.includes(':', colon + 1)) return { host: text, port: undefined };
  return { host: text.slice(0, colon), port: text.slice(colon + 1) };
}

function readPort(text: string): number | undefined {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function readPorts(text: string): readonly number[] | 'all' | undefined {
  if (text === '*') return 'all';
  const port = readPort(text);
  return port === undefined ? undefined : [port];
}

function toAscii(text: string): string | undefined {
  if (/^[\x21-\x7e]+$/.test(text)) return text.toLowerCase();
  // URL parsing maps Unicode names as browsers do; an address comes out as an address and is checked afterwards.
  const url = `http://${text}/`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** Second-level labels below which country registries sell names. */
const SOLD_BELOW_COUNTRY: ReadonlySet<string> = new Set(
  'ac asn biz co com edu gen geek go gob gouv gov gv id info ltd me mil name ne net nhs nic nom or org plc police pro sch web'.split(
    ' ',
  ),
);

/** Suffixes below which anyone can register a name. */
const HANDED_OUT: ReadonlySet<string> = new Set([
  'amazonaws.com',
  's3.amazonaws.com',
  'appspot.com',
  'azurewebsites.net',
  'blob.core.windows.net',
  'blogspot.com',
  'cloudapp.net',
  'cloudfront.net',
  'duckdns.org',
  'firebaseapp.com',
  'fly.dev',
  'github.io',
  'gitlab.io',
  'glitch.me',
  'googleusercontent.com',
  'herokuapp.com',
  'hf.space',
  'netlify.app',
  'ngrok.app',
  'ngrok.io',
  'ngrok-free.app',
  'nip.io',
  'onrender.com',
  'pages.dev',
  'r2.dev',
  'readthedocs.io',
  'run.app',
  'sslip.io',
  'supabase.co',
  'surge.sh',
  'trycloudflare.com',
  'vercel.app',
  'web.app',
  'windows.net',
  'workers.dev',
]);

function isPublicSuffix(name: string): boolean {
  const labels = name.split('.');
  const [first = '', country = ''] = labels;
  if (labels.length === 1 || HANDED_OUT.has(name)) return true;
  return labels.length === 2 && country.length === 2 && SOLD_BELOW_COUNTRY.has(first);
}
