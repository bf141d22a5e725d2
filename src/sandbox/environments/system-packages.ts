/**
 * How to get a program: from the packages of this system (apt of Debian and Ubuntu, dnf of Fedora, brew of macOS), with `--with` from npm or the
 * Python index, or from its maker.
 */
import { readFileSync } from 'node:fs';

import { quietly } from '#platform';

/** `program apt dnf brew`; `-` where the system does not package it, `=` for the name of the program. */
const PACKAGES = `
  soffice libreoffice libreoffice libreoffice
  libreoffice = = =
  ffmpeg = ffmpeg-free =
  ffprobe ffmpeg ffmpeg-free ffmpeg
  pdftoppm poppler-utils poppler-utils poppler
  pdftotext poppler-utils poppler-utils poppler
  pdfinfo poppler-utils poppler-utils poppler
  pdfimages poppler-utils poppler-utils poppler
  pdfunite poppler-utils poppler-utils poppler
  pdftk pdftk-java pdftk-java pdftk-java
  qpdf = = =
  gs ghostscript ghostscript ghostscript
  pandoc = = =
  tesseract tesseract-ocr tesseract tesseract
  convert imagemagick ImageMagick imagemagick
  magick - ImageMagick imagemagick
  compare imagemagick ImageMagick imagemagick
  identify imagemagick ImageMagick imagemagick
  rsvg-convert librsvg2-bin librsvg2-tools librsvg
  inkscape = = =
  dot graphviz graphviz graphviz
  mmdc - - mermaid-cli
  exiftool libimage-exiftool-perl perl-Image-ExifTool exiftool
  jq = = =
  yq = yq =
  curl = = =
  wget = wget2-wget =
  git = = =
  gh = = =
  rg ripgrep ripgrep ripgrep
  fd - fd-find fd
  fzf = = =
  tree = = =
  zip = = =
  unzip = = =
  7z p7zip-full 7zip sevenzip
  xmllint libxml2-utils libxml2 libxml2
  xsltproc xsltproc libxslt libxslt
  sqlite3 = sqlite sqlite
  psql postgresql-client postgresql libpq
  mysql default-mysql-client mysql mysql-client
  redis-cli redis-tools redis redis
  node nodejs nodejs node
  npm npm nodejs-npm node
  npx npm nodejs-npm node
  pnpm - pnpm pnpm
  yarn - yarnpkg yarn
  bun - - oven-sh/bun/bun
  deno - - deno
  uv - uv uv
  python3 = = =
  pip python3-pip python3-pip python
  pipx = = =
  ruby = = =
  perl = = =
  php php-cli php-cli php
  java default-jre-headless java-latest-openjdk-headless openjdk
  go golang-go golang go
  cargo = = rust
  rustc = rust rust
  cmake = = =
  make = = make
  gcc = = gcc
  docker docker.io moby-engine docker
  podman = = =
  kubectl - kubernetes-client kubernetes-cli
  helm - helm helm
  terraform - - hashicorp/tap/terraform
  aws awscli awscli2 awscli
  gcloud - - google-cloud-sdk
  az - azure-cli azure-cli
  chromium = = =
  google-chrome - - google-chrome
  xdotool = = -
  scrot = = -
  xvfb-run xvfb xorg-x11-server-Xvfb -
  pdflatex texlive-latex-base texlive-latex texlive
  xelatex texlive-xetex texlive-xetex texlive
  latexmk = = texlive
  typst - typst typst
  yt-dlp = = =
  sox = = =
  lame = = =
  espeak = espeak-ng -
  espeak-ng = = =
  bc = = =
  parallel = = =
  shellcheck = ShellCheck =
  pwsh - - powershell
  codeql - - codeql
  semgrep - - semgrep
  tsx - - -
  expect = = =
  tmux = = =
  dig bind9-dnsutils bind-utils bind
  nc netcat-openbsd nmap-ncat netcat
  nmap = = =
  rsync = = =
  ssh openssh-client openssh-clients openssh
  gpg gnupg gnupg2 gnupg
  openssl = = =
  minisign = = =
  file = = =
  xxd xxd vim-common vim
  bwrap bubblewrap bubblewrap -
`;

