import { failure, shownText, quoted, type ActionProblem, type PackageLayer, type Surroundings } from '#core';
import type { BuildOutcome, BuildSandbox } from './build-sandbox.ts';
import type { HostMount } from '../program-types.ts';
import type { RequestedPackage } from './declared-packages.ts';

/** What a package manager needs to resolve a request. */
export interface BuildRequest {
  readonly sandbox: BuildSandbox;
  readonly packages: readonly RequestedPackage[];
  readonly user: Omit<Surroundings, 'cwd'>;
  /** A folder of wheels or npm tarballs to use instead of an index. */
  readonly wheels: string | undefined;
  /** Hosts besides the index that may be reached. */
  readonly hosts: readonly string[];
}

/** Packages with exact versions and hashes, ready to be installed without asking the index for versions again. */
export interface ResolvedPackages {
  readonly packages: PackageLayer['packages'];
  /** Where they come from, without credentials. */
  readonly index: string;
  /** Where programs see the layer, relative to the workspace. */
  readonly target: string;
  /** Installs exactly these packages. */
  readonly install: (layer: NewLayer) => Promise<ActionProblem | undefined>;
}

/** An empty folder for packages, as the package manager sees it. */
interface NewLayer {
  readonly inside: string;
  /** The later path, which console scripts have to name: without mounts the folder is moved there. */
  readonly final: string;
  readonly mount: HostMount;
}

/** Console scripts name the interpreter by the path at which they were installed; a layer that is moved names its later one. */
export const MOVE_SCRIPTS = `
python3 -I -c '
import os, sys
target, final = (os.fsencode(each) + b"/bin/" for each in sys.argv[1:])
for entry in os.scandir(target):
    if target == final or not entry.is_file(follow_symlinks=False): continue
    with open(entry.path, "rb") as file: head, rest = file.read(4096), file.read()
    with open(entry.path, "wb") as file: file.write((head.replace(target, final) if head[:2] == b"#!" else head) + rest)
' "$target" "$final"
`;

export function packagesFailed(message: string, hint?: string): ActionProblem {
  return failure('packages/unavailable', message, hint === undefined ? {} : { hint });
}

/** A pattern in the output of a package manager, and the message and hint for it; the first group of the pattern is the name of a package. */
export type FailureRule =
  | readonly [
      pattern: RegExp,
      explain: (index: string, name: string, outcome: BuildOutcome) => readonly [message: string, hint?: string],
    ]
  | 'connection';

export const wrongHash = (index: string): readonly [string, string] => [
  `a downloaded package does not have the hash that ${index} states; nothing was installed`,
  'try again; if it happens again, the index or the network may be compromised',
];
export const noWheel = (index: string, name: string): readonly [string, string] => [
  `${quoted(name)} has no wheel for this Python in ${index}; a source distribution is not accepted, because it runs code when it is built`,
  'choose a version with wheels, or build a wheel yourself and pass: skillwright prepare SKILL --wheels DIR',
];
export const noPythonPackage = (index: string, name: string): readonly [string, string] => [
  `${index} has no package ${quoted(name)} for this Python`,
  'check the name and the version',
];
export const unreachableIndex = (index: string): readonly [string, string] => [
  `the package index ${index} cannot be reached`,
  'check the network connection, or install from a folder of wheels: skillwright prepare SKILL --wheels DIR',
];

/** Explains the end of a package manager by the first rule that applies. */
export function explainOutcome(
  outcome: BuildOutcome,
  index: string,
  rules: readonly FailureRule[],
  otherwise = 'resolved',
): ActionProblem {
  if (outcome.end.startsWith('denied'))
    return packagesFailed(
      `the sandbox cannot reach ${index} (${outcome.end})`,
      'use a container engine on this machine, or --executor bubblewrap or namespaces',
    );
  // uv wraps its messages.
  const text = `${outcome.stdout}\n${outcome.stderr}`.replaceAll(/\s+/g, ' ');
  for (const rule of rules) {
    const match = rule === 'connection' ? null : rule[0].exec(text);
    const found =
      rule === 'connection'
        ? connectionFailure(outcome, index)
        : match && packagesFailed(...rule[1](index, match[1] ?? 'a package', outcome));
    if (found) return found;
  }
  return packagesFailed(`the packages cannot be ${otherwise}: ${lastErrors(outcome)}`);
}

/** What prevented the connection to an index, if something did. Package managers report all of these as network errors. */
function connectionFailure({ stdout, stderr, refused }: BuildOutcome, index: string): ActionProblem | undefined {
  const text = `${stdout}\n${stderr}`;
  const [, problem] = TLS_PROBLEM.exec(text) ?? [];
  if (problem !== undefined)
    return packagesFailed(
      `the TLS certificate of ${index} is not trusted (${shownText(problem, 100)})`,
      'if a proxy of your company replaces certificates, name the file of its certificate authority: NODE_EXTRA_CA_CERTS or cafile for npm, PIP_CERT or SSL_CERT_FILE for Python',
    );
  const other = refused.find(({ reason }) => reason === 'not-granted');
  if (other !== undefined) {
    const host = shownText(other.port === 443 ? other.host : `${other.host}:${String(other.port)}`, 200);
    return packagesFailed(
      `${index} refers to files at ${host}, which the installation may not reach`,
      `add ${JSON.stringify(host)} to packages.hosts in the user configuration`,
    );
  }
  const hidden = refused.find(({ reason }) => reason === 'not-public');
  if (hidden !== undefined)
    return packagesFailed(
      `${shownText(hidden.host, 200)} resolves to an address that installations may not reach`,
      'check the name server of this machine',
    );
  return undefined;
}

/** Names of OpenSSL in Node, and the words of Python and of rustls in uv. */
const TLS_PROBLEM =
  /(UNABLE_TO_(?:GET_ISSUER_CERT\w*|VERIFY_LEAF_SIGNATURE)|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|CERT_\w+|ERR_TLS_\w+|CERTIFICATE_VERIFY_FAILED|(?:invalid peer certificate|self-signed certificate|unable to get local issuer certificate)[^\n]{0,80}|WRONG_VERSION_NUMBER)/i;

/** The last lines of a package manager that say what went wrong. */
export function lastErrors({ stderr, stdout, end }: BuildOutcome): string {
  const lines = `${stdout}\n${stderr}`.split('\n').map((line) => line.trim());
  const errors = lines.filter((line) => /^(?:ERROR|npm (?:ERR!|error)|error)[: ]/i.test(line));
  const shown = (errors.length > 0 ? errors : lines.filter((line) => line !== ''))
    .slice(-2)
    .map((line) => shownText(line, 300));
  return [end, ...shown].join('; ');
}
