import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import {
  runningNodeVersion,
  findMissing,
  inspectMachine,
  type Inspect,
  type PreflightRequest,
} from '../../../src/sandbox/programs/preflight.ts';
import { skillRequirements, type RequirementSources } from '../../../src/sandbox/programs/skill-requirements.ts';
import { openConfined } from '../../../src/platform/fs/confined-directory.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';
import { findProgram } from '../../../src/platform/fs/paths.ts';

type Files = Readonly<Record<string, string>>;
type Request = PreflightRequest & Omit<RequirementSources, 'directory'>;

async function missing(files: Files, request: Request = {}) {
  const folder = scratch();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const opening = openConfined(folder);
  if (opening.type === 'failed') throw new Error(opening.code);
  onTestFinished(() => opening.directory.close());
  return await findMissing(skillRequirements({ directory: opening.directory, ...request }), request);
}

const messages = async (files: Files, request: Request = {}): Promise<readonly string[]> =>
  (await missing(files, request)).map(({ message }) => message);

const script = (...lines: readonly string[]): string =>
  ['# /// script', ...lines.map((line) => `# ${line}`), '# ///', 'print(1)', ''].join('\n');

/** A machine with these programs and packages. */
function machine(programs: Readonly<Record<string, string>>, packages: Readonly<Record<string, string>> = {}): Inspect {
  return async ([program = '', ...rest]) => {
    if (program === 'sh')
      return await Promise.resolve(
        rest
          .slice(3)
          .filter((name) => name in programs)
          .join('\n'),
      );
    if (rest[0] === '--version') return `Version ${programs[program] ?? ''}\n`;
    if (!('python3' in programs)) return undefined;
    return rest
      .slice(3)
      .filter((name) => name in packages)
      .map((name) => `${name} ${packages[name] ?? ''}\n`)
      .join('');
  };
}

verifies('EXEC-10', 'packages that a Python script declares are looked for before it runs', async () => {
  const text = script(
    'requires-python = ">=3.11"',
    'dependencies = [',
    '  "requests<3", # for the network',
    "  'Rich_Text>=13',",
    '  "uvicorn[standard] >= 0.30",',
    '  "here==1.*",',
    '  "windows-only; sys_platform == \'win32\'",',
    '  "direct @ https://example.org/direct.whl",',
    ']',
    '[tool.x]',
    'dependencies = ["not-these"]',
  );
  const inspect = machine({ python3: '3.10.4' }, { requests: '3.1.0', here: '1.2', uvicorn: '0.31' });
  expect(await missing({ 'scripts/a.py': text, 'scripts/b.py': text }, { inspect })).toEqual([
    {
      kind: 'program',
      name: 'python3',
      neededBy: 'scripts/a.py',
      message: 'the program "python3 >=3.11" is installed as version "3.10.4"',
      hint: 'add --image python:3.11',
    },
    {
      kind: 'python-package',
      name: 'requests',
      neededBy: 'scripts/a.py',
      message: 'the Python package "requests <3" is installed as version "3.1.0"',
      hint: "add --with 'requests<3'",
    },
    {
      kind: 'python-package',
      name: 'Rich_Text',
      neededBy: 'scripts/a.py',
      message: 'the Python package "Rich_Text >=13" is missing',
      hint: "add --with 'Rich_Text>=13'",
    },
  ]);
});

test(
  'a version that the system does not have is had from a container, and never from its packages',
  needs('python3'),
  async () => {
    const files = { 'scripts/a.py': script('requires-python = ">=3.99"') };
    expect((await missing(files)).map(({ hint }) => hint)).toEqual([
      'run it in a container, which needs Docker or Podman: add --executor container --image python:3.99',
    ]);
  },
);

test('a script without Python says so', async () => {
  const files = { 'scripts/a.py': script('dependencies = ["rich"]') };
  expect(await messages(files, { inspect: machine({}) })).toEqual([
    'the program "python3" is missing',
    'the Python package "rich" is missing, because python3 cannot be run',
  ]);
});

