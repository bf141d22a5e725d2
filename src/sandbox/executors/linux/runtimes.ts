import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

import { findProgram, isInside, isPresent, namesIn, quietly, tryRealPath } from '#platform';
import { findSharedLibraries, type LoadedFile } from './shared-libraries.ts';

/**
 * A language runtime outside of the system folders, such as a Node of nvm. Programs see it file by file: the executable, its libraries
 * and its standard library. The folders around them hold other things (`~/.local` has keyrings and shell histories), so no folder counts as
 * an installation.
 */
export interface Runtime {
  /** The folder of the executable, which programs have in their PATH. */
  readonly folder: string;
  /** The programs that it brings, each with the file behind it. */
  readonly programs: Readonly<Record<string, string>>;
  /** Files, and folders that hold nothing else, at the paths by which programs open them. */
  readonly shown: readonly LoadedFile[];
  /** Folders below those that stay hidden: packages that the user installed. */
  readonly hidden: readonly string[];
}

/** Symbolic links into /usr on a merged system, folders on others. */
export const TOP_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
const SYSTEM_FOLDERS = ['/usr', ...TOP_FOLDERS.map((name) => `/${name}`)];
const SYSTEM_PROGRAMS = ['/usr/local/bin', '/usr/bin', '/bin'];

/** Programs see these files anyway. */
export function isSystemFile(file: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isInside(file, folder));
}

let found: readonly Runtime[] | undefined;

/** The Node that runs this process, and the Python of the user where the system has none. */
export function findRuntimes(): readonly Runtime[] {
  found ??= [
    nodeRuntime(process.execPath),
    findProgram('python3', SYSTEM_PROGRAMS) === undefined ? findUserPython(homedir()) : undefined,
  ].filter((runtime) => runtime !== undefined);
  return found;
}

/** `undefined` if the executable is missing or among the files of the system, which programs see anyway. */
export function nodeRuntime(executable: string): Runtime | undefined {
  const node = tryRealPath(executable);
  if (node === undefined || isSystemFile(node)) return undefined;
  const npm = findNpm(node);
  return {
    folder: path.dirname(node),
    programs: {
      node,
      ...(npm === undefined ? {} : { npm: path.join(npm, 'bin/npm-cli.js'), npx: path.join(npm, 'bin/npx-cli.js') }),
    },
    shown: outsideSystem([
      { source: node, target: node },
      ...findSharedLibraries([node]),
      ...(npm === undefined ? [] : [{ source: npm, target: npm }]),
    ]),
    hidden: [],
  };
}

/** The folder of the npm that was installed with this Node. */
export function findNpm(node: string): string | undefined {
  const program = tryRealPath(path.join(path.dirname(node), 'npm')) ?? '';
  return program.endsWith('/node_modules/npm/bin/npm-cli.js') ? path.dirname(path.dirname(program)) : undefined;
}

/** Folders of a standard library for packages that were installed later. */
const PACKAGE_FOLDERS = ['site-packages', 'dist-packages'];
/** Certificates of a Python that brings its own OpenSSL, as that of conda does. */
const CERTIFICATES = ['ssl/cert.pem', 'ssl/cacert.pem'];

/** `undefined` for anything but an executable with the standard library of Python beside it, such as a script of a version manager. */
export function pythonRuntime(executable: string): Runtime | undefined {
  const python = tryRealPath(executable);
  if (python === undefined || isSystemFile(python)) return undefined;
  const folder = path.dirname(python);
  const prefix = path.dirname(folder);
  const library = findStandardLibrary(prefix, path.basename(python));
  if (library === undefined) return undefined;
  const extensions = path.join(library, 'lib-dynload');
  const pip = PACKAGE_FOLDERS.map((name) => path.join(library, name, 'pip')).filter(isFolder);
  return {
    folder,
    programs: { python3: python, python },
    shown: outsideSystem([
      { source: python, target: python },
      { source: library, target: library },
      ...findSharedLibraries([
        python,
        ...namesIn(extensions)
          .filter((name) => name.endsWith('.so'))
          .map((name) => path.join(extensions, name)),
      ]),
      ...[...pip, ...CERTIFICATES.map((name) => path.join(prefix, name))].flatMap((file) => {
        const source = tryRealPath(file);
        // A link could lead to any file of the user.
        return source !== undefined && isInside(source, prefix) ? [{ source, target: file }] : [];
      }),
    ]),
    hidden: PACKAGE_FOLDERS.map((name) => path.join(library, name)).filter(isFolder),
  };
}

function findStandardLibrary(prefix: string, executable: string): string | undefined {
  const version = /^python(3\.\d+)t?$/.exec(executable)?.[1];
  return ['lib', 'lib64']
    .flatMap((name) => {
      const names = namesIn(path.join(prefix, name)).filter((entry) => /^python3\.\d+t?$/.test(entry));
      return names
        .filter((entry) => version === undefined || entry.startsWith(`python${version}`))
        .map((entry) => path.join(prefix, name, entry));
    })
    .find((folder) => tryRealPath(folder) === folder && isPresent(path.join(folder, 'os.py')));
}

/** False for a link to a folder. */
function isFolder(file: string): boolean {
  return quietly(() => lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true, false);
}

/** Each target once. */
function outsideSystem(files: readonly LoadedFile[]): readonly LoadedFile[] {
  const targets = new Set<string>();
  return files.filter(({ target }) => {
    if (isSystemFile(target) || targets.has(target)) return false;
    targets.add(target);
    return true;
  });
}

/** Where installers and version managers put a Python, below the home folder if not absolute. `*` stands for a version. */
const PYTHON_FOLDERS: readonly string[] = [
  ['.local/bin', '.pyenv/versions/*/bin', '.local/share/uv/python/*/bin', '.local/share/mise/installs/python/*/bin'],
  ['.asdf/installs/python/*/bin', 'miniconda3/bin', 'miniforge3/bin', 'anaconda3/bin', '/opt/conda/bin'],
  ['.linuxbrew/bin', '/home/linuxbrew/.linuxbrew/bin'],
].flat();

/** The first Python of the user in the usual places, the newest of several versions. `PATH` is not searched: a project may be in it. */
export function findUserPython(home: string): Runtime | undefined {
  const folders = PYTHON_FOLDERS.flatMap((folder) => {
    const [before = '', after] = path.resolve(home, folder).split('*');
    if (after === undefined) return [before];
    const versions = namesIn(before).toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
    return versions.map((version) => `${before}${version}${after}`);
  });
  for (const folder of folders) {
    const runtime = pythonRuntime(path.join(folder, 'python3'));
    if (runtime !== undefined) return runtime;
  }
  return undefined;
}
