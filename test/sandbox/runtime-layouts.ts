import { cpSync, linkSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A runtime as a version manager installs it below a home folder. */
export interface Layout {
  readonly name: string;
  readonly language: 'node' | 'python';
  /** The real executable, below the home folder. */
  readonly executable: string;
  /** Where npm or the standard library is. */
  readonly library: string;
  /** Links and scripts by which a shell finds it: a path, and what it leads to. */
  readonly links?: Readonly<Record<string, string>>;
  readonly shims?: readonly string[];
}

/** The trees as the tools leave them on disk, for a Python whose executable has a version in its name. */
export function runtimeLayouts(pythonName: string): readonly Layout[] {
  const python = (name: string, prefix: string, links: Pick<Layout, 'links' | 'shims'>): Layout => ({
    name,
    language: 'python',
    executable: path.join(prefix, 'bin', pythonName),
    library: path.join(prefix, 'lib', pythonName),
    ...links,
  });
  return [
    node('nvm', '.nvm/versions/node/v20.1.0', { links: { '.nvm/alias/default': 'v20' } }),
    node('fnm', '.local/share/fnm/node-versions/v20.1.0/installation', {
      links: { '.local/state/fnm_multishells/1': '../../share/fnm/node-versions/v20.1.0/installation' },
    }),
    node('volta', '.volta/tools/image/node/20.1.0', { shims: ['.volta/bin/node', '.volta/bin/npm'] }),
    node('asdf', '.asdf/installs/nodejs/20.1.0', { shims: ['.asdf/shims/node'] }),
    node('mise', '.local/share/mise/installs/node/20.1.0', { shims: ['.local/share/mise/shims/node'] }),
    node('~/.local', '.local', {}),
    node('~/bin', '', {}),
    node('conda', 'miniconda3', { links: { 'miniconda3/envs/work/bin/node': '../../../bin/node' } }),
    {
      ...node('Homebrew', '.linuxbrew/Cellar/node/20.1.0', {
        links: { '.linuxbrew/bin/node': '../Cellar/node/20.1.0/bin/node' },
      }),
      library: '.linuxbrew/Cellar/node/20.1.0/libexec/lib/node_modules/npm',
    },
    node('beside rustup', '.cargo', { shims: ['.cargo/bin/cargo', '.rustup/toolchains/stable/bin/rustc'] }),
    python('pyenv', '.pyenv/versions/3.99.1', { shims: ['.pyenv/shims/python3'] }),
    python('uv', '.local/share/uv/python/cpython-3.99.1-linux', {
      links: { '.local/bin/python3': `../share/uv/python/cpython-3.99.1-linux/bin/${pythonName}` },
    }),
    python('asdf', '.asdf/installs/python/3.99.1', { shims: ['.asdf/shims/python3'] }),
    python('mise', '.local/share/mise/installs/python/3.99.1', { shims: ['.local/share/mise/shims/python3'] }),
    python('conda', 'miniconda3', { links: { 'miniconda3/envs/work/bin/python3': `../../../bin/${pythonName}` } }),
    python('~/.local', '.local', {}),
    python('Homebrew', '.linuxbrew/Cellar/python@3.99/3.99.1', {
      links: { '.linuxbrew/bin/python3': `../Cellar/python@3.99/3.99.1/bin/${pythonName}` },
    }),
  ];
}

function node(name: string, prefix: string, links: Pick<Layout, 'links' | 'shims'>): Layout {
  const below = (file: string): string => path.join(prefix, file);
  return { name, language: 'node', executable: below('bin/node'), library: below('lib/node_modules/npm'), ...links };
}

/** What else these folders hold on the machine of a developer. */
const PRIVATE_FILES = [
  [
    '.local/share/keyrings/login.keyring',
    '.local/share/fish/fish_history',
    '.local/state/bash/history',
    '.bash_history',
  ],
  ['.config/gh/hosts.yml', '.npmrc', '.netrc', '.ssh/id_ed25519', '.aws/credentials', '.cargo/credentials.toml'],
  [
    '.local/lib/other/token',
    '.local/share/claude/session.json',
    '.nvm/.env',
    '.conda/environments.txt',
    'lib/notes',
    'bin/notes',
  ],
].flat();

export interface BuiltLayout {
  readonly home: string;
  readonly executable: string;
  /** A file in every folder but those of the runtime itself. */
  readonly canaries: readonly string[];
}

/** Real programs of this machine, copied once. Other copies are hard links. */
export interface Originals {
  readonly node: string;
  readonly python: string;
  readonly pythonLibrary: string;
}

const CANARY = 'canary-content';

/** Builds the layout in an empty folder, with canaries in all the folders around the runtime. */
export function buildLayout(home: string, layout: Layout, originals: Originals): BuiltLayout {
  const at = (file: string): string => path.join(home, file);
  const write = (file: string, content: string, mode = 0o644): void => {
    mkdirSync(path.dirname(at(file)), { recursive: true });
    writeFileSync(at(file), content, { mode });
  };
  for (const file of PRIVATE_FILES) write(file, CANARY);
  mkdirSync(path.dirname(at(layout.executable)), { recursive: true });
  linkSync(layout.language === 'node' ? originals.node : originals.python, at(layout.executable));
  if (layout.language === 'node') {
    write(`${layout.library}/bin/npm-cli.js`, '#!/usr/bin/env node\nconsole.log("npm")\n', 0o755);
    write(`${layout.library}/bin/npx-cli.js`, '#!/usr/bin/env node\nconsole.log("npx")\n', 0o755);
    write(`${path.dirname(layout.library)}/other-tool/token`, CANARY);
    const bin = path.dirname(layout.executable);
    symlinkSync(path.relative(at(bin), at(`${layout.library}/bin/npm-cli.js`)), at(`${bin}/npm`));
  } else {
    hardLinks(originals.pythonLibrary, at(layout.library));
    const bin = path.dirname(layout.executable);
    symlinkSync(path.basename(layout.executable), at(`${bin}/python3`));
    write(`${layout.library}/site-packages/private_package/__init__.py`, CANARY);
  }
  // A program of that name which the sandbox must not find.
  write(`${path.dirname(layout.executable)}/perl`, `#!/bin/sh\necho ${CANARY}\n`, 0o755);
  for (const [link, target] of Object.entries(layout.links ?? {})) {
    mkdirSync(path.dirname(at(link)), { recursive: true });
    symlinkSync(target, at(link));
  }
  for (const shim of layout.shims ?? []) write(shim, `#!/bin/sh\nexec '${at(layout.executable)}' "$@"\n`, 0o755);
  const canaries = folders(home)
    .filter((folder) => !`${folder}/`.startsWith(`${at(layout.library)}/`) || /\/site-packages(?:\/|$)/.test(folder))
    .map((folder) => {
      writeFileSync(path.join(folder, 'canary.txt'), CANARY);
      return path.join(folder, 'canary.txt');
    });
  return { home, executable: at(layout.executable), canaries: [...canaries, ...PRIVATE_FILES.map(at)] };
}

function folders(root: string): readonly string[] {
  return [
    root,
    ...readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap((entry) => folders(path.join(root, entry.name))),
  ];
}

function hardLinks(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) hardLinks(source, target);
    else linkSync(source, target);
  }
}

/** Modules that Python loads at its start, or that a test needs. */
const MODULES = new Set(['encodings', 'collections', 'json', 're', 'importlib', 'lib-dynload']);

/** Copies the Node that runs the tests, and the Python of the system with a small standard library. */
export function copyOriginals(folder: string, python: string): Originals {
  const originals = {
    node: path.join(folder, 'node'),
    python: path.join(folder, 'python'),
    pythonLibrary: path.join(folder, 'library'),
  };
  cpSync(realpathSync(process.execPath), originals.node);
  const real = realpathSync(python);
  cpSync(real, originals.python);
  const library = path.join(path.dirname(path.dirname(real)), 'lib', path.basename(real));
  mkdirSync(originals.pythonLibrary);
  for (const entry of readdirSync(library, { withFileTypes: true })) {
    const isWanted = entry.isDirectory() ? MODULES.has(entry.name) : entry.isFile() && entry.name.endsWith('.py');
    if (isWanted)
      cpSync(path.join(library, entry.name), path.join(originals.pythonLibrary, entry.name), { recursive: true });
  }
  return originals;
}
