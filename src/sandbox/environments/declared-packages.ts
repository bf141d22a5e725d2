/** The packages that a skill declares in files: PEP 723 blocks, requirements.txt, pyproject.toml and package.json. */
import { parseJson, readPackage, isProblem, type Problem } from '#core';
import type { ConfinedDirectory } from '#platform';
import { readSkillText } from './skill-text.ts';

/** A package, and who asks for it. Everything that no file of the skill and no person states is a suggestion. */
export type RequestedPackage = Exclude<ReturnType<typeof readPackage>, Problem> & {
  readonly source: 'option' | 'environment' | 'script' | 'skill' | 'model';
  /** The option, file or setting that names it. */
  readonly neededBy: string;
};

export interface DeclaredPackages {
  readonly packages: readonly RequestedPackage[];
  /** Lines that cannot be installed here, with the reason. */
  readonly problems: readonly string[];
}

const MAX_PACKAGES = 200;
const NOTHING: DeclaredPackages = { packages: [], problems: [] };

/** The packages of one ecosystem: those of the script itself, or else those of the first file of the skill that declares any. */
export function declaredPackages(
  directory: ConfinedDirectory,
  ecosystem: RequestedPackage['ecosystem'],
  script: string | undefined,
): DeclaredPackages {
  const read = (file: string): string | undefined => readSkillText(directory, file);
  if (ecosystem === 'node')
    return first(['scripts/package.json', 'package.json'], (file) => manifestPackages(file, read(file)));
  const own = script?.endsWith('.py') === true ? blockPackages(script, read(script)) : NOTHING;
  if (own.packages.length > 0 || own.problems.length > 0) return own;
  const lists = first(['scripts/requirements.txt', 'requirements.txt'], (file) => listPackages(file, read(file)));
  if (lists.packages.length > 0 || lists.problems.length > 0) return lists;
  return first(['scripts/pyproject.toml', 'pyproject.toml'], (file) => projectPackages(file, read(file)));
}

function first(files: readonly string[], read: (file: string) => DeclaredPackages): DeclaredPackages {
  for (const file of files) {
    const found = read(file);
    if (found.packages.length > 0 || found.problems.length > 0) return found;
  }
  return NOTHING;
}

function collected(texts: readonly string[], source: RequestedPackage['source'], neededBy: string): DeclaredPackages {
  const reads = texts.map(readPackage);
  const packages = reads.flatMap((read) => (isProblem(read) ? [] : [{ ...read, source, neededBy }]));
  const problems = reads.filter(isProblem).map(({ message }) => `${neededBy}: ${message}`);
  return { packages: packages.slice(0, MAX_PACKAGES), problems: problems.slice(0, MAX_PACKAGES) };
}

/** A requirement of a Python file, which may not name a package of npm. */
function pythonPackage(text: string): string {
  return `pip:${text}`;
}

function blockPackages(file: string, text: string | undefined): DeclaredPackages {
  const content = text === undefined ? '' : declaredBlock(text);
  return collected(arrayAt(content, 'dependencies').map(pythonPackage), 'script', file);
}

function listPackages(file: string, text = ''): DeclaredPackages {
  const lines = text
    .replaceAll(/\\\r?\n/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    // Options choose indexes and files, which only the user may do.
    .filter((line) => line !== '' && !line.startsWith('-'))
    .map((line) => line.replace(/\s--hash=.*$/, ''));
  return collected(lines.map(pythonPackage), 'skill', file);
}

function projectPackages(file: string, text = ''): DeclaredPackages {
  const start = /^\[project\][ \t]*\r?$/m.exec(text);
  if (start === null) return NOTHING;
  const rest = text.slice(start.index + start[0].length);
  const end = /^\[[\w.\-" ]+\][ \t]*\r?$/m.exec(rest)?.index ?? rest.length;
  return collected(arrayAt(rest.slice(0, end), 'dependencies').map(pythonPackage), 'skill', file);
}

function manifestPackages(file: string, text = ''): DeclaredPackages {
  const manifest = parseJson(text);
  const dependencies =
    typeof manifest === 'object' && manifest !== null && 'dependencies' in manifest ? manifest.dependencies : undefined;
  if (typeof dependencies !== 'object' || dependencies === null) return NOTHING;
  const texts = Object.entries(dependencies).map(([name, range]: [string, unknown]) =>
    typeof range === 'string' && range.trim() !== '' ? `npm:${name}@${range}` : `npm:${name}`,
  );
  return collected(texts, 'skill', file);
}

/** The PEP 723 block from `# /// script` to `# ///`. Parsed by line, because a regular expression could take exponential time. */
export function declaredBlock(text: string): string {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => line.trimEnd() === '# /// script');
  if (start === -1) return '';
  const content: string[] = [];
  for (const line of lines.slice(start + 1)) {
    if (line.trimEnd() === '# ///') return content.join('\n');
    if (line !== '#' && !line.startsWith('# ')) break;
    content.push(line.slice(2));
  }
  return '';
}

/** The strings of a top-level TOML array. Strings may contain brackets, as in `"uvicorn[standard]"`. */
export function arrayAt(toml: string, key: string): readonly string[] {
  const start = new RegExp(String.raw`^${key}\s*=\s*\[`, 'm').exec(toml);
  if (start === null) return [];
  const texts: string[] = [];
  for (const [token, double, single] of toml
    .slice(start.index + start[0].length)
    .matchAll(/"([^"\n]*)"|'([^'\n]*)'|#[^\n]*|\]/g)) {
    if (token === ']') break;
    const text = double ?? single;
    if (text !== undefined) texts.push(text);
  }
  return texts;
}
