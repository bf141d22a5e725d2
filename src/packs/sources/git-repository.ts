/** Runs git to fetch and print objects. There is no checkout, so filters, hooks and links of the repository have no effect. */
import { isUtf8 } from 'node:buffer';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { lookup } from 'node:dns/promises';

import {
  printable,
  quoted,
  sliceStart,
  readAddress,
  readAuthority,
  typedWord,
  type SkillError,
  type HostAndPort,
} from '#core';
import { isSystemError, openAllowProxy, proxyFor, type networkGate } from '#platform';
import { findRefusal, refused } from '../problems.ts';
import type { StageContext, PackSource } from './source.ts';
import { runProgram, type Program, type ProgramResult } from './run-program.ts';
import { MAX_MANIFEST_BYTES, codeFor, unusable, type SourceFiles } from './plugin-skills.ts';
import { isLoopback } from './source-text.ts';

/**
 * Variables that users set to reach their servers. All other GIT_ variables could redirect git to other repositories, programs or settings.
 */
const KEPT =
  /^GIT_(?:ASKPASS|SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|PROXY_\w+|HTTP_\w+|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|EXEC_PATH)$/;
const TIMEOUT_MS = 300_000;

const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.symlinks=false',
  'credential.interactive=never',
  'fetch.recurseSubmodules=no',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

/** A temporary bare repository in the staging folder. */
export interface ScratchRepository {
  readonly folder: string;
  /** Address to fetch from. */
  readonly url: string;
  readonly context: StageContext;
}

/** Credentials come from the environment and git's helpers. Prompts are disabled, including the graphical prompt of ssh. */
export function gitEnvironment(url: string, env: StageContext['env']): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && (!name.startsWith('GIT_') || KEPT.test(name))) passed[name] = value;
  return {
    ...passed,
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: protocolsFor(url),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    SSH_ASKPASS_REQUIRE: 'never',
  };
}

/**
 * Allows the requested protocol and the secure ones, because users may rewrite https to ssh. A redirect from https to http is not followed.
 */
function protocolsFor(url: string): string {
  const [, scheme = 'ssh'] = /^(https?|ssh|git|file):/.exec(url) ?? [];
  return scheme === 'file' ? scheme : [...new Set(['https', 'ssh', scheme])].join(':');
}

interface GitRun extends Pick<Program, 'stdin' | 'onOutput' | 'isTooMuch' | 'maxOutputBytes'> {
  /** Of an HTTP proxy on this machine that git has to use. */
  readonly proxyPort?: number;
}

export async function runGit(
  { folder, url, context }: ScratchRepository,
  args: readonly string[],
  { proxyPort, ...run }: GitRun = {},
): Promise<ProgramResult> {
  const { network, signal, to } = context;
  const proxy = proxyPort === undefined ? [] : ['-c', `http.proxy=http://127.0.0.1:${String(proxyPort)}`];
  return await runProgram({
    argv: [network.git ?? 'git', ...SETTINGS, ...proxy, `--git-dir=${folder}`, ...args],
    cwd: to,
    // Names in the list of exceptions would bypass the proxy.
    env: { ...gitEnvironment(url, context.env), ...(proxyPort !== undefined && { no_proxy: '', NO_PROXY: '' }) },
    timeoutMs: network.timeoutMs ?? TIMEOUT_MS,
    signal,
    ...run,
  });
}

/**
 * Runs git for a command that connects to the repository. Throws a refusal for a repository at a private address, unless the user allows
 * those or names this machine.
 */
