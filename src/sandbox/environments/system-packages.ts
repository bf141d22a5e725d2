/** Which package of a system provides a program: for Debian and Ubuntu (apt), Fedora (dnf) and macOS (brew), or npm for all. */

/** `program apt dnf brew npm`; `-` where the system does not package it, `=` for the name of the program. */
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
  magick imagemagick ImageMagick imagemagick
  identify imagemagick ImageMagick imagemagick
  rsvg-convert librsvg2-bin librsvg2-tools librsvg
  inkscape = = =
  dot graphviz graphviz graphviz
  mmdc - - mermaid-cli @mermaid-js/mermaid-cli
  exiftool libimage-exiftool-perl perl-Image-ExifTool exiftool
  jq = = =
  yq = yq =
  curl = = =
  wget = wget2-wget =
  git = = =
  gh = = =
  rg ripgrep ripgrep ripgrep
  fd fd-find fd-find fd
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
  pnpm - - = =
  yarn - - = =
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
  google-chrome chromium chromium google-chrome
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
  espeak espeak-ng espeak-ng espeak-ng
  bc = = =
  parallel = = =
  shellcheck = ShellCheck =
  pwsh - - powershell
  tsx - - - =
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

const MANAGERS = ['apt install', 'dnf install', 'brew install', 'npm install -g'] as const;

const BY_PROGRAM: ReadonlyMap<string, readonly string[]> = new Map(
  PACKAGES.trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([program = '', ...names]) => [program, names.map((name) => (name === '=' ? program : name))]),
);

/** The commands that install a program, such as `apt install poppler-utils`; empty where no package is known. */
export function installCommands(program: string): readonly string[] {
  const names = BY_PROGRAM.get(program) ?? [];
  return MANAGERS.flatMap((manager, place) => {
    const name = names[place] ?? '-';
    return name === '-' ? [] : [`${manager} ${name}`];
  });
}

/** One line for a person: how to install a program. */
export function installHint(program: string): string {
  const commands = installCommands(program);
  return commands.length === 0 ? `install ${program} so that it is in /usr/local/bin` : commands.join(', or: ');
}
