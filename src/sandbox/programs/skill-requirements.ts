import { isObject, parseJson, toRelativePath, isProblem } from '#core';
import type { ConfinedDirectory } from '#platform';
import { readScriptBlock } from '../environments/declared-packages.ts';
import { readSkillText } from '../environments/skill-text.ts';
import { scriptCommand } from './interpreter.ts';

/** A requirement that a skill states in its fields or files. */
export interface Requirement {
  readonly kind: 'program' | 'variable' | 'python-package' | 'node-package' | 'network';
  readonly name: string;
  /** Accepted versions, as written. */
  readonly range?: string;
  /** The file or field that states the requirement. */
  readonly neededBy: string;
}

export interface RequirementSources {
  readonly directory: ConfinedDirectory;
  /** The frontmatter field of that name. */
  readonly requires?: readonly string[];
  readonly compatibility?: string;
}

const MAX_FILES = 2000;
const MAX_SCRIPTS = 200;
const MAX_LINE = 500;
const NO_BLOCK = { range: undefined, packages: [] };
const MAX_SENTENCE = 2000;
const MAX_REQUIREMENTS = 500;
/** "No network needed" states the opposite of a requirement. */
const NO_NETWORK = /\b(?:no|without|never)\s+(?:(?:any|an?)\s+)?(?:internet|network)\b/gi;

/** Reads the requirements of a skill from its fields, the heads of its scripts and its package lists. */
export function skillRequirements({
  directory,
  requires = [],
  compatibility = '',
}: RequirementSources): readonly Requirement[] {
  const files = directory.list({ maxFiles: MAX_FILES, maxDepth: 3 }).files.map((entry) => entry.path);
  const read = (file: string): string => readSkillText(directory, file) ?? '';
  const scripts = files.filter((file) => file.startsWith('scripts/')).slice(0, MAX_SCRIPTS);
  const manifests = files.filter((file) => /^(?:scripts\/)?package\.json$/.test(file));
  const lists = files.filter((file) => /^(?:scripts\/)?requirements\.txt$/.test(file));
  return [
    ...requires.flatMap((entry) => parseRequires(entry)),
    ...mentionedRequirements(compatibility.slice(0, MAX_SENTENCE)),
    ...scripts.flatMap((file) => requirementsIn(file, read(file))),
    ...lists.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line) => pythonPackage(line, file)),
    ),
    ...manifests.flatMap((file) => manifestRequirements(file, read(file), (name) => hasPackage(directory, file, name))),
  ].slice(0, MAX_REQUIREMENTS);
}

/** Reads the requirements that one script states, including its interpreter. */
export function scriptRequirements(directory: ConfinedDirectory, file: string): readonly Requirement[] {
  return requirementsIn(file, readSkillText(directory, file) ?? '');
}

const PROGRAM = /^[A-Za-z0-9][\w.+-]{0,63}$/;
const VARIABLE = /^[A-Za-z_]\w{0,99}$/;

/** `jq`, `python3>=3.11`, `bin:jq`, `env:API_KEY`, `pip:requests>=2`, `npm:sharp`. */
function parseRequires(entry: string): readonly Requirement[] {
  if (entry.length > MAX_LINE) return [];
  const neededBy = 'requires';
  const [, prefix = '', rest = ''] = /^(?:(bins?|env|pip|pypi|python|npm|node):)?\s*(.+)$/i.exec(entry.trim()) ?? [];
  const [, name = '', range = ''] = /^(@?[\w./+-]+?)\s*((?:[<>=!~^]|\s\d).*)?$/.exec(rest) ?? [];
  const ranged = { name, neededBy, ...(range === '' ? {} : { range: range.trim() }) };
  switch (prefix.toLowerCase()) {
    case 'env':
      return VARIABLE.test(name) ? [{ kind: 'variable', name, neededBy }] : [];
    case 'pip':
    case 'pypi':
    case 'python':
      return pythonPackage(rest, neededBy);
    case 'npm':
    case 'node':
      return PACKAGE.test(name) ? [{ kind: 'node-package', ...ranged }] : [];
    default:
      return PROGRAM.test(name) ? [{ kind: 'program', ...ranged }] : [];
  }
}

/** Words in free text that clearly name a program, with the name of its executable. */
const MENTIONED: ReadonlyMap<string, string> = new Map([
  ['libreoffice', 'soffice'],
  ['soffice', 'soffice'],
  ['poppler', 'pdftotext'],
  ['poppler-utils', 'pdftotext'],
  ['imagemagick', 'convert'],
  ['ripgrep', 'rg'],
  ['graphviz', 'dot'],
  ['postgresql', 'psql'],
  ...[
    'git',
    'gh',
    'jq',
    'curl',
    'wget',
    'docker',
    'podman',
    'pandoc',
    'ffmpeg',
    'tesseract',
    'uv',
    'npm',
    'pnpm',
    'yarn',
  ]
    .concat(['bun', 'deno', 'ruby', 'perl', 'php', 'java', 'cargo', 'cmake', 'kubectl', 'terraform', 'aws', 'gcloud'])
    .concat(['sqlite3', 'psql', 'qpdf', 'pdftotext', 'pdftk', 'rg', 'bash', 'zip', 'unzip'])
    .map((name): [string, string] => [name, name]),
]);