async function runRemoteGit(own: ScratchRepository, args: readonly string[], run: GitRun = {}): Promise<ProgramResult> {
  const { url, context } = own;
  const { network, env, signal } = context;
  const setting = async (...words: readonly string[]): Promise<string> =>
    (await runGit(own, words)).output.toString('utf8').trim();
  const rewritten = await setting('ls-remote', '--get-url', '--', url);
  const configuredProxy = await setting('config', '--get-urlmatch', 'http.proxy', url);
  const target = parseGitTarget(url);
  // Where the user's own settings send git somewhere else, that is what the user wants.
  if (target === undefined || network.allowPrivate === true || rewritten !== url) return await runGit(own, args, run);
  const { host, scheme } = target;
  const isWeb = scheme === 'http' || scheme === 'https';
  const isHere = isLoopback(target);
  const isProxied =
    isWeb && (configuredProxy !== '' || proxyFor({ ...target, isSecure: scheme === 'https' }, env) !== undefined);
  if (!isWeb || isProxied) {
    // A proxy resolves names itself, so only an address can be checked.
    if (!isHere && (host.isAddress || !isProxied)) await refusePrivate(target, network.resolve ?? lookUp, signal);
    return await runGit(own, args, run);
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
  try {
    const result = await runGit(own, args, { ...run, proxyPort: proxy.port });
    if (result.exitCode !== 0 && problem !== undefined) throw problem;
    return result;
  } finally {
    await proxy.close();
  }
}

/** Runs git and throws a refusal if it fails. */
async function mustGit(own: ScratchRepository, args: readonly string[], run: GitRun = {}): Promise<Buffer> {
  const result = await runGit(own, args, run);
  if (result.exitCode !== 0) throw gitFailed(result);
  return result.output;
}

export function gitFailed({ errors }: Pick<ProgramResult, 'errors'>): SkillError {
  return refused('source/failed', `git: ${shownErrors(errors)}`);
}

const MAX_SHOWN = 300;

/** The last lines of stderr, without user information in addresses. */
function shownErrors(errors: string): string {
  const lines = errors
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const text = lines
    .slice(-3)
    .join('; ')
    .replaceAll(/:\/\/[^/@\s]*@/g, '://');
  return text === '' ? 'it failed without a message' : printable(sliceStart(text, MAX_SHOWN));
}

function packBytes({ folder }: ScratchRepository): number {
  try {
    const packs = path.join(folder, 'objects', 'pack');
    return readdirSync(packs).reduce(
      (sum, name) => sum + (statSync(path.join(packs, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  } catch (error) {
    if (isSystemError(error)) return 0;
    throw error;
  }
}

/** Ref of the fetched commit. */
const OURS = 'refs/skillwright/brought';
const FULL_COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_COMMIT = /^[0-9a-f]{4,63}$/;
/** Messages for servers that cannot send a single commit. They are in English because the locale is set. */
const NO_SHALLOW = /does not support shallow|dumb http/i;
const NO_SUCH_REF =
  /couldn't find remote ref|not our ref|unadvertised object|no such ref|Server does not allow request/i;
const NO_REPOSITORY = /repository .* not found|does not appear to be a git repository|Repository not found|404/i;

/** Fetches a commit (default: the default branch) and returns its full id. Throws a refusal. */
async function fetchCommit(own: ScratchRepository, revision: string | undefined): Promise<string> {
  const failure = await tryFetch(own, [`${revision ?? 'HEAD'}:${OURS}`]);
  if (failure === undefined) return await resolveCommit(own, OURS, revision);
  if (!NO_SUCH_REF.test(failure)) throw ofFailure(failure);
  if (revision === undefined) throw refused('source/revision', 'the repository is empty: it has no default branch');
  if (!SHORT_COMMIT.test(revision) && !FULL_COMMIT.test(revision)) throw noRevision(revision);
  // The server does not send this commit by id, so fetch all branches and tags.
  const all = await tryFetch(
    own,
    ['+refs/heads/*:refs/skillwright/heads/*', '+refs/tags/*:refs/skillwright/tags/*'],
    false,
  );
  if (all !== undefined) throw ofFailure(all);
  return await resolveCommit(own, revision, revision);
}

/** Returns the error output of git; undefined if the fetch succeeded. */
async function tryFetch(
  own: ScratchRepository,
  refs: readonly string[],
  isShallow = true,
): Promise<string | undefined> {
  const { maxArchiveBytes } = own.context.limits;
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--force'];
  const result = await runRemoteGit(own, [...args, ...(isShallow ? ['--depth=1'] : []), '--', own.url, ...refs], {
    isTooMuch: () => packBytes(own) > maxArchiveBytes,
  });
  if (result.isTooMuch)
    throw refused('archive/too-large', `the repository has more than ${String(maxArchiveBytes)} bytes`);
  if (result.exitCode === 0) return undefined;
  if (isShallow && NO_SHALLOW.test(result.errors)) return await tryFetch(own, refs, false);
  return result.errors;
}

async function resolveCommit(own: ScratchRepository, name: string, revision: string | undefined): Promise<string> {
  const result = await runGit(own, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);
  const commit = result.output.toString('latin1').trim();
  if (result.exitCode === 0 && FULL_COMMIT.test(commit)) return commit;
  if (result.exitCode !== 0) throw noRevision(revision ?? 'HEAD');
  throw gitFailed(result);
}

function noRevision(revision: string): SkillError {
  return refused('source/revision', `the repository has no branch, tag or commit ${quoted(revision)}`);
}

/** git reads no repository of another user, because its settings could start programs. */
const OF_ANOTHER_USER = /dubious ownership in repository at '([^'\n]+)'/;

function ofFailure(errors: string): SkillError {
  const folder = OF_ANOTHER_USER.exec(errors)?.[1];
  if (folder !== undefined)
    return refused('source/refused', `git: ${quoted(folder, 200)} belongs to another user`, {
      hint: `if you trust its owner: git config --global --add safe.directory ${typedWord(folder)}`,
    });
  const code = NO_REPOSITORY.test(errors) ? 'source/missing' : 'source/failed';
  return refused(code, `git: ${shownErrors(errors)}`);
}

const PLUGIN_SKILL = /^skills\/([^/]+)\/SKILL\.md$/;

/** Creates the repository, fetches a commit (default: of the default branch) and lists its files. Throws a refusal. */
export async function fetchFiles(
  own: ScratchRepository,
  { ref, folder }: { readonly ref?: string; readonly folder?: string },
): Promise<{ readonly revision: string; readonly files: readonly TreeFile[]; readonly at: SourceFiles }> {
  await mustGit(own, ['init', '--quiet', '--bare', '--template=', '--', own.folder]);
  own.context.onProgress?.({ step: 'fetch' });
  const revision = await fetchCommit(own, ref);
  const files = await listTree(own, revision, folder);
  const read: SourceFiles['read'] = async (file) => {
    const found = files.find(({ path: at }) => at === file);
    if (found === undefined) return undefined;
    if (found.kind !== 'file') return unusable(file, 'is not a file');
    if (found.bytes > MAX_MANIFEST_BYTES)
      throw refused(codeFor(file), `${file} has more than ${String(MAX_MANIFEST_BYTES)} bytes`, file);
    const bytes = await mustGit(own, ['cat-file', 'blob', found.object]);
    return isUtf8(bytes) ? bytes.toString('utf8') : unusable(file, 'is not text in UTF-8');
  };
  const pluginSkills = (): readonly string[] =>
    files.flatMap(({ path: at, kind }) => (kind === 'file' ? (PLUGIN_SKILL.exec(at)?.[1] ?? []) : []));
  return { revision, files, at: { read, pluginSkills } };
}

export interface TreeFile {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'submodule';
  readonly isExecutable: boolean;
  readonly object: string;
  readonly bytes: number;
}

/** Limit for one repository. */
const MAX_FILES = 200_000;
const MAX_LISTING = 64 * 1024 * 1024;
const ENTRY = /^(\d{6}) (blob|commit|tree) ([0-9a-f]{40,64}) +(\d+|-)\t(.+)$/s;
const NOTHING_THERE = /Not a valid object name|not a tree object|does not exist/i;

/** Lists the files below `folder` in a commit, including links and submodules. Throws a refusal. */
async function listTree(
  own: ScratchRepository,
  commit: string,
  folder: string | undefined,
): Promise<readonly TreeFile[]> {
  const tree = folder === undefined ? commit : `${commit}:${folder}`;
  const result = await runGit(own, ['ls-tree', '-r', '-z', '-l', '--full-tree', tree], { maxOutputBytes: MAX_LISTING });
  if (result.isTooMuch) throw tooMany();
  if (result.exitCode !== 0 && NOTHING_THERE.test(result.errors))
    throw refused('source/missing', `the commit ${commit} has no folder ${quoted(folder ?? '')}`);
  if (result.exitCode !== 0) throw gitFailed(result);
  if (!isUtf8(result.output)) throw refused('archive/name', 'the repository has a file name that is not UTF-8');
  const lines = result.output.toString('utf8').split('\0').slice(0, -1);
  if (lines.length > MAX_FILES) throw tooMany();
  return lines.map(readEntry);
}

function readEntry(line: string): TreeFile {
  const [, mode = '', type = '', object = '', size = '', path = ''] = ENTRY.exec(line) ?? [];
  if (path === '') throw refused('source/failed', `git listed ${quoted(line)}, which is not a file entry`);
  const kind = type === 'commit' ? 'submodule' : mode === '120000' ? 'link' : 'file';
  return { path, kind, isExecutable: mode === '100755', object, bytes: size === '-' ? 0 : Number(size) };
}

function tooMany(): SkillError {
  return refused('archive/too-many', `the repository has more than ${String(MAX_FILES)} files; specify a folder`);
}

const LINE = /^([0-9a-f]{40}|[0-9a-f]{64})\t(.+)$/;

/**
 * The commit of a branch or tag, without fetching. Undefined if `ls-remote` cannot tell: unknown ref, abbreviated commit, or an unreachable
 * server. Staging the source reports the reason. Writes nothing.
 */
export async function remoteCommit(
  source: Extract<PackSource, { type: 'git' }>,
  context: StageContext,
): Promise<string | undefined> {
  const { url, ref = 'HEAD' } = source;
  if (FULL_COMMIT.test(ref)) return ref;
  const commits = await listRefs(ref, { folder: path.join(context.to, 'repository'), url, context });
  // Same precedence as git. `^{}` is the commit that an annotated tag points to.
  for (const name of [ref, `refs/${ref}`, `refs/tags/${ref}`, `refs/heads/${ref}`]) {
    const commit = commits.get(`${name}^{}`) ?? commits.get(name);
    if (commit !== undefined) return commit;
  }
  return undefined;
}

/** Commits by ref name; empty if git fails or is not installed. */
async function listRefs(ref: string, own: ScratchRepository): Promise<ReadonlyMap<string, string>> {
  const commits = new Map<string, string>();
  try {
    const { exitCode, output } = await runRemoteGit(own, ['ls-remote', '--', own.url, ref, `${ref}^{}`]);
    for (const line of exitCode === 0 ? output.toString('latin1').split('\n') : []) {
      const [, commit, name] = LINE.exec(line) ?? [];
      if (commit !== undefined && name !== undefined) commits.set(name, commit);
    }
  } catch (error) {
    if (findRefusal(error) === undefined) throw error;
  }
  return commits;
}

const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ssh: 22, git: 9418 };

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
