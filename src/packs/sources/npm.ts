/**
 * Stages skills from an npm package: below a folder `skills`, or one at its top. npm fetches the package, so the user's registries and
 * tokens apply. No code of the package runs, and the npm settings of the current project, which may be untrusted, are not used.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { isObject, parseJson, printable, quoted, sliceStart, type SkillError } from '#core';
import { refused, type PackProblem } from '../problems.ts';
import { sourceText } from './source-text.ts';
import type { PackSource, SourceContents, StageContext } from './source.ts';
import { unpack } from './archive.ts';
import { runProgram } from './run-program.ts';

const EXACT_VERSION = /^\d[\w.+-]{0,127}$/;
const TIMEOUT_MS = 300_000;
const MAX_SHOWN = 300;

interface PackedPackage {
  readonly file: string;
  readonly version: string;
  readonly archive: string;
}

export async function stageNpm(
  source: Extract<PackSource, { type: 'npm' }>,
  context: StageContext,
): Promise<SourceContents> {
  const { expect } = context;
  // The lock is untrusted, and npm would accept addresses and folders as versions.
  if (expect?.revision !== undefined && !EXACT_VERSION.test(expect.revision))
    throw refused('source/revision', `${quoted(expect.revision)} is not a package version`);
  const { version, ...packed } = await packPackage(source, context);
  if (expect?.revision !== undefined && expect.revision !== version)
    throw refused('source/revision', `npm returned version ${quoted(version)}, expected ${quoted(expect.revision)}`);
  const names = { shown: sourceText(source), fallbackName: path.posix.basename(source.name) };
  const contents = await unpack({ ...packed, ...names, hasTopFolder: true, isMeant: isSkillOfPackage }, context);
  return { ...contents, revision: version };
}

/**
 * Whether a package means a folder with a SKILL.md to be installed: its top, or one below `skills`, also of `.claude`, a plugin or a group
 * such as `skills/.curated`. Copies in tests and dependencies are not meant.
 */
export function isSkillOfPackage(folder: string): boolean {
  if (folder === '') return true;
  return (
    /(?:^|\/)skills\/(?:\.[^/]+\/)?[^/]+$/.test(folder) && !/(?:^|\/)(?:node_modules|tests?|fixtures)\//.test(folder)
  );
}

/** Downloads the package into the staging folder. */
async function packPackage(
  { name, range }: Extract<PackSource, { type: 'npm' }>,
  context: StageContext,
): Promise<PackedPackage> {
  const { to, network, limits, expect, signal } = context;
  const destination = path.join(to, 'package');
  mkdirSync(destination);
  const requested = `${name}@${expect?.revision ?? range ?? 'latest'}`;
  context.onProgress?.({ step: 'fetch' });
  const result = await runProgram({
    argv: [
      network.npm ?? 'npm',
      'pack',
      '--json',
      '--ignore-scripts',
      // An empty folder, so that npm does not read the settings of the current project.
      `--prefix=${destination}`,
      `--pack-destination=${destination}`,
      ...(network.npmRegistry === undefined ? [] : [`--registry=${network.npmRegistry}`]),
      '--',
      requested,
    ],
    cwd: destination,
    env: npmEnvironment(context.env),
    timeoutMs: network.timeoutMs ?? TIMEOUT_MS,
    signal,
    isTooMuch: () => measureFolder(destination) > limits.maxArchiveBytes,
  });
  if (result.isTooMuch)
    throw refused('archive/too-large', `${quoted(requested)} has more than ${String(limits.maxArchiveBytes)} bytes`);
  const report = parseJson(result.output.toString('utf8'));
  if (result.exitCode !== 0) throw failed(requested, report, result.errors);
  const packed = readPacked(destination, report);
  if (packed === undefined) throw refused('source/failed', `npm did not report the package for ${quoted(requested)}`);
  return packed;
}

/** Passes all variables, because registries may read tokens from any of them. */
function npmEnvironment(env: StageContext['env']): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) passed[name] = value;
  return {
    ...passed,
    npm_config_ignore_scripts: 'true',
    npm_config_update_notifier: 'false',
    npm_config_loglevel: 'error',
    npm_config_progress: 'false',
  };
}

function measureFolder(folder: string): number {
  return readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(path.join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** npm has verified the registry's integrity. This checks that the file is the one npm reported. */
function readPacked(destination: string, report: unknown): PackedPackage | undefined {
  const first: unknown = Array.isArray(report) ? report[0] : undefined;
  const [name, second] = readdirSync(destination).filter((each) => each.endsWith('.tgz'));
  if (!isObject(first) || name === undefined || second !== undefined) return undefined;
  const { version, integrity } = first;
  if (typeof version !== 'string' || typeof integrity !== 'string') return undefined;
  const file = path.join(destination, name);
  const bytes = readFileSync(file);
  const digest = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (!integrity.split(' ').includes(digest))
    throw refused('source/digest', `${quoted(name)} is not the package that npm reported`);
  return { file, version, archive: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}

function failed(requested: string, report: unknown, errors: string): SkillError {
  const error = isObject(report) && isObject(report['error']) ? report['error'] : {};
  const code = typeof error['code'] === 'string' ? error['code'] : (/code (E\w+)/.exec(errors)?.[1] ?? '');
  const summary = typeof error['summary'] === 'string' ? error['summary'] : errors.trim();
  const words = `npm ${quoted(requested)}: ${printable(sliceStart(summary, MAX_SHOWN)) || 'it failed without a message'}`;
  return refused(NPM_PROBLEMS.get(code) ?? 'source/failed', words);
}

const NPM_PROBLEMS: ReadonlyMap<string, PackProblem> = new Map([
  ['E404', 'source/missing'],
  ['ETARGET', 'source/revision'],
  ['ENOVERSIONS', 'source/revision'],
  ['EINTEGRITY', 'source/digest'],
  ['E401', 'source/refused'],
  ['E403', 'source/refused'],
]);
