import { toRelativePath } from '../../core/path.ts';
import type { ConfinedDirectory } from '../../platform/fs/confined-directory.ts';
import { scriptCommand } from './interpreter.ts';

/** Something that scripts of a skill need, as far as the skill says so. Nothing of it is run to find out. */
export interface Need {
  readonly kind: 'program' | 'variable' | 'python-package' | 'node-package' | 'network';
  readonly name: string;
  /** Versions that will do, as written. */
  readonly range?: string;
  /** The file or the field that says so. */
  readonly neededBy: string;
}

export interface NeedsRequest {
  readonly directory: ConfinedDirectory;
  /** The field of that name. */
  readonly requires?: readonly string[];
  readonly compatibility?: string;
}

const MAX_FILES = 2000;
const MAX_SCRIPTS = 200;
const MAX_BYTES = 256 * 1024;
const MAX_LINE = 500;
const MAX_SENTENCE = 2000;
const MAX_NEEDS = 500;
/** "No network needed" is the opposite of a need. */
const NO_NETWORK = /\b(?:no|without|never)\s+(?:(?:any|an?)\s+)?(?:internet|network)\b/gi;

/** What a skill says that it needs: its fields, the heads of its Python scripts, its lists of packages. */
export function needsOf({ directory, requires = [], compatibility = '' }: NeedsRequest): readonly Need[] {
  const files = directory.list({ maxFiles: MAX_FILES, maxDepth: 3 }).files.map((entry) => entry.path);
  const read = (file: string): string => readText(directory, file);
  const scripts = files.filter((file) => file.startsWith('scripts/')).slice(0, MAX_SCRIPTS);
  const manifests = files.filter((file) => /^(?:scripts\/)?package\.json$/.test(file));
  const lists = files.filter((file) => /^(?:scripts\/)?requirements\.txt$/.test(file));
  return [
    ...requires.flatMap((entry) => requiredNeed(entry)),
    ...mentionedNeeds(compatibility.slice(0, MAX_SENTENCE)),
    ...scripts.flatMap((file) => scriptNeeds(file, read(file))),
    ...lists.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line) => pythonPackage(line, file)),
    ),
    ...manifests.flatMap((file) => manifestNeeds(file, read(file), (name) => hasPackage(directory, file, name))),
  ].slice(0, MAX_NEEDS);
}

/** What the head of one script says, and what runs it: a part of all that the skill needs. */
export function needsOfScript(directory: ConfinedDirectory, file: string): readonly Need[] {
  return scriptNeeds(file, readText(directory, file));
}

/** A staged skill may be made of hard links; what does not look like a list of packages is not taken from any file. */
function readText(directory: ConfinedDirectory, file: string): string {
  const asked = toRelativePath(file);
  const found =
    asked.type === 'path' ? directory.read(asked.path, { maxBytes: MAX_BYTES, allowHardLinks: true }) : asked;
  return 'bytes' in found ? found.bytes.toString('utf8') : '';
}

const PROGRAM = /^[A-Za-z0-9][\w.+-]{0,63}$/;
const VARIABLE = /^[A-Za-z_]\w{0,99}$/;

/** `jq`, `python3>=3.11`, `bin:jq`, `env:API_KEY`, `pip:requests>=2`, `npm:sharp`. */
function requiredNeed(entry: string): readonly Need[] {
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

/** Programs that free text calls by another name than their own, or that are sure to be meant when they are called. */
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

/** What a sentence for people names: `Requires Python 3.11+, git and an API_TOKEN`. */
function mentionedNeeds(text: string): readonly Need[] {
  const neededBy = 'compatibility';
  const programs = [...text.matchAll(/[a-z][\w+-]*/gi)].flatMap(([word]) => MENTIONED.get(word.toLowerCase()) ?? []);
  const runtimes = [...text.matchAll(/\b(python|node)(?:\.js)?\s*(?:version\s*)?(?:>=\s*)?v?(\d+(?:\.\d+)*)?/gi)];
  const variables = [...text.matchAll(/\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD)\b/g)];
  return [
    ...runtimes.map(([, name = '', version]): Need => {
      const program = name.toLowerCase() === 'python' ? 'python3' : 'node';
      return { kind: 'program', name: program, ...(version === undefined ? {} : { range: `>=${version}` }), neededBy };
    }),
    ...[...new Set(programs)].map((name): Need => ({ kind: 'program', name, neededBy })),
    ...variables.map(([name]): Need => ({ kind: 'variable', name, neededBy })),
    ...(/\b(?:internet|network)\b/i.test(text.replaceAll(NO_NETWORK, ''))
      ? [{ kind: 'network', name: 'network', neededBy } satisfies Need]
      : []),
  ];
}

