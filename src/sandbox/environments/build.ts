import {
  failure,
  shownText,
  stableJson,
  type ActionProblem,
  type RequestedPackage,
  type PackageLayer,
  type Surroundings,
} from '#core';
import { sha256 } from '#platform';
import type { BuildOutcome, BuildSandbox } from './build-sandbox.ts';

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
  readonly type: 'resolved';
  readonly ecosystem: RequestedPackage['ecosystem'];
  readonly packages: readonly PackageLayer['packages'][number][];
  readonly lockDigest: string;
  /** Where they come from, without credentials. */
  readonly index: string;
  /**
   * Installs exactly these packages into an empty folder of the host, which is mounted at the final path of the layer. Without mounts the
   * folder is moved to `final` afterwards, which console scripts have to name.
   */
  readonly install: (tree: string, final: string) => Promise<ActionProblem | undefined>;
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

export function digestLock(
  ecosystem: RequestedPackage['ecosystem'],
  packages: readonly PackageLayer['packages'][number][],
): string {
  return `sha256:${sha256(stableJson({ ecosystem, packages }))}`;
}

export function packagesFailed(message: string, hint?: string): ActionProblem {
  return failure('packages/unavailable', message, hint === undefined ? {} : { hint });
}

/** What prevented the connection to an index, if something did. Package managers report all of these as network errors. */
export function connectionFailure({ stdout, stderr, refused }: BuildOutcome, index: string): ActionProblem | undefined {
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