verifies('EXEC-10', 'packages of Node are looked for where Node would', async () => {
  const files = {
    'package.json': JSON.stringify({
      engines: { node: '>=22' },
      dependencies: { sharp: '1', '@a/b': '2' },
      devDependencies: { x: '1' },
    }),
    'node_modules/@a/b/package.json': '{}',
    'scripts/package.json': JSON.stringify({ dependencies: { '@a/b': '1', own: '1', '../../etc': '1' } }),
    'scripts/node_modules/own/package.json': '{}',
    'scripts/run.mjs': '',
  };
  expect(await missing(files, { inspect: machine({ node: '20.20.1' }) })).toEqual([
    {
      kind: 'program',
      name: 'node',
      neededBy: 'package.json',
      message: 'the program "node >=22" is installed as version "20.20.1"',
      hint: 'add --image node:22',
    },
    {
      kind: 'node-package',
      name: 'sharp',
      neededBy: 'package.json',
      message: 'the Node package "sharp" is not in node_modules',
      hint: 'add --with npm:sharp',
    },
  ]);
});

verifies('EXEC-10', 'what the head of a skill requires is looked for', async () => {
  const requires = [
    'jq',
    'no-such-tool',
    'bin:rg',
    'env:API_KEY',
    'env:GIVEN',
    'python3>=3.12',
    'pip:rich',
    'npm:left-pad',
    'some words here',
    '$(id)',
  ];
  const inspect = machine({ jq: '', python3: '3.11.2' });
  expect(await messages({}, { requires, variables: ['GIVEN'], inspect })).toEqual([
    'the program "no-such-tool" is missing',
    'the program "rg" is missing',
    'programs do not get the variable "API_KEY"',
    'the program "python3 >=3.12" is installed as version "3.11.2"',
    'the Python package "rich" is missing',
    'the Node package "left-pad" is not in node_modules',
  ]);
});

verifies('EXEC-10', 'what the compatibility of a skill names is looked for', async () => {
  const compatibility =
    'Requires Python 3.12+, Node.js 18+, git, LibreOffice and poppler-utils; needs internet access and an ACME_API_TOKEN.';
  const inspect = machine({ python3: '3.11.2', node: '20.1.0', git: '' });
  expect(await messages({}, { compatibility, inspect })).toEqual([
    'the program "python3 >=3.12" is installed as version "3.11.2"',
    'the program "soffice" is missing',
    'the program "pdftotext" is missing',
    'programs do not get the variable "ACME_API_TOKEN"',
    'network access is required, but programs have none',
  ]);
  expect(await messages({}, { compatibility: 'Works everywhere.', inspect })).toEqual([]);
});

test('interpreters of the scripts are looked for, and lists of requirements read', async () => {
  const files = {
    'scripts/a.rb': '',
    'scripts/b': '#!/usr/bin/env -S deno run\n',
    'scripts/data.json': '{}',
    'requirements.txt': '# all\nrich==13.*\n-r other.txt\n--hash=x\nhttps://example.org/x.whl\n\npandas\n',
  };
  const inspect = machine({ python3: '3.11.2' }, { rich: '13.7.1' });
  expect(await messages(files, { inspect })).toEqual([
    'the program "ruby" is missing',
    'the program "deno" is missing',
    'the Python package "pandas" is missing',
  ]);
});

test('this machine is asked without running anything of the skill', needs('python3'), async () => {
  const files = {
    'scripts/a.py': script('dependencies = ["no-such-package-of-skillwright", "-c"]'),
    'scripts/no_such.py': 'open("/tmp/skillwright-preflight-ran", "w")',
    'sitecustomize.py': 'raise SystemExit("ran")',
  };
  const requires = ['sh', 'no-such-program-of-skillwright', '-e', '--version'];
  expect(await messages(files, { requires })).toEqual([
    'the program "no-such-program-of-skillwright" is missing',
    'the Python package "no-such-package-of-skillwright" is missing',
  ]);
});

