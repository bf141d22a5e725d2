/** Keeps git away from private addresses, as downloads are: over HTTP by a proxy of our own, which also sees redirects; else by a lookup. */
import { lookup } from 'node:dns/promises';

import { printable, readAddress, readAuthority, type HostAndPort, type SkillError } from '#core';
import { isSystemError, openAllowProxy, proxyFor, type networkGate } from '#platform';
import { refused } from '../problems.ts';
import { isLoopback } from './source-address.ts';
import type { StageContext } from './source.ts';

export interface GitGate {
  /** Settings for git. */
  readonly settings: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Why a connection was refused, if one was. */
  problem(): SkillError | undefined;
  close(): Promise<void>;
}

const OPEN: GitGate = { settings: [], env: {}, problem: () => undefined, close: () => Promise.resolve() };
const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ssh: 22, git: 9418 };

export interface GitGateOptions extends Pick<StageContext, 'network' | 'env' | 'signal'> {
  /** As the settings of the user rewrite it (`insteadOf`). */
  readonly rewritten: string;
  /** The proxy in the user's settings of git. */
  readonly configuredProxy: string;
}

/** Throws a refusal for a repository at a private address, unless the user allows those or names this machine. */
export async function openGitGate(url: string, options: GitGateOptions): Promise<GitGate> {
  const { network, env, signal, rewritten, configuredProxy } = options;
  const target = parseGitTarget(url);
  // Where the user's own settings send git somewhere else, that is what the user wants.
  if (target === undefined || network.allowPrivate === true || rewritten !== url) return OPEN;
  const { host, scheme } = target;
  const isWeb = scheme === 'http' || scheme === 'https';
  const isHere = isLoopback(target);
  const isProxied =
    isWeb && (configuredProxy !== '' || proxyFor({ ...target, isSecure: scheme === 'https' }, env) !== undefined);
  if (!isWeb || isProxied) {
    // A proxy resolves names itself, so only an address can be checked.
    if (!isHere && (host.isAddress || !isProxied)) await refusePrivate(target, network.resolve ?? lookUp, signal);
    return OPEN;
  }
  let problem: SkillError | undefined;
  const proxy = await openAllowProxy({
    hosts: [`${isHere ? 'private://' : ''}${host.name.includes(':') ? `[${host.name}]` : host.name}:*`],
    loopback: true,
    limits: { bytes: Number.MAX_SAFE_INTEGER },
    resolve: network.resolve,
    signal,
    onDecision: ({ host: name, allowed, rule }) => {
      if (allowed || problem !== undefined) return;
      if (rule === 'not-public') problem = notPublic(name);
      if (rule === 'not-granted')
        problem = refused('source/refused', `${host.name} redirects to ${printable(name)}; use that address`);
    },
  });
  const address = `http://127.0.0.1:${String(proxy.port)}`;
  return {
    settings: ['-c', `http.proxy=${address}`],
    // Names in this list would bypass the proxy.
    env: { no_proxy: '', NO_PROXY: '' },
    problem: () => problem,
    close: () => proxy.close(),
  };
}

/** Undefined for a folder of this machine. */
function parseGitTarget(url: string): (HostAndPort & { readonly scheme: string }) | undefined {
  const [, scheme = '', authority = ''] = /^(https?|ssh|git):\/\/(?:[^/@]*@)?([^/]*)/i.exec(url) ?? [];
  const [, host = ''] = scheme === '' ? (/^\w[\w.-]*@([\w.-]+):/.exec(url) ?? []) : [];
  const name = scheme === '' ? 'ssh' : scheme.toLowerCase();
  const read = readAuthority(scheme === '' ? host : authority, PORTS[name] ?? 0);
  return read === undefined ? undefined : { ...read, scheme: name };
}

/** A name without an address may be an alias in the user's settings of ssh. */
async function refusePrivate(
  { host }: HostAndPort,
  resolve: NonNullable<Parameters<typeof networkGate>[0]['resolve']>,
  signal?: AbortSignal,
): Promise<void> {
  const texts = host.isAddress ? [host.name] : await resolve(host.name, signal ?? new AbortController().signal);
  if (texts.some((text) => readAddress(text)?.kind !== 'public')) throw notPublic(host.name);
}

async function lookUp(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

function notPublic(name: string): SkillError {
  return refused(
    'source/refused',
    `${printable(name)} is not a public address; set install.allow_private_addresses in your own configuration to use it`,
  );
}
