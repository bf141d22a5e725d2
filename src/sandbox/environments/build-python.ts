/**
 * Python packages by uv where the user has it (`build-uv.ts`), else by pip: wheels only, so that no code of a package runs while it is installed. All wheels are downloaded first, with
 * network to the index; they are installed later, by hash and without network.
 */
import path from 'node:path';

import { normalName, parseJson, quoted, readField, type ActionProblem, type PackageLayer } from '#core';
import { findTreeRefusal, walkOpened } from '#platform';
import {
  MOVE_SCRIPTS,
  explainOutcome,
  lastErrors,
  noPythonPackage,
  noWheel,
  packagesFailed,
  unreachableIndex,
  wrongHash,
  type BuildRequest,
  type FailureRule,
  type ResolvedPackages,
} from './build.ts';
import { readDefaultIndex, findUv, resolveWithUv } from './build-uv.ts';
import { copyCertificates, hostGrant, pipSettings, withoutCredentials } from './index-settings.ts';
import type { HostMount } from '../program-types.ts';

/** Where programs see the packages. Console scripts contain this path, so a layer is built and used at the same place. */
export const PYTHON_TARGET = 'packages/python';
const WHEELS_TARGET = 'packages/wheels';

/** Prints what the Python of programs can do. A Python without pip may still ship its wheel, which knows the default index. */
const PROBE = `
import glob, importlib.util, json, os, sys
found = {'version': '.'.join(map(str, sys.version_info[:3])), 'pip': importlib.util.find_spec('pip') is not None}
sys.path += glob.glob(os.path.dirname(os.__file__) + '/ensurepip/_bundled/pip-*.whl') + glob.glob('/usr/share/python-wheels/pip-*.whl')
try:
    from pip._internal.models.index import PyPI
    found['index'] = PyPI.simple_url
    found['files'] = PyPI.file_storage_domain
except Exception:
    pass
print(json.dumps(found))
`;

const QUIET = ['--disable-pip-version-check', '--no-input', '--no-cache-dir', '--no-color'];
const DOWNLOAD = [
  ['python3', '-I', '-m', 'pip', 'download', '-vv', ...QUIET],
  ['--progress-bar', 'off', '--retries', '1', '--timeout', '20', '--only-binary', ':all:'],
].flat();
const NO_PIP = 'run: apt install python3-pip, or: dnf install python3-pip, or: brew install python; or install uv';

export async function resolvePython(request: BuildRequest): Promise<ResolvedPackages | ActionProblem> {
  const { sandbox, packages, user, wheels } = request;
  const probe = await sandbox.run({ argv: ['python3', '-I', '-c', PROBE] });
  const python = probeResult(probe.stdout);
  if (!probe.isDone || python === undefined)
    return packagesFailed(
      `python3 cannot be run in the sandbox (${lastErrors(probe)})`,
      'run: apt install python3 python3-pip',
    );
  const uv = await findUv(user, sandbox);
  if (!python.pip && uv === undefined)
    return packagesFailed(`Python ${python.version} of the sandbox has no pip, which installs packages`, NO_PIP);

  const settings = pipSettings(user);
  const index =
    settings.index ?? python.index ?? (uv === undefined ? undefined : await readDefaultIndex(uv, sandbox)) ?? '';
  const files = settings.index === undefined ? python.files : undefined;
  const certificates = wheels === undefined ? copyCertificates(settings.certificates, 'ca.pem', sandbox) : undefined;
  if (typeof certificates === 'object') return certificates;
  const trust: Readonly<Record<string, string>> =
    certificates === undefined ? {} : { PIP_CERT: certificates, SSL_CERT_FILE: certificates };
  const network = wheels === undefined ? grants(index, settings.extraIndexes, files) : [];
  if (network === undefined)
    return packagesFailed(
      index === ''
        ? 'no package index is configured, and neither pip nor uv names a default'
        : `the package index ${quoted(withoutCredentials(index) || index)} is not an HTTP address`,
      'set index-url in pip.conf, or pass --wheels DIR to skillwright prepare',
    );
  const reached = network.length === 0 ? [] : [...network, ...request.hosts];
  const from = wheels === undefined ? withoutCredentials(index) : `the folder ${wheels}`;
  const inside = wheels === undefined || sandbox.isOwnPath ? wheels : `${sandbox.root}/${WHEELS_TARGET}`;
  const mounts: readonly HostMount[] =
    wheels === undefined ? [] : [{ source: wheels, target: inside ?? wheels, access: 'read' }];
  const sources = inside === undefined ? [] : ['--no-index', '--find-links', inside];
  if (uv !== undefined) {
    const own = wheels === undefined ? index : undefined;
    const source = { settings, trust, index: own, from, network: reached, sources, mounts, target: PYTHON_TARGET };
    return await resolveWithUv(uv, packages, sandbox, source);
  }
  const [extra, trusted] = [settings.extraIndexes.join(' '), settings.trustedHosts.join(' ')];
  const download = await sandbox.run({
    argv: [...DOWNLOAD, '--dest', `${sandbox.root}/work/wheels`, ...sources, ...packages.map(({ text }) => text)],
    env: {
      PIP_CONFIG_FILE: '/dev/null',
      ...trust,
      ...(wheels === undefined ? { PIP_INDEX_URL: index } : {}),
      ...(extra === '' ? {} : { PIP_EXTRA_INDEX_URL: extra }),
      ...(trusted === '' ? {} : { PIP_TRUSTED_HOST: trusted }),
    },
    network: reached,
    mounts,
  });
  if (!download.isDone) return explainOutcome(download, from, FAILURES);
  const locked = wheelsIn(path.join(sandbox.work, 'wheels'));
  if (typeof locked === 'string') return packagesFailed(`the downloaded wheels cannot be read: ${locked}`);
  return {
    packages: locked,
    index: from,
    target: PYTHON_TARGET,
    install: async ({ inside, final, mount }) => {
      const installed = await sandbox.run({
        argv: ['sh', '-c', INSTALL, 'sh', inside, final, `${sandbox.root}/work/wheels`, ...QUIET],
        env: { PIP_CONFIG_FILE: '/dev/null' },
        stdin: locked.map(({ name, version, hash }) => `${name}==${version} --hash=${hash}\n`).join(''),
        mounts: [mount],
      });
      return installed.isDone ? undefined : explainOutcome(installed, from, [], 'installed');
    },
  };
}

