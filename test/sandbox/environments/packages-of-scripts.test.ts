import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { packageArgument, readPackage, type Ecosystem } from '../../../src/core/packages.ts';
import { openConfined, type ConfinedDirectory } from '../../../src/platform/fs/confined-directory.ts';
import { declaredPackages } from '../../../src/sandbox/environments/declared-packages.ts';
import { importedModules } from '../../../src/sandbox/environments/import-scan.ts';
import { findPackageManager } from '../../../src/sandbox/environments/system-packages.ts';
import { remedyFor, type FailedScript } from '../../../src/sandbox/environments/remedies.ts';
import { mentionedPackages } from '../../../src/sandbox/environments/suggested-packages.ts';
import { scratch } from '../../skills/registry/support.ts';
import { isProblem } from '../../../src/core/problem.ts';

function inSkill<T>(files: Readonly<Record<string, string>>, read: (directory: ConfinedDirectory) => T): T {
  const folder = scratch();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const opening = openConfined(folder);
  if (opening.type === 'failed') throw new Error(opening.code);
  try {
    return read(opening.directory);
  } finally {
    opening.directory.close();
  }
}

describe('a package on the command line', () => {
  test.each([
    ['pypdf', 'pypdf'],
    ['  Py_PDF >= 4 , <5 ', 'py-pdf>=4,<5'],
    ['requests (>=2.0)', 'requests>=2.0'],
    ['uvicorn[standard]==0.30.*', 'uvicorn[standard]==0.30.*'],
    ['tomli>=2; python_version < "3.11"', 'tomli>=2 ; python_version < "3.11"'],
    ['npm:docx', 'npm:docx'],
    ['npm:@scope/name@^9.1.0', 'npm:@scope/name@^9.1.0'],
  ])('%j is %j', (text, argument) => {
    const read = readPackage(text);
    expect(isProblem(read) ? read.message : packageArgument(read)).toBe(argument);
  });

  test.each([
    '',
    '-r evil.txt',
    '--index-url=https://example.org',
    './folder',
    'https://example.org/x.whl',
    'x @ git+https://example.org/x',
    'a b',
    'pkg;os.system("x")$',
    'npm:../x',
    'npm:git+ssh://example.org/x',
    'npm:x@file:../y',
    'npm:-g',
    `a${'>1 '.repeat(99)}!`,
  ])('%j is refused', (text) => {
    expect(isProblem(readPackage(text))).toBe(true);
  });
});

const BLOCK =
  '# /// script\n# requires-python = ">=3.9"\n# dependencies = [\n#   "rich>=13",\n#   "x[y]",\n# ]\n# ///\nimport rich\n';

describe('declared packages', () => {
  const declared = (files: Readonly<Record<string, string>>, ecosystem: Ecosystem, script?: string): unknown => {
    const found = inSkill(files, (directory) => declaredPackages(directory, ecosystem, script));
    return [...found.packages.map(({ text, source, neededBy }) => [text, source, neededBy]), ...found.problems];
  };

  test('the block of the script comes before the files of the skill', () => {
    const files = { 'scripts/a.py': BLOCK, 'scripts/b.py': '', 'requirements.txt': 'numpy\n' };
    expect(declared(files, 'python', 'scripts/a.py')).toEqual([
      ['rich>=13', 'script', 'scripts/a.py'],
      ['x[y]', 'script', 'scripts/a.py'],
    ]);
    expect(declared(files, 'python', 'scripts/b.py')).toEqual([['numpy', 'skill', 'requirements.txt']]);
  });

  test('requirements.txt cannot choose an index, and a URL is a problem', () => {
    const text =
      '--index-url https://example.org/simple\n-r other.txt\n# note\nnumpy==1.0 \\\n  --hash=sha256:00\nx @ https://example.org/x.zip\n';
    expect(declared({ 'requirements.txt': text }, 'python')).toEqual([
      ['numpy==1.0', 'skill', 'requirements.txt'],
      'requirements.txt: "x @ https://example.org/x.zip" is not a package such as pypdf, pypdf>=4 or npm:docx@9; URLs, paths and options are not accepted',
    ]);
  });

  test('pyproject.toml and package.json', () => {
    const toml =
      '[build-system]\ndependencies = ["no"]\n[project]\nname = "x"\ndependencies = ["httpx", \'lxml>5\']\n[tool.x]\ndependencies = ["no"]\n';
    expect(declared({ 'pyproject.toml': toml }, 'python')).toEqual([
      ['httpx', 'skill', 'pyproject.toml'],
      ['lxml>5', 'skill', 'pyproject.toml'],
    ]);
    const json = JSON.stringify({
      dependencies: { docx: '^9', x: 'git+https://example.org/x' },
      devDependencies: { no: '1' },
    });
    expect(declared({ 'package.json': json }, 'node')).toEqual([
      ['docx@^9', 'skill', 'package.json'],
      'package.json: "npm:x@git+https://example.org/x" is not a package such as npm:docx or npm:docx@9; URLs, paths and tags with / are not accepted',
    ]);
    expect(declared({ 'package.json': '{"dependencies": [1' }, 'node')).toEqual([]);
  });
});

