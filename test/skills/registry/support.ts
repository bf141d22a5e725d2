import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

import type { SkillRoot } from '../../../src/core/skill.ts';
import { removeTree } from '../../../src/platform/fs/remove-tree.ts';
import { bundleProgram } from '../../bundle-program.ts';
import { isSystemError } from '../../../src/platform/system-error.ts';

/** A folder of the test's own, removed when the test is over. */
export function scratch(): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'skillwright-registry-')));
  onTestFinished(async () => {
    try {
      rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    } catch (error) {
      // Only root can remove read-only folders, such as snapshots of skills, without changing their mode first.
      if (!isSystemError(error) || error.code !== 'EACCES') throw error;
      await removeTree(directory);
    }
  });
  return directory;
}

export interface SkillText {
  readonly name?: string;
  readonly description?: string;
  /** More lines of frontmatter. */
  readonly fields?: readonly string[];
  readonly body?: string;
  readonly file?: string;
  /** Modification time in seconds since 1970; an hour ago where nothing is said, so that the file has settled. */
  readonly mtime?: number;
}

/** Writes a skill into `directory`, whose base name is its name where none is given. Gives the path of its file. */
export function writeSkill(
  directory: string,
  {
    name = path.basename(directory),
    description = 'Does it. Use it to test.',
    fields = [],
    body = '# Body\n',
    file = 'SKILL.md',
    mtime,
  }: SkillText = {},
): string {
  mkdirSync(directory, { recursive: true });
  const target = path.join(directory, file);
  writeFileSync(
    target,
    `---\nname: ${name}\ndescription: ${description}\n${fields.map((field) => `${field}\n`).join('')}---\n\n${body}`,
  );
  const seconds = mtime ?? Math.floor(Date.now() / 1000) - 3600 + 0.25;
  utimesSync(target, seconds, seconds);
  return target;
}

/** Roots of falling priority. */
export function rootsOf(...roots: readonly (readonly [source: string, path: string])[]): readonly SkillRoot[] {
  return roots.map(([source, directory], place) => ({
    source,
    path: directory,
    priority: roots.length - place,
    explicit: false,
  }));
}

/** File systems stamp in ticks; a file written within one of them is not believed. */
export function settle(milliseconds = 80): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** A built module, for tests that need a process of their own. */
export function built(module: string): string {
  return fileURLToPath(new URL(`../../../dist/${module}`, import.meta.url));
}

/** Runs an ES module text in a process of its own and gives what it prints. */
export function runModule(text: string, args: readonly string[] = [], command: readonly string[] = []): string {
  const words = [...command, process.execPath];
  return execFileSync(words[0] ?? '', [...words.slice(1), '--input-type=module', '-e', text, ...args], {
    encoding: 'utf8',
    timeout: 170_000,
  });
}

/**
 * Bundles an ES module text whose imports are relative to `src`, runs it as an ordinary user and gives what it prints. A bundle, because that
 * user may not be able to enter the project. Needs root.
 */
export async function runAsOrdinaryUser(text: string, args: readonly string[], uid = 65_534): Promise<string> {
  const folder = scratch();
  const program = await bundleProgram(text, folder);
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder)) chmodSync(path.join(folder, name), 0o644);
  const user = [`--reuid=${String(uid)}`, `--regid=${String(uid)}`, '--clear-groups'];
  return execFileSync('setpriv', [...user, process.execPath, program, ...args], {
    cwd: '/',
    encoding: 'utf8',
    timeout: 170_000,
  });
}
