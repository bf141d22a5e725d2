import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { scriptCommand, shellCommand } from '../../../src/sandbox/programs/interpreter.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runIt } from '../process/programs.ts';
import { scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';

interface Given {
  readonly isExecutable?: boolean;
  readonly args?: readonly string[];
  readonly node?: string;
}

/** The command for a script of this name and text; or why there is none. */
function commandFor(
  name: string,
  text: string | Uint8Array,
  { isExecutable = false, args = [], node = '24.1.0' }: Given = {},
) {
  const found = scriptCommand({ path: name, bytes: Buffer.from(text), isExecutable }, args, node);
  return found.type === 'command' ? found.argv : found.failure;
}

describe('what runs a script', () => {
  test.each([
    ['#!/usr/bin/env python3\n', ['python3']],
    ['#!/usr/bin/env python\n', ['python3']],
    ['#!/usr/local/bin/python3.12 -u\n', ['python3', '-u']],
    ['#!/usr/bin/env -S node --no-warnings --title "a b"\n', ['node', '--no-warnings', '--title', 'a b']],
    ['#!/usr/bin/env -Snode --no-warnings\n', ['node', '--no-warnings']],
    ['#! /bin/sh -e\n', ['sh', '-e']],
    ['#!/bin/bash -eu -o pipefail\n', ['bash', '-eu', '-o', 'pipefail']],
    ['#!/usr/bin/env -S A=1 node\n', ['env', 'A=1', 'node']],
    ['#!/usr/bin/env -i bash\n', ['env', '-i', 'bash']],
    ['#!/usr/bin/awk -f\n', ['awk', '-f']],
    ['#!/usr/bin/env python3\r\n', ['python3']],
    ['\uFEFF#!/usr/bin/env node\n', ['node']],
    ['#!/usr/bin/env ruby', ['ruby']],
  ])('its first line says: %j', (text, argv) => {
    expect(commandFor('scripts/x', text, { args: ['-a'] })).toEqual([...argv, 'scripts/x', '-a']);
  });

  test.each([
    ['x.py', ['python3']],
    ['x.js', ['node']],
    ['x.mjs', ['node']],
    ['x.cjs', ['node']],
    ['x.sh', ['bash']],
    ['x.rb', ['ruby']],
    ['x.pl', ['perl']],
    ['x.php', ['php']],
    ['X.PY', ['python3']],
    ['x.ps1', ['pwsh', '-NoProfile', '-File']],
    ['x.ts', ['node', '--experimental-strip-types', '--no-warnings']],
  ])('its extension says: %s', (name, argv) => {
    expect(commandFor(name, 'text')).toEqual([...argv, name]);
    expect(commandFor(name, '')).toEqual([...argv, name]);
  });

  test('TypeScript runs by a Node that can, else it is refused', () => {
    const strip = ['node', '--experimental-strip-types', '--no-warnings', 'x.ts'];
    expect(commandFor('x.ts', '', { node: '22.6.0' })).toEqual(strip);
    expect(commandFor('x.ts', '', { node: 'v24.1.0' })).toEqual(strip);
    expect(commandFor('x.ts', '', { node: '22.5.9' })).toMatchObject({
      code: 'script/unknown',
      message: 'the script "x.ts" is TypeScript, which Node 22.5.9 cannot run',
    });
  });

  test('machine code runs by itself, a text without a hint only with the permission to be executed', () => {
    const elf = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
    expect(commandFor('bin/tool', elf, { isExecutable: true, args: ['a'] })).toEqual(['bin/tool', 'a']);
    expect(commandFor('bin/tool', elf)).toMatchObject({ message: expect.stringContaining('permission') });
    expect(commandFor('run', 'echo hi', { isExecutable: true })).toEqual(['sh', 'run']);
    expect(commandFor('notes.txt', 'hello')).toMatchObject({
      code: 'script/unknown',
      message: 'the script "notes.txt" has neither a shebang line nor a known extension',
    });
    expect(commandFor('x', '#!\n', { isExecutable: true })).toEqual(['sh', 'x']);
  });

  test('a name that starts with a dash is not taken as an option', () => {
    expect(commandFor('-c.py', '', { args: ['--', '-x'] })).toEqual(['python3', './-c.py', '--', '-x']);
  });

  test('a shell script with Windows line ends that is too long or binary is refused', () => {
    const long = `#!/bin/sh\r\n${'echo 0123456789\r\n'.repeat(10_000)}`;
    expect(commandFor('x.sh', long)).toMatchObject({ hint: 'save it with Unix line ends' });
    expect(commandFor('x.sh', '#!/bin/sh\r\n\0')).toMatchObject({ hint: 'save it with Unix line ends' });
  });
});

/** Writes a script into a new folder and runs it from there. */
async function runScript(name: string, text: string, args: readonly string[] = []) {
  const folder = scratch();
  mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
  writeFileSync(path.join(folder, name), text);
  const argv = commandFor(name, text, { args });
  if (!('length' in argv)) throw new Error(argv.message);
  return { ...(await runIt(argv, { cwd: folder })), folder };
}

const HOSTILE = ['-x', '--', 'a b', '$(id)', '`id`', ';id', "it's", 'two\nlines', '', '*', '\\n'];

verifies(
  'EXEC-6',
  'arguments reach a script as they are, whatever is in them',
  async () => {
    const expected = JSON.stringify(HOSTILE);
    const scripts = {
      'scripts/x.py': 'import sys, json; print(json.dumps(sys.argv[1:], separators=(",", ":")))',
      'scripts/x.js': 'console.log(JSON.stringify(process.argv.slice(2)))',
      'scripts/x.mjs': 'console.log(JSON.stringify(process.argv.slice(2)))',
    };
    for (const [name, text] of Object.entries(scripts))
      expect((await runScript(name, text, HOSTILE)).stdout).toBe(`${expected}\n`);
    const print = 'for word do printf "[%s]" "$word"; done';
    const words = HOSTILE.map((word) => `[${word}]`).join('');
    for (const text of [print, `#!/bin/sh\r\n${print}\r\n`])
      expect((await runScript('scripts/x.sh', text, HOSTILE)).stdout).toBe(words);
  },
  needs('python3'),
);

verifies(
  'EXEC-6',
  'scripts with Windows line ends run, and know their own name',
  async () => {
    const shell = ['#!/bin/sh -e', 'if true; then', '  echo "$0" "$#"', 'fi', 'cat <<END', 'text', 'END', 'exit 4', ''];
    expect(await runScript('scripts/x', shell.join('\r\n'), ['a', 'b'])).toMatchObject({
      exitCode: 4,
      stdout: 'scripts/x 2\ntext\n',
      stderr: '',
    });
    const python = ['#!/usr/bin/env python3', 'if True:', '    print("""a', 'b""")', ''];
    expect(await runScript('scripts/x.py', python.join('\r\n'))).toMatchObject({ exitCode: 0, stdout: 'a\nb\n' });
    const node = ['#!/usr/bin/env node', 'console.log(`a', 'b`)', ''];
    expect(await runScript('scripts/x.js', node.join('\r\n'))).toMatchObject({ exitCode: 0, stdout: 'a\nb\n' });
    const perl = ['#!/usr/bin/perl', 'print "a\\n";', ''];
    expect(await runScript('scripts/x.pl', perl.join('\r\n'))).toMatchObject({ exitCode: 0, stdout: 'a\n' });
    expect(await runScript('scripts/x.sh', '\uFEFFecho marked\n')).toMatchObject({ stdout: 'marked\n', stderr: '' });
  },
  needs('python3'),
);

verifies(
  'EXEC-2',
  'one script by five spellings in a command',
  async () => {
    const folder = scratch();
    mkdirSync(path.join(folder, 'scripts'));
    const script = path.join(folder, 'scripts', 'x.py');
    writeFileSync(script, '#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1:])\n');
    chmodSync(script, 0o755);
    const spellings = ['scripts/x.py', './scripts/x.py', 'python scripts/x.py', 'cd . && scripts/x.py', script];
    for (const spelling of spellings)
      expect(await runIt(shellCommand(`${spelling} 'a b' $((1+1))`), { cwd: folder })).toMatchObject({
        exitCode: 0,
        stdout: "['a b', '2']\n",
        stderr: '',
      });
  },
  needs('python3'),
);
