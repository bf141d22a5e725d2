/**
 * Which hosts a grant of network means, and whether a host that somebody asks for is one of them.
 *
 *     example.org             that name, ports 80 and 443
 *     *.example.org           every name below it, at any depth; not example.org itself
 *     example.org:8443        one port;  example.org:* is every port
 *     93.184.216.34, [2606:2800::1]:443        an address; a name that leads there is not granted by it
 *     private://db.intranet:5432               as above, and it may lead to this machine or its neighbours
 *
 * Names are compared in one spelling: lower case, punycode, no dot at the end. Below a suffix where anybody can get a name (`*.org`,
 * `*.co.uk`, `*.github.io`) a wildcard would grant the names of strangers and is refused; the list of such suffixes is short and not
 * complete, so a wildcard belongs only to a domain of one owner.
 */

import { readAddress } from './network-address.ts';
import { quoted } from '../text/text.ts';

export interface HostPattern {
  /** As it was given. */
  readonly text: string;
  /** The name, the name below which everything is meant, or the address. */
  readonly host: string;
  readonly kind: 'name' | 'below' | 'address';
  readonly ports: readonly number[] | 'all';
  /** It may lead to addresses that are not public. */
  readonly isPrivate: boolean;
}

/** A host as it is compared and connected to. */
export interface Host {
  readonly name: string;
  readonly isAddress: boolean;
}

export interface HostAndPort {
  readonly host: Host;
  readonly port: number;
}

export interface HostPatternProblem {
  readonly problem: string;
}

const PRIVATE = 'private://';
const DEFAULT_PORTS: readonly number[] = [80, 443];

/** Names have 253 characters at most; other scripts take more to write than to encode, never this much. */
const MAX_HOST_TEXT = 512;
const MAX_NAME = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** What ends or bends an authority, what hides, and what belongs to a URL and not to a name. */
const NEVER_IN_HOST =
  /[\u0000-\u0020\u007f-\u00a0%@/\\?#:[\]<>^`{|}"'*\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/;
const NUMBER_LIKE = /^(?:\d+|0x[0-9a-f]*)$/;

/** A grant, or why the text is none. */
export function readHostPattern(text: string): HostPattern | HostPatternProblem {
  const isPrivate = text.startsWith(PRIVATE);
  const bare = isPrivate ? text.slice(PRIVATE.length) : text;
  if (bare.includes('://') || bare.includes('/')) {
    return { problem: `${quoted(text)} is a URL; a host with or without :port was expected` };
  }
  if (bare.includes('@')) return { problem: `${quoted(text)} names a user; a host with or without :port was expected` };
  const split = splitPort(bare);
  if (split === undefined) return { problem: `${quoted(text)} is no host with or without :port` };
  const ports = split.port === undefined ? DEFAULT_PORTS : readPorts(split.port);
  if (ports === undefined) return { problem: `${quoted(text)} has no port between 1 and 65535, or * for every port` };
  const isWildcard = split.host.startsWith('*.');
  const host = readHost(isWildcard ? split.host.slice(2) : split.host);
  if (host === undefined)
    return { problem: `${quoted(text)} is no name of a host and no usual spelling of an address` };
  if (!isWildcard) return { text, host: host.name, kind: host.isAddress ? 'address' : 'name', ports, isPrivate };
  if (host.isAddress) return { problem: `${quoted(text)} is a wildcard over an address` };
  if (isPublicSuffix(host.name)) {
    return { problem: `${quoted(text)} would grant names of strangers; name the hosts one by one` };
  }
  if (isPrivate) return { problem: `${quoted(text)} is a wildcard; private hosts are named one by one` };
  return { text, host: host.name, kind: 'below', ports, isPrivate };
}

export function isHostPattern(read: HostPattern | HostPatternProblem): read is HostPattern {
  return 'host' in read;
}

/** The first grant that means this host and port. */
export function findGrant(patterns: readonly HostPattern[], host: Host, port: number): HostPattern | undefined {
  return patterns.find(
    (pattern) => isForHost(pattern, host) && (pattern.ports === 'all' || pattern.ports.includes(port)),
  );
}

export function isForHost(pattern: HostPattern, { name, isAddress }: Host): boolean {
  if (pattern.kind === 'below') return !isAddress && name.endsWith(`.${pattern.host}`);
  return name === pattern.host && isAddress === (pattern.kind === 'address');
}

/**
 * A host in its one spelling. Nothing where it is neither a name nor the usual spelling of an address: `127.1`, `0x7f.1` and
 * `2130706433` are addresses to some readers and names to others, so they are neither here.
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
  // Other scripts have digits too: what they spell is judged like any other address.
  const address = readAddress(name);
  return address === undefined ? undefined : { name: address.text, isAddress: true };
}

/** `host:port` as CONNECT and absolute URLs carry it. Without a port the default one; nothing where there is none. */
export function readAuthority(text: string, defaultPort?: number): HostAndPort | undefined {
  const split = splitPort(text);
  if (split === undefined) return undefined;
  const host = readHost(split.host);
  const port = split.port === undefined ? defaultPort : readPort(split.port);
  return host === undefined || port === undefined ? undefined : { host, port };
}

/** A host and a port as an authority; addresses of version 6 in brackets. */
export function writeAuthority({ name }: Host, port: number): string {
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
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
  // More than one colon: an address of version 6 without brackets, whose port could not be told from its last group.
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
  // The host of a URL goes through the same mapping as in every browser; an address comes out as an address and is judged after.
  const url = `http://${text}/`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** Registries sell names below these labels of a country. */
const SOLD_BELOW_COUNTRY: ReadonlySet<string> = new Set(
  'ac asn biz co com edu gen geek go gob gouv gov gv id info ltd me mil name ne net nhs nic nom or org plc police pro sch web'.split(
    ' ',
  ),
);

/** Anybody can have a name below these within minutes. */
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