describe('imports of a script', () => {
  test('Python: third-party modules, through modules of the skill', () => {
    const files = {
      'scripts/a.py':
        'import os, numpy as np, yaml.x\nfrom helper import f\nfrom . import near\n"""\nimport fake\n"""\n',
      'scripts/helper.py': 'def f():\n    from PIL import Image\n',
      'scripts/near.py': 'import pypdf; import json\n',
    };
    expect(inSkill(files, (directory) => importedModules(directory, 'scripts/a.py'))).toEqual({
      python: ['numpy', 'yaml', 'PIL', 'pypdf'],
      node: [],
    });
  });

  test('Node: packages, not built-in modules and relative files', () => {
    const files = {
      'scripts/a.mjs':
        "import fs from 'node:fs';\nimport {\n  x,\n} from '@scope/name/part.js';\nimport './b.mjs';\n// import 'no'\n",
      'scripts/b.mjs': "const path = require('path'); const d = await import('docx');\nexport * from 'zod';\n",
    };
    expect(inSkill(files, (directory) => importedModules(directory, 'scripts/a.mjs'))).toEqual({
      python: [],
      node: ['@scope/name', 'docx', 'zod'],
    });
  });

  test('hostile texts take linear time', () => {
    const files = {
      'scripts/a.mjs': `${'/*'.repeat(60_000)}${'import '.repeat(10_000)}${'\n'.repeat(50_000)}`,
      'scripts/a.py': `${'"""'.repeat(20_000)}import ${' , a'.repeat(20_000)}${' '.repeat(50_000)}`,
    };
    const before = process.cpuUsage();
    inSkill(files, (directory) => [
      importedModules(directory, 'scripts/a.mjs'),
      importedModules(directory, 'scripts/a.py'),
    ]);
    // Time on the processor, because a busy machine takes longer.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2_000);
  });
});