/** Finds requirements in free text such as `Requires Python 3.11+, git and an API_TOKEN`. */
function mentionedRequirements(text: string): readonly Requirement[] {
  const neededBy = 'compatibility';
  const programs = [...text.matchAll(/[a-z][\w+-]*/gi)].flatMap(([word]) => MENTIONED.get(word.toLowerCase()) ?? []);
  const runtimes = [...text.matchAll(/\b(python|node)(?:\.js)?\s*(?:version\s*)?(?:>=\s*)?v?(\d+(?:\.\d+)*)?/gi)];
  const variables = [...text.matchAll(/\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD)\b/g)];
  return [
    ...runtimes.map(([, name = '', version]): Requirement => {
      const program = name.toLowerCase() === 'python' ? 'python3' : 'node';
      return { kind: 'program', name: program, range: version === undefined ? undefined : `>=${version}`, neededBy };
    }),
    ...[...new Set(programs)].map((name): Requirement => ({ kind: 'program', name, neededBy })),
    ...variables.map(([name]): Requirement => ({ kind: 'variable', name, neededBy })),
    ...(/\b(?:internet|network)\b/i.test(text.replaceAll(NO_NETWORK, ''))
      ? [{ kind: 'network', name: 'network', neededBy } satisfies Requirement]
      : []),
  ];
}

/** Also TypeScript needs Node, of whatever version. */
const ANY_NODE = '22.6.0';

/** The interpreter of a script by its shebang line or extension. */
function interpreterRequirement(file: string, text: string): readonly Requirement[] {
  const found = scriptCommand(
    { path: file, bytes: Buffer.from(text.slice(0, 4096)), isExecutable: false },
    [],
    ANY_NODE,
  );
  const [name = ''] = found.type === 'command' ? found.argv : [];
  return PROGRAM.test(name) ? [{ kind: 'program', name, neededBy: file }] : [];
}

function requirementsIn(file: string, text: string): readonly Requirement[] {
  const block = file.endsWith('.py') ? readScriptBlock(text) : undefined;
  const { range, packages } = block === undefined || isProblem(block) ? NO_BLOCK : block;
  return [
    ...interpreterRequirement(file, text),
    ...(range === undefined ? [] : [{ kind: 'program', name: 'python3', range, neededBy: file } satisfies Requirement]),
    ...packages.flatMap((line) => pythonPackage(line, file)),
  ];
}

/** Parses one line of requirements.txt. Ignores requirements with conditions or URLs. */
function pythonPackage(line: string, neededBy: string): readonly Requirement[] {
  if (line.length > MAX_LINE) return [];
  const plain = line.replace(/(?:^|\s)#.*$/, '').trim();
  const [, name, range = ''] =
    /^([A-Za-z0-9][\w.-]{0,99})\s*(?:\[[^\]]*\])?\s*\(?([<>=!~][\w.*+!<>=~, -]*)?\)?\s*$/.exec(plain) ?? [];
  if (name === undefined) return [];
  return [{ kind: 'python-package', name, ...(range.trim() === '' ? {} : { range: range.trim() }), neededBy }];
}

function manifestRequirements(
  file: string,
  text: string,
  isInstalled: (name: string) => boolean,
): readonly Requirement[] {
  // Node will report an invalid package.json when the script runs.
  const manifest = parseJson(text);
  const names = Object.keys(recordAt(manifest, 'dependencies'));
  const engine = recordAt(manifest, 'engines')['node'];
  return [
    ...(typeof engine === 'string'
      ? [{ kind: 'program', name: 'node', range: engine, neededBy: file } satisfies Requirement]
      : []),
    ...names
      .filter((name) => PACKAGE.test(name) && !isInstalled(name))
      .map((name): Requirement => ({ kind: 'node-package', name, neededBy: file })),
  ];
}

const PACKAGE = /^(?:@[\w.-]{1,100}\/)?[\w.-]{1,100}$/;

function hasPackage(directory: ConfinedDirectory, manifest: string, name: string): boolean {
  const folder = manifest.slice(0, manifest.lastIndexOf('/') + 1);
  // Searches upwards from the folder of package.json, as Node does.
  return [folder, ''].some((place) => {
    const asked = toRelativePath(`${place}node_modules/${name}/package.json`);
    return !isProblem(asked) && directory.resolve(asked, { allowHardLinks: true }).type === 'found';
  });
}

function recordAt(value: unknown, key: string): Readonly<Record<string, unknown>> {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : {};
}