/** Packages with programs that need no installation on this machine, as `--with` takes them. */
const BY_INDEX: ReadonlyMap<string, string> = new Map([
  // Later versions are binaries that an install script fetches.
  ['pnpm', 'npm:pnpm@10'],
  ['yarn', 'npm:yarn'],
  ['tsx', 'npm:tsx'],
  ['ts-node', 'npm:ts-node'],
  ['prettier', 'npm:prettier'],
  ...['uv', 'ruff', 'black', 'mypy', 'pytest', 'flake8', 'bandit', 'semgrep', 'yt-dlp', 'pre-commit'].map(
    (name): [string, string] => [name, name],
  ),
]);

/** Where their makers say how to install programs that systems do not package. */
const BY_MAKER: ReadonlyMap<string, string> = new Map([
  ['helm', 'https://helm.sh/docs/intro/install/'],
  ['kubectl', 'https://kubernetes.io/docs/tasks/tools/'],
  ['terraform', 'https://developer.hashicorp.com/terraform/install'],
  ['codeql', 'https://github.com/github/codeql-cli-binaries/releases'],
  ['pwsh', 'https://aka.ms/install-powershell'],
  ['gcloud', 'https://cloud.google.com/sdk/docs/install'],
  ['az', 'https://aka.ms/azure-cli'],
  ['bun', 'https://bun.sh/docs/installation'],
  ['deno', 'https://docs.deno.com/runtime/getting_started/installation/'],
  ['typst', 'https://github.com/typst/typst#installation'],
  ['mmdc', 'https://github.com/mermaid-js/mermaid-cli#installation'],
  ['google-chrome', 'https://www.google.com/chrome/'],
  ['magick', 'https://imagemagick.org/script/download.php'],
]);

const COMMANDS = { apt: 'apt install', dnf: 'dnf install', brew: 'brew install' } as const;

/** The packages of a system: `other` where they are not known, `image` where programs run in an image. */
export type PackageManager = keyof typeof COMMANDS | 'other' | 'image';

const BY_PROGRAM: ReadonlyMap<string, readonly string[]> = new Map(
  PACKAGES.trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([program = '', ...names]) => [program, names.map((name) => (name === '=' ? program : name))]),
);

const MANAGERS = ['apt', 'dnf', 'brew'] as const;

export function isKnownProgram(program: string): boolean {
  return BY_PROGRAM.has(program) || BY_INDEX.has(program);
}

/** The manager of this machine, from `ID` and `ID_LIKE` of os-release. */
export function findPackageManager(platform = process.platform, release = readRelease()): PackageManager {
  if (platform === 'darwin') return 'brew';
  const ids = [...release.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].flatMap(([, value = '']) =>
    value.replaceAll('"', '').split(' '),
  );
  if (ids.some((id) => id === 'debian' || id === 'ubuntu')) return 'apt';
  return ids.some((id) => id === 'fedora' || id === 'rhel') ? 'dnf' : 'other';
}

function readRelease(): string {
  return quietly(() => readFileSync('/etc/os-release', 'utf8'), '');
}

/** The package for `--with` that brings a program. */
export function packageOfProgram(program: string): string | undefined {
  return BY_INDEX.get(program);
}

/** One line for a person: how to install a program. */
export function installHint(program: string, manager: PackageManager = findPackageManager()): string {
  if (manager === 'image') return `add --image NAME with an image that has ${program}`;
  if (manager !== 'other') {
    const name = BY_PROGRAM.get(program)?.[MANAGERS.indexOf(manager)] ?? '-';
    if (name !== '-') return `run: ${COMMANDS[manager]} ${name}`;
  }
  const page = BY_MAKER.get(program);
  const how = page === undefined ? '' : ` (see ${page})`;
  return `install ${program} into /usr/local/bin, where programs find it${how}`;
}
