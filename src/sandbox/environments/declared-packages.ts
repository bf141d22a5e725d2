/** The packages that a skill declares in files: PEP 723 blocks, requirements.txt, pyproject.toml and package.json. */
import { isObject, isProblem, parseJson, readPackage, type Problem } from '#core';
import { parseToml, type ConfinedDirectory } from '#platform';
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

function blockPackages(file: string, text = ''): DeclaredPackages {
  const block = readScriptBlock(text);
  if (block === undefined) return NOTHING;
  if (isProblem(block)) return { packages: [], problems: [`${file}: ${block.message}`] };
  return collected(block.packages.map(pythonPackage), 'script', file);
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
  const manifest = parseToml(text);
  if (isProblem(manifest)) return { packages: [], problems: [`${file}: ${manifest.message}`] };
  const { project } = manifest;
  return collected(isObject(project) ? texts(project['dependencies']).map(pythonPackage) : [], 'skill', file);
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
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

export interface ScriptBlock {
  readonly packages: readonly string[];
  /** The versions of Python, as `>=3.11`. */
  readonly range: string | undefined;
}

/** The block of PEP 723 in a script. */
export function readScriptBlock(script: string): ScriptBlock | Problem | undefined {
  const content = scriptBlock(script);
  if (content === undefined) return undefined;
  const block = parseToml(content);
  if (isProblem(block)) return { ...block, message: `in the block "# /// script", ${block.message}` };
  const range = block['requires-python'];
  return { packages: texts(block['dependencies']), range: typeof range === 'string' ? range : undefined };
}

/** Parsed by line, because a regular expression could take exponential time. */
function scriptBlock(script: string): string | undefined {
  const lines = script.split(/\r?\n/);
  const start = lines.findIndex((line) => line.trimEnd() === '# /// script');
  if (start === -1) return undefined;
  const content: string[] = [];
  for (const line of lines.slice(start + 1)) {
    if (line.trimEnd() === '# ///') return content.join('\n');
    if (line !== '#' && !line.startsWith('# ')) break;
    content.push(line.slice(2));
  }
  return undefined;
}