/** Packages of the system stay visible, as they are without a layer; those of the layer come first. */
const INSTALL = `
target=$1; final=$2; wheels=$3; lock=$TMPDIR/lock.txt; shift 3
cat > "$lock" &&
python3 -I -m venv --without-pip --system-site-packages "$target" &&
"$target/bin/python3" -I -m pip install "$@" --progress-bar off --no-index --find-links "$wheels" --only-binary :all: \\
  --no-deps --ignore-installed --require-hashes -r "$lock" && ${MOVE_SCRIPTS}`;

interface PythonFacts {
  readonly version: string;
  readonly pip: boolean;
  readonly index?: string;
  /** The host of the files of the default index. */
  readonly files?: string;
}

function probeResult(text: string): PythonFacts | undefined {
  const parsed = parseJson(text);
  const [version, pip, index, files] = ['version', 'pip', 'index', 'files'].map((name) => readField(parsed, name));
  if (typeof version !== 'string' || typeof pip !== 'boolean') return undefined;
  const known = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return { version, pip, index: known(index), files: known(files) };
}

function grants(index: string, extra: readonly string[], files: string | undefined): readonly string[] | undefined {
  const hosts = [index, ...extra].map(hostGrant);
  const known = hosts.filter((host) => host !== undefined);
  if (known.length < hosts.length) return undefined;
  return [...new Set([...known, ...(files === undefined ? [] : [`private://${files}:443`])])];
}

/** `name-version-tags.whl`, where name and version contain no hyphens. */
const WHEEL = /^([A-Za-z0-9_.]+)-([\w.!+]+)(?:-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl$/;

/** The names, versions and hashes of downloaded wheels, or why they cannot be read. */
function wheelsIn(folder: string): PackageLayer['packages'] | string {
  const found: PackageLayer['packages'][number][] = [];
  const limits = { maxEntries: 10_000, maxBytes: 64 * 1024 ** 3, maxDepth: 1 };
  try {
    for (const entry of walkOpened(folder, { limits })) {
      if (entry.type === 'folder' && entry.path === '') continue;
      if (entry.type !== 'file') return `${quoted(entry.path)} is not a file`;
      const [, name, version] = WHEEL.exec(entry.path) ?? [];
      if (name === undefined || version === undefined) return `${quoted(entry.path)} is not a wheel`;
      found.push({ name: normalName(name), version, hash: `sha256:${entry.hash()}` });
    }
  } catch (error) {
    const refusal = findTreeRefusal(error);
    if (refusal === undefined) throw error;
    return refusal.message;
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const FAILURES: readonly FailureRule[] = [
  [/DO NOT MATCH THE HASHES/, wrongHash],
  'connection',
  [/^(?=[^]*No sources permitted for)[^]*No matching distribution found for (\S{1,100})/, noWheel],
  [
    /Failed to establish a new connection|NewConnectionError|Name or service not known|Connection refused|timed out|50\d Server Error|Max retries/i,
    unreachableIndex,
  ],
  [/No matching distribution found for (\S{1,100})/, noPythonPackage],
];
