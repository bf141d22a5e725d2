#!/usr/bin/env node
// Prints an outline of a skill folder as JSON: headings, local links, scripts, sizes, description.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path';

const HELP = `usage: outline.mjs SKILL_FOLDER

Prints JSON about a skill: its description, headings, links to local files (ok, missing or
outside the folder), scripts that lack a shebang line or the exec bit, and word counts.
It reads only; "skillwright check" is the full check.

Exit codes: 0 printed, 1 the skill cannot be read, 2 wrong usage.
`;
const MAX_BYTES = 1024 * 1024;
const MAX_FILES = 2_000;
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}_'’]+/gu;

class UsageError extends Error {}
class InputError extends Error {}

const countWords = (text) => text.match(WORD)?.length ?? 0;
const countChars = (text) => Array.from(text).length;

function readText(path) {
  if (statSync(path).size > MAX_BYTES) throw new InputError(`${basename(path)} is larger than 1 MiB`);
  return readFileSync(path, 'utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
}

/** Splits a SKILL.md into frontmatter lines and body lines. */
function split(text) {
  const lines = text.split('\n');
  const end = lines[0] === '---' ? lines.indexOf('---', 1) : -1;
  return { front: end < 0 ? [] : lines.slice(1, end), body: lines.slice(end + 1), bodyLine: end + 2, found: end >= 0 };
}

/** A top-level scalar of the frontmatter: plain, quoted or block. Enough for an outline, not for a YAML reader. */
function scalar(front, key) {
  const at = front.findIndex((line) => line.startsWith(`${key}:`));
  if (at < 0) return undefined;
  const first = front[at].slice(key.length + 1).trim();
  const more = [];
  for (const line of front.slice(at + 1)) {
    if (line.trim() !== '' && !/^[ \t]/.test(line)) break;
    more.push(line.trim());
  }
  if (/^[|>][+-]?[0-9]?$/.test(first)) return more.join(first.startsWith('|') ? '\n' : ' ').trim();
  const joined = [first, ...more].join(' ').trim();
  const quoted = /^(?:"(.*)"|'(.*)')$/s.exec(joined);
  if (quoted === null) return joined;
  return quoted[1] === undefined ? quoted[2].replaceAll("''", "'") : quoted[1].replaceAll('\\"', '"');
}

/** Headings and local targets of a Markdown text; fenced blocks hold neither. */
function readMarkdown(from, lines, firstLine) {
  const [headings, targets] = [[], []];
  let fence = '';
  for (const [index, line] of lines.entries()) {
    const number = firstLine + index;
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === '' || (mark[0] === fence[0] && mark.length >= fence.length))) {
      fence = fence === '' ? mark : '';
    } else if (fence === '') {
      const heading = /^(#{1,6}) (.*)$/.exec(line);
      if (heading !== null) headings.push({ level: heading[1].length, text: heading[2].trim(), line: number });
      for (const match of line.matchAll(/\]\(([^()\s]{1,500})(?:\s+"[^"]*")?\)/g))
        targets.push({ target: match[1], line: number, base: from });
      // A path in backticks is written from the skill's folder, wherever the text stands.
      for (const match of line.matchAll(/`((?:scripts|references|assets)\/[^`\s<>*]{1,300})`/g))
        targets.push({ target: match[1], line: number, base: '' });
    }
  }
  return { headings, targets };
}

function linkStatus(root, from, target) {
  let path = target.replace(/[#?].*$/, '');
  try {
    path = decodeURIComponent(path);
  } catch {
    // A stray percent sign: the path is taken as written.
  }
  const full = resolve(root, dirname(from), path);
  const inside = (other, base) => other === base || other.startsWith(base + sep);
  if (!inside(full, root)) return { path, status: 'outside' };
  if (!existsSync(full)) return { path, status: 'missing' };
  return { path: full, status: inside(realpathSync(full), realpathSync(root)) ? 'ok' : 'outside' };
}

function linksOf(root, from, targets) {
  const links = [];
  for (const { target, line, base } of targets) {
    if (/^(?:[a-z][a-z0-9+.-]*:|\/\/|#)/i.test(target)) continue;
    const { path, status } = linkStatus(root, base, target);
    links.push({
      from,
      line,
      target,
      status,
      ...(status === 'ok' ? { path: relative(root, path).split(sep).join('/') } : {}),
    });
  }
  return links;
}

function listFiles(root) {
  const found = [];
  const visit = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules') visit(path);
      else if (entry.isFile()) found.push(path);
      if (found.length > MAX_FILES) throw new InputError(`the folder holds more than ${MAX_FILES} files`);
    }
  };
  visit('');
  return found.toSorted((one, other) => (one < other ? -1 : 1));
}

function startsWithShebang(path) {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(2);
    readSync(file, start, 0, 2, 0);
    return start.toString('latin1') === '#!';
  } finally {
    closeSync(file);
  }
}

/** Files directly in scripts/ are meant to be run; deeper ones are their modules. */
function scriptsOf(root, files) {
  return files
    .filter((path) => /^scripts\/[^/]+$/.test(path))
    .map((path) => {
      const shebang = startsWithShebang(join(root, path));
      // Windows keeps no exec bit.
      const executable = process.platform === 'win32' ? null : (statSync(join(root, path)).mode & 0o111) !== 0;
      return { path, shebang, executable };
    });
}

function describe(text) {
  const description = text ?? '';
  return {
    found: text !== undefined,
    chars: countChars(description),
    words: countWords(description),
    too_long: countChars(description) > 1024,
    angle_brackets: /[<>]/.test(description),
    says_when: /\b(?:use (?:it|this|when)|when(?:ever)?|if the user|for requests)\b|当|时使用|用于|用户/i.test(
      description,
    ),
    first_person: /\b(?:I|I'm|my|we|our)\b/.test(description),
  };
}

function problemsOf(outline) {
  const problems = [];
  const { description, frontmatter, body } = outline;
  if (!frontmatter.found) problems.push('SKILL.md has no frontmatter');
  if (frontmatter.found && !frontmatter.name_ok)
    problems.push('the name is missing, ill-formed or not the folder name');
  if (!description.found || description.chars === 0) problems.push('the description is missing');
  else if (!description.says_when) problems.push('the description does not seem to say when to use the skill');
  if (description.too_long) problems.push('the description is longer than 1024 characters');
  if (description.angle_brackets) problems.push('the description has angle brackets');
  if (body.lines >= 500) problems.push('the body has 500 lines or more');
  for (const link of outline.links) {
    if (link.status !== 'ok') problems.push(`${link.from}:${link.line}: ${link.status}: ${link.target}`);
  }
  for (const script of outline.scripts) {
    if (!script.shebang) problems.push(`${script.path}: no shebang line`);
    if (script.executable === false) problems.push(`${script.path}: no exec bit`);
  }
  for (const path of outline.unlinked_references) problems.push(`${path}: no link leads here`);
  return problems;
}

function outlineOf(folder) {
  if (!statSync(folder).isDirectory()) throw new InputError('it is not a folder');
  const root = realpathSync(folder);
  const { front, body, bodyLine, found } = split(readText(join(root, 'SKILL.md')));
  const name = scalar(front, 'name');
  const files = listFiles(root);
  const { headings, targets } = readMarkdown('SKILL.md', body, bodyLine);
  const links = linksOf(root, 'SKILL.md', targets);
  for (const path of files.filter((one) => /^references\/.*\.md$/.test(one))) {
    links.push(...linksOf(root, path, readMarkdown(path, readText(join(root, path)).split('\n'), 1).targets));
  }
  const linked = new Set(links.map((link) => link.path));
  const text = body.join('\n');
  const outline = {
    skill: basename(root),
    frontmatter: {
      found,
      name: name ?? null,
      name_ok: name === basename(root) && name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name),
    },
    description: describe(scalar(front, 'description')),
    body: { lines: body.length, words: countWords(text), chars: countChars(text), headings },
    links,
    scripts: scriptsOf(root, files),
    unlinked_references: files.filter((path) => path.startsWith('references/') && !linked.has(path)),
    files: files.length,
  };
  return { ...outline, problems: problemsOf(outline) };
}

function run(list) {
  if (list.includes('--help') || list.includes('-h')) return HELP;
  const unknown = list.find((word) => word.startsWith('-'));
  if (unknown !== undefined) throw new UsageError(`unknown option ${unknown}`);
  if (list.length !== 1) throw new UsageError('give exactly one skill folder');
  try {
    return `${JSON.stringify(outlineOf(list[0]), null, 2)}\n`;
  } catch (error) {
    if (!(error instanceof InputError) && error.code === undefined) throw error;
    const reasons = { ENOENT: 'no such folder, or no SKILL.md in it', EACCES: 'permission denied' };
    const reason = error instanceof InputError ? error.message : (reasons[error.code] ?? 'it cannot be opened');
    throw new InputError(`cannot read ${list[0]}: ${reason}`);
  }
}

process.stdout.on('error', () => process.exit(1));
try {
  process.stdout.write(run(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof InputError || error instanceof UsageError)) throw error;
  process.stderr.write(`outline: ${error.message}${error instanceof UsageError ? ' (see --help)' : ''}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
