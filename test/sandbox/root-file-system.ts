import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

/** Programs of this machine that tests may run in a container; one that is not installed is left out. */
const PROGRAMS: readonly string[] = `
bash sh cat true false sleep env id ls printf kill setsid head tail dd mkdir touch rm cp mv chmod stat wc tr pwd seq
yes sort tee ln od ps sha256sum find grep sed mkfifo mknod mount umount unshare timeout nohup test echo df du date
uname hostname truncate basename dirname readlink realpath cut uniq tty stty script prlimit python3 perl node xargs
tac rev cmp diff rmdir ulimit git
`
  .trim()
  .split(/\s+/);
const TOP_LINKS = ['bin', 'sbin', 'lib', 'lib32', 'lib64'];
const FOLDERS = ['dev', 'proc', 'sys', 'tmp', 'etc', 'root', 'run', 'var/tmp', 'home'];
/** Parts of Python that only its own makers need. */
const PYTHON_LEFT_OUT = /(?:^|\/)(?:test|config-[^/]*|lib2to3|pydoc_data|distutils|idlelib|ensurepip)(?:\/|$)/;

export const PIP = '/usr/lib/python3/dist-packages/pip';

/** A root file system out of this machine's own programs and their libraries; with all of `PROGRAMS` also the library of Python. */
export function buildRootFileSystem(root: string, programs = PROGRAMS): void {
  for (const folder of FOLDERS) mkdirSync(path.join(root, folder), { recursive: true });
  for (const name of TOP_LINKS) {
    const own = `/${name}`;
    if (!existsSync(own)) continue;
    if (lstatSync(own).isSymbolicLink()) symlinkSync(readlinkSync(own), path.join(root, name));
    mkdirSync(path.join(root, realpathSync(own)), { recursive: true });
  }
  const found = programs.flatMap(
    (program) =>
      ['/usr/bin', '/bin', '/usr/sbin'].map((folder) => `${folder}/${program}`).find((file) => existsSync(file)) ?? [],
  );
  for (const file of found) {
    copyOnce(root, realpathSync(file), realpathSync(file));
    if (!existsSync(path.join(root, file))) symlinkSync(realpathSync(file), path.join(root, file));
  }
  copyLibraries(root, found);
  if (programs.includes('python3')) copyPython(root);
  writeFileSync(
    path.join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n',
  );
  writeFileSync(path.join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
}

function copyPython(root: string): void {
  const interpreter = existsSync('/usr/bin/python3') ? path.basename(realpathSync('/usr/bin/python3')) : undefined;
  if (interpreter === undefined) return;
  const library = `/usr/lib/${interpreter}`;
  cpSync(library, path.join(root, library), {
    recursive: true,
    verbatimSymlinks: true,
    // Python compiles a module again at every start if its compiled file is older or missing.
    preserveTimestamps: true,
    filter: (file) => !PYTHON_LEFT_OUT.test(file.slice(library.length)),
  });
  // Tests of packages need it.
  if (existsSync(PIP)) cpSync(PIP, path.join(root, PIP), { recursive: true, preserveTimestamps: true });
  const dynamic = `${library}/lib-dynload`;
  if (existsSync(dynamic))
    copyLibraries(
      root,
      readdirSync(dynamic).map((name) => `${dynamic}/${name}`),
    );
}

function copyLibraries(root: string, files: readonly string[]): void {
  // A file that is a script, or linked statically, is a line on stderr.
  const { stdout } = spawnSync('/usr/bin/ldd', files, { encoding: 'utf8' });
  const libraries = stdout.split(/\s+/).filter((word) => word.startsWith('/') && !word.endsWith(':'));
  for (const library of new Set(libraries)) copyOnce(root, realpathSync(library), library);
}

function copyOnce(root: string, from: string, to: string): void {
  // Below the real folder: /lib may be a link into /usr.
  const target = path.join(root, realpathSync(path.dirname(to)), path.basename(to));
  if (existsSync(target)) return;
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(from, target);
}
