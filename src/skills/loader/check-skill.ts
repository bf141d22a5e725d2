import { existsSync, lstatSync, statSync } from 'node:fs';
import path from 'node:path';

import { diagnose, printable, type Diagnostic, type Mode, type SkillHead } from '#core';
import { relaxDiagnostics } from '../registry/scan-settings.ts';
import { localLinks, parseSkillMd } from '../format/skill-md.ts';
import { namesIn, readTextFile, withForwardSlashes } from '#platform';
import { readSkillFile, type SkillFile } from './body.ts';
import { listSkillFiles } from './files.ts';

export interface CheckOptions {
  readonly mode: Mode;
  readonly maxBodyLines?: number | undefined;
  readonly maxBodyCharacters?: number | undefined;
  readonly blockAngleBrackets?: boolean | undefined;
  /** Diagnostics that keep their lenient severity, because the system of the project has no such rule. */
  readonly tolerated?: readonly Diagnostic['code'][];
  /** The future name of the folder (default: its current name). */
  readonly directory?: string;
  /** Validate this text instead of the file's: a fix before it is written. */
  readonly text?: string;
  /** Names in `scripts` of files that may start with a shebang, if known; other files are not checked. */
  readonly mayHaveShebang?: ReadonlySet<string>;
}

export interface CheckedSkill {
  /** The path of the SKILL.md. */
  readonly file: string;
  /** The text of the file; empty if it could not be read. */
  readonly text: string;
  /** The same in every mode: modes differ only in the severity of diagnostics. */
  readonly head?: SkillHead;
  readonly diagnostics: readonly Diagnostic[];
}

/** Validates a whole skill: frontmatter, body, linked files and scripts. */
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
    maxBodyLines: options.maxBodyLines,
    maxBodyCharacters: options.maxBodyCharacters,
  });
  return {
    file,
    text: read.text,
    head: parsed.head,
    diagnostics: relaxDiagnostics(options.tolerated, [
      // The text has replacement characters for invalid bytes, so an edit would destroy those bytes.
      ...(read.validUtf8 ? parsed.diagnostics : parsed.diagnostics.map(withoutEdit)),
      ...missingFiles(dir, file, parsed.body, parsed.bodyLine, options.mode),
      ...scriptProblems(dir, options),
    ]),
  };
}

/** Files that no session can use. They do not make the skill invalid. */
export function unusableFiles(dir: string, mode: Mode): readonly Diagnostic[] {
  return listSkillFiles(dir).unusable.map(({ path: at, reason }) =>
    diagnose(
      { code: 'file/unusable', path: withForwardSlashes(path.join(dir, at)), message: `${printable(at)}: ${reason}` },
      mode,
    ),
  );
}

function withoutEdit({ code, severity, path: file, line, column, message, hint }: Diagnostic): Diagnostic {
  return { code, severity, path: file, line, column, message, hint };
}

/** Uses the same diagnostic codes as a scan. */
function unread(
  file: string,
  read: Exclude<SkillFile, { readonly type: 'read' }>,
): Omit<Parameters<typeof diagnose>[0], 'path'> {
  if (read.type === 'absent')
    return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true
      ? { code: 'file/broken-link', message: 'the file is a link to a missing target' }
      : { code: 'file/missing', message: `${printable(path.basename(file))} does not exist` };
  const message = `the file cannot be read: ${read.reason}`;
  switch (read.code) {
    case 'path/link-outside':
      return { code: 'file/link-escapes', message };
    case 'path/link-loop':
      return { code: 'file/broken-link', message };
    case 'file/not-regular':
    case 'file/directory':
      return { code: 'file/not-regular', message };
    case 'file/too-large':
      return { code: 'file/unreadable', message, hint: 'move parts into references/ and link to them' };
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

/** A folder with more scripts is a program and not a skill. */
const MAX_SCRIPTS = 1_000;
const SHEBANG_BYTES = 64 * 1024;

/** A script with a shebang is meant to be executed, which requires the executable bit, except on Windows. */
function scriptProblems(dir: string, { mode, mayHaveShebang }: CheckOptions): readonly Diagnostic[] {
  if (path.sep === '\\' || mayHaveShebang?.size === 0) return [];
  const problems: Diagnostic[] = [];
  const folder = path.join(dir, 'scripts');
  // Most skills have no scripts, and checking first is faster than handling the error.
  const names = existsSync(folder) ? namesIn(folder).toSorted() : [];
  for (const name of names.slice(0, MAX_SCRIPTS)) {
    if (mayHaveShebang?.has(name) === false) continue;
    const script = withForwardSlashes(path.join(folder, name));
    const stats = statSync(script, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile() || (stats.mode & 0o111) !== 0 || stats.size > SHEBANG_BYTES) continue;
    const read = readTextFile(script, SHEBANG_BYTES);
    if (read.type !== 'read' || !read.text.startsWith('#!')) continue;
    const message = `scripts/${printable(name)} starts with a shebang and is not executable`;
    problems.push(diagnose({ code: 'script/not-executable', path: script, message }, mode));
  }
  return problems;
}