/** What runs a script, where its first line or its extension says so. */
function interpreterNeed(file: string, text: string): readonly Need[] {
  const head = Buffer.from(text.slice(0, 4096));
  const found = scriptCommand({ path: file, head, isExecutable: false, readWhole: () => head }, []);
  const [name = ''] = found.type === 'command' ? found.argv : [];
  return PROGRAM.test(name) ? [{ kind: 'program', name, neededBy: file }] : [];
}

function scriptNeeds(file: string, text: string): readonly Need[] {
  const content = file.endsWith('.py') ? declaredBlock(text) : '';
  const range = /^requires-python\s*=\s*["']([^"'\n]*)["']/m.exec(content)?.[1];
  const start = /^dependencies\s*=\s*\[/m.exec(content);
  const packages = start === null ? [] : listedTexts(content.slice(start.index + start[0].length));
  return [
    ...interpreterNeed(file, text),
    ...(range === undefined ? [] : [{ kind: 'program', name: 'python3', range, neededBy: file } satisfies Need]),
    ...packages.flatMap((line) => pythonPackage(line, file)),
  ];
}

/** What PEP 723 puts into comments from `# /// script` to `# ///`. By lines: an expression over a hostile file would take for ever. */
function declaredBlock(text: string): string {
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

/** The texts of a list in TOML, from after its bracket on. A bracket may stand in a text, as in `"uvicorn[standard]"`. */
function listedTexts(toml: string): readonly string[] {
  const texts: string[] = [];
  for (const [token, double, single] of toml.matchAll(/"([^"\n]*)"|'([^'\n]*)'|#[^\n]*|\]/g)) {
    if (token === ']') break;
    const text = double ?? single;
    if (text !== undefined) texts.push(text);
  }
  return texts;
}

/** One line of requirements. What holds only under a condition, or lies at an address, is not judged. */
function pythonPackage(line: string, neededBy: string): readonly Need[] {
  if (line.length > MAX_LINE) return [];
  const plain = line.replace(/(?:^|\s)#.*$/, '').trim();
  const [, name, range = ''] =
    /^([A-Za-z0-9][\w.-]{0,99})\s*(?:\[[^\]]*\])?\s*\(?([<>=!~][\w.*+!<>=~, -]*)?\)?\s*$/.exec(plain) ?? [];
  if (name === undefined) return [];
  return [{ kind: 'python-package', name, ...(range.trim() === '' ? {} : { range: range.trim() }), neededBy }];
}

function manifestNeeds(file: string, text: string, isInstalled: (name: string) => boolean): readonly Need[] {
  const manifest = parsed(text);
  const names = Object.keys(recordAt(manifest, 'dependencies'));
  const engine = recordAt(manifest, 'engines')['node'];
  return [
    ...(typeof engine === 'string'
      ? [{ kind: 'program', name: 'node', range: engine, neededBy: file } satisfies Need]
      : []),
    ...names
      .filter((name) => PACKAGE.test(name) && !isInstalled(name))
      .map((name): Need => ({ kind: 'node-package', name, neededBy: file })),
  ];
}

const PACKAGE = /^(?:@[\w.-]{1,100}\/)?[\w.-]{1,100}$/;

function hasPackage(directory: ConfinedDirectory, manifest: string, name: string): boolean {
  const folder = manifest.slice(0, manifest.lastIndexOf('/') + 1);
  // From the folder of the list upwards, as Node looks for it.
  return [folder, ''].some((place) => {
    const asked = toRelativePath(`${place}node_modules/${name}/package.json`);
    return asked.type === 'path' && directory.resolve(asked.path, { allowHardLinks: true }).type === 'found';
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // A broken list names nothing; whoever runs the script hears of it from Node.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function recordAt(value: unknown, key: string): Readonly<Record<string, unknown>> {
  const found = isRecord(value) ? value[key] : undefined;
  return isRecord(found) ? found : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
