import { namesIn } from '#platform';

/**
 * Files and folders below /etc that programs of every Linux sandbox may read, where they exist: what common programs need to start or to
 * give the same result as outside. `*` stands for a version. Every entry that exists costs each run one mount.
 *
 * Withheld are users, hosts and keys, and settings that may hold credentials: gitconfig, npmrc, pip.conf, wgetrc, maven/settings.xml,
 * profile and environment. Only parts of ssl are listed because of ssl/private. docs/executors.md lists the decisions.
 */
const READABLE: readonly string[] = [
  // Loader, alternatives, certificates.
  ['ld.so.cache', 'alternatives', 'ssl/certs', 'ssl/openssl.cnf', 'pki/ca-trust/extracted', 'pki/tls/certs'],
  ['crypto-policies'],
  // Time, locale, and the version of the distribution, without which pip fails.
  ['localtime', 'timezone', 'locale.alias', 'os-release', 'debian_version', 'lsb-release', 'redhat-release'],
  // Names of ports and protocols, types of files, fonts, terminals, paper.
  ['protocols', 'services', 'mime.types', 'magic', 'magic.mime', 'fonts', 'terminfo', 'inputrc', 'papersize'],
  // Interpreters and large programs that keep their own files here.
  ['python3', 'python3.*', 'perl', 'java-*-openjdk', 'maven/m2.conf', 'maven/logging', 'xml', 'ImageMagick-*'],
  ['ghostscript', 'libreoffice', 'texmf', 'R/ldpaths', 'R/Renviron', 'R/repositories'],
].flat();

/** Paths of the readable entries that this machine may have. A `*` matches digits and dots only. */
export function readableEtcFiles(): readonly string[] {
  const names = namesIn('/etc');
  return READABLE.flatMap((entry) => {
    if (!entry.includes('*')) return [`/etc/${entry}`];
    const pattern = new RegExp(`^${entry.replaceAll('.', String.raw`\.`).replace('*', String.raw`[\d.]+`)}$`);
    return names.filter((name) => pattern.test(name)).map((name) => `/etc/${name}`);
  });
}