test('what this machine says of its programs is what a shell and the programs themselves say', async () => {
  const names = ['node', 'python3', 'sh', 'cd', 'if', 'no-such-program-of-skillwright', 'ls'];
  const inspect = inspectMachine();
  // Ranges that nothing fulfils show the versions.
  const requires = names.map((name) => `${name}>=999`);
  expect(await messages({}, { requires })).toEqual(await messages({}, { requires, inspect }));
});

test('programs are found as a shell finds them, and this Node knows its version', () => {
  const folder = scratch();
  writeFileSync(path.join(folder, 'plain'), '#!/bin/sh\n');
  writeFileSync(path.join(folder, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
  mkdirSync(path.join(folder, 'folder'));
  symlinkSync('/nowhere', path.join(folder, 'dangling'));
  symlinkSync(process.execPath, path.join(folder, 'node'));
  const found = ['plain', 'tool', 'folder', 'dangling', 'node', 'absent', '', '../x', 'tool/', 'a\0b'].map((name) =>
    findProgram(name, ['/nonexistent', folder]),
  );
  const nothing = undefined;
  expect(found).toEqual([
    nothing,
    path.join(folder, 'tool'),
    nothing,
    nothing,
    path.join(folder, 'node'),
    ...Array.from({ length: 5 }, () => nothing),
  ]);
  const isKnown = process.platform === 'linux';
  expect(runningNodeVersion(path.join(folder, 'node'))).toBe(isKnown ? process.versions.node : undefined);
  expect([runningNodeVersion(path.join(folder, 'tool')), runningNodeVersion('/nonexistent')]).toEqual([
    undefined,
    undefined,
  ]);
});

test('an interpreter in an extra program folder is found', async () => {
  const folder = scratch();
  writeFileSync(path.join(folder, 'julia-elsewhere'), '#!/bin/sh\necho 1.10\n', { mode: 0o755 });
  const requires = ['julia-elsewhere'];
  expect(await messages({}, { requires, programFolders: [folder] })).toEqual([]);
  expect(await messages({}, { requires })).toEqual(['the program "julia-elsewhere" is missing']);
});

test('hostile lists cost nothing and lead nowhere', async () => {
  const files = {
    'package.json': '{ broken',
    'scripts/package.json': JSON.stringify({ dependencies: ['a'], engines: 'x' }),
    'scripts/open.py': '# /// script\n'.repeat(19_000),
    'scripts/spaces.py': script(`dependencies = ["a${' '.repeat(100_000)}!"]`),
    'scripts/brackets.py': script(`dependencies = [${'"'.repeat(5_000)}`),
    'requirements.txt': `${'a'.repeat(100_000)}\n${'['.repeat(50_000)}\na${' '.repeat(90_000)}!\n`,
  };
  const requires = [
    `${'a'.repeat(300)}!`,
    `@${'/'.repeat(100_000)}`,
    '',
    'env:A B',
    'env:\u001b[31m',
    'npm:../x',
    "pip:x>='; id",
  ];
  const compatibility = `${'A_'.repeat(50_000)} python${' '.repeat(50_000)}`;
  const inspect = machine({ python3: '3.11' });
  expect(await missing(files, { inspect, requires, compatibility })).toEqual([]);
  const folder = scratch();
  symlinkSync('/etc/passwd', path.join(folder, 'requirements.txt'));
  const opening = openConfined(folder);
  if (opening.type === 'failed') throw new Error(opening.code);
  onTestFinished(() => opening.directory.close());
  expect(await findMissing(skillRequirements({ directory: opening.directory }), {})).toEqual([]);
});

test('a program that fails or hangs gives no version', async () => {
  const inspect = inspectMachine();
  expect(await inspect(['no-such-program-of-skillwright'])).toBeUndefined();
  expect(await inspect(['sh', '-c', 'echo out; exit 1'])).toBeUndefined();
  expect(await inspect(['sh', '-c', 'echo "$PATH"; cat'])).toBe('/usr/local/bin:/usr/bin:/bin\n');
});
