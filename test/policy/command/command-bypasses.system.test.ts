import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { readCommandLine } from '../../../src/policy/command/command-line.ts';
import { meansLine } from '../../../src/policy/command/command-meaning.ts';
import { firstUncovered, isCommandPattern, readCommandPattern } from '../../../src/policy/command/command-pattern.ts';
import type { CommandPattern } from '../../../src/policy/command/command-pattern.ts';
import { ALLOW_BYPASSES, DENY_BYPASSES } from './command-bypasses.ts';
import { verifies } from '../../conformance/verifies.ts';

function patterns(texts: readonly string[]): readonly CommandPattern[] {
  return texts.map((text) => {
    const read = readCommandPattern(text);
    if (!isCommandPattern(read)) throw new Error(read.problem);
    return read;
  });
}

function isAllowed(text: string, policy: readonly string[]): boolean {
  const line = readCommandLine(text, { HOME: '/w/work', SKILL_DIR: '/w/skills/x' });
  if (line.type === 'unclear') return false;
  return firstUncovered(patterns(policy), line.commands) === undefined;
}

describe('a list of allowed commands', () => {
  verifies('POL-6', `none of ${ALLOW_BYPASSES.length} attempts to run something else gets through`, () => {
    const escapes = ALLOW_BYPASSES.filter(({ line, policy }) => isAllowed(line, policy));
    expect(escapes).toEqual([]);
    expect(ALLOW_BYPASSES.length).toBeGreaterThanOrEqual(100);
    expect(new Set(ALLOW_BYPASSES.map(({ line, policy }) => `${line} ${policy.join()}`)).size).toBe(
      ALLOW_BYPASSES.length,
    );
  });
});

describe('a list of denied commands', () => {
  verifies('POL-6', `none of ${DENY_BYPASSES.length} attempts to run a denied command goes unnoticed`, () => {
    const escapes = DENY_BYPASSES.filter(({ line, policy }) => {
      const read = readCommandLine(line);
      return patterns(policy).every((rule) => meansLine(rule, read) === 'no');
    });
    expect(escapes).toEqual([]);
  });
});

const PROVABLE = ALLOW_BYPASSES.filter(({ proof }) => proof !== undefined);

/** Files that the attempts find: programs with allowed names, scripts, names that are options, a repository. */
const FILES: Readonly<Record<string, string>> = {
  x: 'x\n',
  'evil.awk': 'BEGIN { system("evil") }\n',
  'evil.sed': '1e evil\n',
  'evil.mk': 'x:\n\tevil\n.PHONY: x\n',
  'evil.curl': 'url = "file:///etc/hostname"\noutput = "reached"\n',
  'evil.sql': '.shell evil\n',
  'evil.cmake': 'execute_process(COMMAND evil)\n',
  'evil.py': 'import os\nos.system("evil")\n',
  'evil.js': 'require("node:child_process").execSync("evil")\n',
  'evil/scripts/report.py': 'import os\nos.system("evil")\n',
  'scripts/a.js': '\n',
  'scripts/report.py': '\n',
  'package.json': '{"scripts":{"build":"true"}}\n',
};
const FILES_FOR_TAR = { '--checkpoint=1': '', '--checkpoint-action=exec=evil': '' };
const FILES_FOR_GIT = { '--output=reached': '' };

describe('the attempts', () => {
  const roots: string[] = [];
  const isThere = new Map<string, boolean>();

  afterAll(() => {
    for (const root of roots) rmSync(root, { recursive: true, force: true });
  });

  function has(program: string): boolean {
    const known = isThere.get(program) ?? spawnSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0;
    isThere.set(program, known);
    return known;
  }

  /** Whether a line leaves the file that shows that another program ran, or that a file was written. */
  function isReached(line: string, usesGit: boolean): boolean {
    const root = mkdtempSync(join(tmpdir(), 'bypass-'));
    roots.push(root);
    const work = join(root, 'work');
    const files = { ...FILES, ...(usesGit ? FILES_FOR_GIT : FILES_FOR_TAR) };
    for (const [name, text] of Object.entries(files)) write(join(work, name), text);
    const script = `#!/bin/sh\n: >'${join(work, 'reached')}'\n`;
    for (const name of ['ls', 'timeout', 'bin/ls', 'evil.sh', 'evil/scripts/run.sh', 'evil/scripts/build.sh'])
      write(join(work, name), script, true);
    write(join(root, 'bin/evil'), script, true);
    const env = {
      PATH: `${join(root, 'bin')}:/usr/local/bin:/usr/bin:/bin:${dirname(process.execPath)}`,
      HOME: join(root, 'home'),
    };
    mkdirSync(env.HOME);
    const prepare = usesGit ? GIT_PREPARE : line.includes('x.tar') ? 'tar cf x.tar x' : 'true';
    spawnSync('/bin/bash', ['-c', prepare], { cwd: work, env, timeout: 20_000 });
    spawnSync('/bin/bash', ['-c', line], { cwd: work, env, timeout: 20_000, input: '' });
    return existsSync(join(work, 'reached'));
  }

  const isRunnable = has('bash') && has('/bin/bash');
  it.skipIf(!isRunnable)(
    `are no duds: ${PROVABLE.length} of them are run and reach what they try to`,
    { timeout: 120_000 },
    () => {
      const tried = PROVABLE.filter(({ proof = [] }) => proof.every(has));
      const duds = tried.filter(({ line, proof = [] }) => !isReached(line, proof.includes('git')));
      expect(duds.map(({ line }) => line)).toEqual([]);
      if (tried.length < PROVABLE.length)
        console.log(`${PROVABLE.length - tried.length} attempts not run: their programs are not here`);
    },
  );
});

const GIT_PREPARE =
  'git init -q . && git add x && git -c user.name=x -c user.email=x@example.org commit -qm x && echo z >>x';

function write(path: string, text: string, isProgram = false): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (isProgram) chmodSync(path, 0o755);
}
