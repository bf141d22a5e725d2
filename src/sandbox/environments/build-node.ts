/**
 * Node packages by npm: no scripts of packages run while they are installed, and every package has a hash. The lock is made first; the
 * packages are downloaded and installed later, exactly as it says.
 */
import path from 'node:path';

import { parseJson, quoted, type ActionProblem, type PackageLayer } from '#core';
import { inConfined } from '#platform';
import {
  explainOutcome,
  lastErrors,
  packagesFailed,
  wrongHash,
  type BuildRequest,
  type FailureRule,
  type ResolvedPackages,
} from './build.ts';
import { copyCertificates, hostGrant, npmSettings, withoutCredentials } from './index-settings.ts';
import { readSkillText } from './skill-text.ts';
import type { RequestedPackage } from './declared-packages.ts';

/** Where programs see the packages: above all skills and the working folder, so that `import` and `require` both find them. */
export const NODE_TARGET = 'node_modules';
const MAX_LOCK_BYTES = 16 * 1024 * 1024;

const FLAGS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--loglevel=error',
  '--fetch-retries=1',
];
const NO_NPM = 'run: apt install npm, or: dnf install nodejs-npm, or: brew install node';

export async function resolveNode(request: BuildRequest): Promise<ResolvedPackages | ActionProblem> {
  const { sandbox, packages, user, wheels } = request;
  if (wheels !== undefined)
    return packagesFailed(
      'a folder of wheels has no Node packages',
      'run skillwright prepare without --wheels for npm: packages',
    );
  const settings = npmSettings(user);
  const asked = await sandbox.run({ argv: ['npm', 'config', 'get', 'registry'] });
  if (!asked.isDone) return packagesFailed(`npm cannot be run in the sandbox (${asked.end})`, NO_NPM);
  const registry = settings.registry ?? asked.stdout.trim();
  const host = hostGrant(registry);
  if (host === undefined)
    return packagesFailed(`the npm registry ${quoted(registry)} is not an HTTP address`, 'set registry in ~/.npmrc');
  const network = [host, ...request.hosts];
  const cafile = copyCertificates(settings.certificates, 'npm-ca.pem', sandbox);
  const extra = copyCertificates(settings.extraCertificates, 'node-ca.pem', sandbox);
  if (typeof cafile === 'object') return cafile;
  if (typeof extra === 'object') return extra;
  const trust = cafile === undefined ? [] : [`cafile=${cafile}`];
  const npmrc = [`registry=${registry}`, ...settings.lines, ...trust, ''].join('\n');
  const env: Readonly<Record<string, string>> = extra === undefined ? {} : { NODE_EXTRA_CA_CERTS: extra };
  const manifest = JSON.stringify({ private: true, dependencies: Object.fromEntries(packages.map(dependency)) });
  const folder = `${sandbox.root}/work/node`;
  const resolved = await sandbox.run({
    argv: ['sh', '-c', RESOLVE, 'sh', folder, manifest, ...FLAGS],
    stdin: npmrc,
    env,
    network,
  });
  const index = withoutCredentials(registry);
  if (!resolved.isDone) return explainOutcome(resolved, index, FAILURES, 'installed');
  const lockText = lockIn(path.join(sandbox.work, 'node'));
  const locked = lockText === undefined ? 'package-lock.json is missing' : lockedPackages(lockText, registry);
  if (typeof locked === 'string') return packagesFailed(`the packages cannot be locked: ${locked}`);
  return {
    packages: locked,
    index,
    target: 'packages/node',
    install: async ({ inside, mount }) => {
      const installed = await sandbox.run({
        argv: ['sh', '-c', INSTALL, 'sh', inside, manifest, folder, ...FLAGS],
        stdin: npmrc,
        env,
        network,
        mounts: [mount],
      });
      return installed.isDone ? undefined : explainOutcome(installed, index, FAILURES, 'installed');
    },
  };
}

/** The user's registry settings come by stdin, so that access tokens are in no command line. */
const RESOLVE = `
folder=$1; manifest=$2; shift 2
mkdir -p "$folder" && cd "$folder" && cat > .npmrc && printf %s "$manifest" > package.json && exec npm install --package-lock-only "$@"
`;
const INSTALL = `
target=$1; manifest=$2; folder=$3; shift 3
cd "$target" && cat > "$HOME/.npmrc" && printf %s "$manifest" > package.json && cp "$folder/package-lock.json" . &&
npm ci "$@" && mkdir -p node_modules && rm -f .npmrc
`;

function dependency({ name, text }: RequestedPackage): [string, string] {
  return [name, text === name ? '*' : text.slice(name.length + 1)];
}

function lockIn(folder: string): string | undefined {
  return inConfined(
    folder,
    (directory) => readSkillText(directory, 'package-lock.json', MAX_LOCK_BYTES),
    () => undefined,
  );
}

/** The packages of a lock file, or why it is refused: a package from elsewhere has no hash that the registry vouches for. */
function lockedPackages(text: string, registry: string): PackageLayer['packages'] | string {
  const lock = parseJson(text);
  const packages = typeof lock === 'object' && lock !== null && 'packages' in lock ? lock.packages : undefined;
  if (typeof packages !== 'object' || packages === null) return 'package-lock.json lists no packages';
  const found: PackageLayer['packages'][number][] = [];
  for (const [place, value] of Object.entries(packages) as [string, unknown][]) {
    if (place === '') continue;
    const entry = typeof value === 'object' && value !== null ? value : {};
    const { version, resolved, integrity } = { version: '', resolved: '', integrity: '', ...entry };
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (
      typeof version !== 'string' ||
      typeof resolved !== 'string' ||
      typeof integrity !== 'string' ||
      integrity === ''
    )
      return `${quoted(name)} has no hash`;
    if (!URL.canParse(resolved) || new URL(resolved).host !== new URL(registry).host)
      return `${quoted(name)} comes from ${quoted(resolved, 200)} and not from the registry`;
    found.push({ name, version, hash: integrity });
  }
  return found.toSorted((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

const FAILURES: readonly FailureRule[] = [
  [
    /404 Not Found - GET \S{1,500}\/((?:@[\w.-]{1,100}(?:%2f|\/))?[\w.-]{1,100})(?:\s|$)/i,
    (index, name) => [`${index} has no package ${quoted(name)}`, 'check the name and the version'],
  ],
  [
    /ETARGET|No matching version/,
    (index, _name, outcome) => [`${index} has no such version: ${lastErrors(outcome)}`, 'check the version'],
  ],
  [/EINTEGRITY/, wrongHash],
  'connection',
  [
    /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|tunneling socket|E50\d|403/,
    (index) => [`the npm registry ${index} cannot be reached`, 'check the network connection and registry in ~/.npmrc'],
  ],
];
