import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { diagnose } from '../core/diagnostic.ts';
import type { Diagnostic, Finding, Mode } from '../core/diagnostic.ts';
import { localLinks, parseSkillMd } from '../format/skill-md.ts';
import type { SkillHead } from '../core/skill.ts';
import { printable } from '../core/text/text.ts';
import { isSystemError, withForwardSlashes } from '../platform/fs/paths.ts';
import { readTextFile } from '../platform/fs/read-file.ts';
import { readSkillFile } from './body.ts';
import type { SkillFile } from './body.ts';

export interface CheckOptions {
  readonly mode: Mode;
  readonly maxBodyLines?: number | undefined;
  readonly maxBodyCharacters?: number | undefined;
  readonly blockAngleBrackets?: boolean | undefined;
  /** The name of the folder it will have; the one it has where nothing is said. */
  readonly directory?: string;
  /** Check this instead of what the file holds: a repair before it is written. */
  readonly text?: string;
  /** Names in `scripts` of files that may start with a shebang, where that is known: no other is looked at. */
  readonly mayHaveShebang?: ReadonlySet<string>;
}

export interface CheckedSkill {
  /** The SKILL.md. */
  readonly file: string;
  /** Its text; empty where it could not be read. */
  readonly text: string;
  /** As every mode reads it: the modes differ in what they make of what is wrong. */
  readonly head?: SkillHead;
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks a whole skill: frontmatter, body, the files its body points at, and its scripts. */
export function checkSkill(dir: string, fileName: string, options: CheckOptions): CheckedSkill {
  const file = withForwardSlashes(path.join(dir, fileName));
  const read =
    options.text === undefined
      ? readSkillFile(dir, fileName)
      : { type: 'read' as const, text: options.text, validUtf8: true };
  if (read.type !== 'read')
    return { file, text: '', diagnostics: [diagnose({ path: file, ...unread(file, read) }, options.mode)] };
  const source = {
    path: file,
    directory: options.directory ?? path.basename(path.resolve(dir)),
    fileName,
    text: read.text,
    validUtf8: read.validUtf8,
  };
  const parsed = parseSkillMd(source, {
    mode: options.mode,
    blockAngleBrackets: options.blockAngleBrackets ?? false,
    ...(options.maxBodyLines === undefined ? {} : { maxBodyLines: options.maxBodyLines }),
    ...(options.maxBodyCharacters === undefined ? {} : { maxBodyCharacters: options.maxBodyCharacters }),
  });
  return {
    file,
    text: read.text,
    ...(parsed.head === undefined ? {} : { head: parsed.head }),
    diagnostics: [
      // The text has replacement characters where such bytes stand: written back, it would destroy them.
      ...(read.validUtf8 ? parsed.diagnostics : parsed.diagnostics.map(withoutEdit)),
      ...missingFiles(dir, file, parsed.body, parsed.bodyLine, options.mode),
      ...scriptProblems(dir, options),
    ],
  };
}

function withoutEdit({ code, severity, path: file, line, column, message, hint }: Diagnostic): Diagnostic {
  return { code, severity, path: file, line, column, message, hint };
}

/** Said with the codes that a scan of its root has for the same file. */
function unread(file: string, read: Exclude<SkillFile, { readonly type: 'read' }>): Omit<Finding, 'path'> {
  if (read.type === 'absent')
    return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true
      ? { code: 'file/broken-link', message: 'the file is a link that points at nothing' }
      : { code: 'file/missing', message: `${printable(path.basename(file))} is not there` };
  const message = `it cannot be read: ${read.reason}`;
  switch (read.code) {
    case 'path/link-outside':
      return { code: 'file/link-escapes', message };
    case 'path/link-loop':
      return { code: 'file/broken-link', message };
    case 'file/not-regular':
    case 'file/directory':
      return { code: 'file/not-regular', message };
    case 'file/too-large':
      return { code: 'file/unreadable', message, hint: 'move parts into references/ and point to them' };
    case 'file/changed':
      return { code: 'file/unreadable', message, hint: 'run the command again' };
    default:
      return { code: 'file/unreadable', message };
  }
}

function missingFiles(dir: string, file: string, body: string, bodyLine: number, mode: Mode): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const { target, line, column } of localLinks(body, bodyLine)) {
    const absolute = path.resolve(dir, target);
    const isInside = absolute.startsWith(`${path.resolve(dir)}${path.sep}`);
    if (isInside && statSync(absolute, { throwIfNoEntry: false }) !== undefined) continue;
    const message = isInside ? `${printable(target)} is not in the skill` : `${printable(target)} is outside the skill`;
    found.push(diagnose({ code: 'body/missing-file', path: file, line, column, message }, mode));
  }
  return found;
}

/** More scripts than this are not a skill's but a program's. */
const MAX_SCRIPTS = 1_000;
const SHEBANG_BYTES = 64 * 1024;

/** A script that names its interpreter is meant to be started, which takes the exec bit; Windows has none. */
function scriptProblems(dir: string, { mode, mayHaveShebang }: CheckOptions): readonly Diagnostic[] {
  if (path.sep === '\\' || mayHaveShebang?.size === 0) return [];
  const problems: Diagnostic[] = [];
  for (const name of scriptNames(path.join(dir, 'scripts')).slice(0, MAX_SCRIPTS)) {
    if (mayHaveShebang?.has(name) === false) continue;
    const script = withForwardSlashes(path.join(dir, 'scripts', name));
    const stats = statSync(script, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile() || (stats.mode & 0o111) !== 0 || stats.size > SHEBANG_BYTES) continue;
    const read = readTextFile(script, SHEBANG_BYTES);
    if (read.type !== 'read' || !read.text.startsWith('#!')) continue;
    const message = `scripts/${printable(name)} starts with a shebang and is not executable`;
    problems.push(diagnose({ code: 'script/not-executable', path: script, message }, mode));
  }
  return problems;
}

function scriptNames(directory: string): readonly string[] {
  // Most skills have none, and an error takes longer than the question.
  if (!existsSync(directory)) return [];
  try {
    return readdirSync(directory).toSorted();
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}