describe('the remedy for a failed script', () => {
  const remedy = (stderr: string, more: Partial<FailedScript> = {}): string | undefined =>
    remedyFor({
      stderr,
      again: 'skillwright exec pdf fill.py',
      asModule: "skillwright exec pdf --command 'python3 -m scripts.fill'",
      missing: { python: [], node: [] },
      mentioned: { python: [], node: [] },
      manager: 'apt',
      ...more,
    });

  test.each([
    [
      "ModuleNotFoundError: No module named 'pypdf'",
      'the Python module pypdf is missing; run: skillwright exec pdf fill.py --with pypdf (or: apt install python3-pypdf)',
    ],
    [
      "ModuleNotFoundError: No module named 'google.cloud'",
      'the Python module google.cloud is missing and its package is unknown; find the package that provides it, then run: skillwright exec pdf fill.py --with PACKAGE',
    ],
    [
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'docx' imported from /workspace/skills/x/a.mjs",
      'the Node package docx is missing; run: skillwright exec pdf fill.py --with npm:docx',
    ],
    [
      '/workspace/skills/a/x.sh: line 2: soffice: command not found',
      'the program soffice is missing; run: apt install libreoffice',
    ],
    [
      "FileNotFoundError: [Errno 2] No such file or directory: 'pdftoppm'",
      'the program pdftoppm is missing; run: apt install poppler-utils',
    ],
    ['Error: spawn ffmpeg ENOENT', 'the program ffmpeg is missing; run: apt install ffmpeg'],
    [
      "KeyError: 'OPENAI_API_KEY'",
      'the script needs the variable OPENAI_API_KEY; run: skillwright exec pdf fill.py --env OPENAI_API_KEY=VALUE (or add it to secrets in the user configuration)',
    ],
    ["ModuleNotFoundError: No module named './x'", undefined],
    ["FileNotFoundError: [Errno 2] No such file or directory: 'file1'", undefined],
    [
      '  File "/usr/lib/python3.11/subprocess.py", line 1950, in _execute_child\n    raise child_exception_type(errno_num, err_msg, err_filename)\nFileNotFoundError: [Errno 2] No such file or directory: \'compare\'',
      'the program compare is missing; run: apt install imagemagick',
    ],
    ["FileNotFoundError: [Errno 2] No such file or directory: 'out/report.txt'", undefined],
    ["Error: Cannot find module './lib'", undefined],
    [
      'ImportError: attempted relative import with no known parent package',
      "the script is a module of a package; run: skillwright exec pdf --command 'python3 -m scripts.fill'",
    ],
    [
      '📦 pnpm not found. Installing pnpm...',
      'the program pnpm is missing; run: skillwright exec pdf fill.py --with npm:pnpm@10',
    ],
    [
      '✗ Helm is not installed',
      'the program helm is missing; install helm into /usr/local/bin, where programs find it (see https://helm.sh/docs/intro/install/)',
    ],
    [
      'x.sh: line 2: codeql: command not found',
      'the program codeql is missing; install codeql into /usr/local/bin, where programs find it (see https://github.com/github/codeql-cli-binaries/releases)',
    ],
    [
      'x.sh: line 2: frobnicate: command not found',
      'the program frobnicate is missing; install frobnicate into /usr/local/bin, where programs find it',
    ],
    [
      'Error: requests library not found. Install with: pip install requests',
      'the script asks for packages; run: skillwright exec pdf fill.py --with requests',
    ],
    ['settings not found', undefined],
    ['usage: fill.py [-h] FILE', undefined],
  ])('%j', (stderr, line) => {
    expect(remedy(stderr)).toBe(line);
  });

  test.each([
    ['apt', 'run: apt install imagemagick'],
    ['dnf', 'run: dnf install ImageMagick'],
    ['brew', 'run: brew install imagemagick'],
    ['other', 'install convert into /usr/local/bin, where programs find it'],
    ['image', 'add --image NAME with an image that has convert'],
  ] as const)('names only what the system has: %s', (manager, how) => {
    expect(remedy('x.sh: line 2: convert: command not found', { manager })).toBe(
      `the program convert is missing; ${how}`,
    );
  });

  test.each([
    ['linux', 'ID=debian\n', 'apt'],
    ['linux', 'NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', 'apt'],
    ['linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf'],
    ['linux', 'ID=arch\n', 'other'],
    ['darwin', '', 'brew'],
  ] as const)('the package manager of %s with %j', (platform, release, manager) => {
    expect(findPackageManager(platform, release)).toBe(manager);
  });

  test.each([
    '❌ Must be run from within a git repository.',
    'error: not inside a git repository',
    'fatal: not a git repository (or any of the parent directories): .git',
    '❌ Could not determine current git branch.',
  ])('a script that looks for the project is given it, if it does not see it: %s', (stderr) => {
    expect(remedy(stderr, { project: { access: 'none', folder: '' } })).toBe(
      'the program does not see the project; run: skillwright exec pdf fill.py --project read',
    );
    expect(remedy(stderr)).toBeUndefined();
  });

  test.each([
    "Error: EROFS: read-only file system, open 'lib/index.js'",
    "OSError: [Errno 30] Read-only file system: '/home/me/app/build'",
    'mkdir: cannot create directory ‘build’: Read-only file system',
  ])('a program that writes to a project that it may only read: %s', (stderr) => {
    const project = { access: 'read', folder: '/home/me/app' } as const;
    expect(remedy(stderr, { project })).toBe(
      'programs cannot write to the project; run: skillwright exec pdf fill.py --project write',
    );
    expect(remedy(stderr, { project, isShell: true })).toContain('skillwright chat --resume last --project write');
    expect(remedy(stderr, { project: { ...project, access: 'write' } })).toBeUndefined();
    expect(remedy("OSError: [Errno 30] Read-only file system: '/usr/lib/x'", { project })).toBeUndefined();
  });

  test('a script that serves a page until its time is over is given a port', () => {
    const output = '{"type":"server-started","url":"http://localhost:8080/?key=1"}';
    expect(remedy(output, { isTimeout: true })).toBe(
      'the program serves port 8080; to open it, run: skillwright exec pdf fill.py --serve 8080',
    );
    expect(remedy(output)).toBeUndefined();
  });

  test('a script that imports the package that it is in is run as a module', () => {
    expect(remedy("ModuleNotFoundError: No module named 'scripts.common'", { own: ['scripts'] })).toBe(
      "the script is a module of a package; run: skillwright exec pdf --command 'python3 -m scripts.fill'",
    );
  });

  test('names every package that the script imports, and a package that the skill itself names', () => {
    const stderr = "ModuleNotFoundError: No module named 'pypdf'";
    expect(remedy(stderr, { missing: { python: ['pypdf', 'PIL', 'unheard_of'], node: [] } })).toBe(
      'the Python module pypdf is missing; run: skillwright exec pdf fill.py --with pypdf --with pillow (or: apt install python3-pypdf python3-pil)',
    );
    const mentioned = mentionedPackages('Run `pip install -U my-lib>=2 other` first, then npm install @a/b.\n');
    expect(mentioned).toEqual({ python: ['my-lib', 'other'], node: ['@a/b'] });
    expect(mentionedPackages('Install with: conda install -c conda-forge rdkit').python).toEqual(['rdkit']);
    expect(remedy("ModuleNotFoundError: No module named 'my_lib.core'", { mentioned })).toBe(
      'the Python module my_lib.core is missing; run: skillwright exec pdf fill.py --with my-lib',
    );
  });
});
