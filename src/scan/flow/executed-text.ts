/** Code in files that are no scripts: hooks of packages, cells of notebooks, examples that a test runner executes. */
import type { ScanFile } from '../finding.ts';
import type { Language } from './split-code.ts';

interface ExecutedText {
  readonly language: Language;
  readonly text: string;
}

const PACKAGE = /(?:^|\/)(?:package|composer|deno)\.jsonc?$/;
/** A key is followed by a colon. */
const JSON_STRING = /(?<!\\)"((?:[^"\\\n]|\\.){0,4000})"(\s{0,20}:)?/g;
const EXAMPLE = /^\s{0,40}(?:>>>|\.\.\.) ?(.*)$/;

/** Settings whose commands an editor, an agent, a container or a build service runs by itself. */
const COMMAND_FILE =
  /(?:^|\/)(?:tasks|settings(?:\.local)?|hooks|\.?mcp(?:_config)?|devcontainer|composer|deno)\.jsonc?$|(?:^|\/)(?:docker-)?compose[\w.-]{0,30}\.ya?ml$|(?:^|\/)\.?(?:gitlab-ci|pre-commit-config|taskfile|action|cloudbuild|travis)\.ya?ml$|\.github\/workflows\/[\w.-]{1,80}\.ya?ml$/i;
const WORKFLOW = /^jobs:|^\s{2,12}runs-on:/m;

export function isCommandFile({ path, text }: ScanFile): boolean {
  return COMMAND_FILE.test(path) || (/\.ya?ml$/i.test(path) && WORKFLOW.test(text));
}

const DOCKERFILE = /(?:^|\/)(?:docker|container)file[^/]{0,40}$|\.dockerfile$/i;

/** The commands of an image, which get the secrets of the build. */
function readRuns(text: string): string {
  let isRun = false;
  return text
    .split('\n')
    .map((line) => {
      const start = /^\s{0,8}RUN\s+((?:--\w{1,10}=\S{1,200}\s+){0,6})/i.exec(line);
      const run = start === null ? (isRun ? line : '') : line.slice(start[0].length);
      isRun = (start !== null || isRun) && line.trimEnd().endsWith('\\');
      return run;
    })
    .join('\n');
}

/** With as many lines as the file, so that places stay right. */
export function readExecutedTexts(file: ScanFile, files: readonly ScanFile[]): readonly ExecutedText[] {
  const found: ExecutedText[] = [];
  const { path, text } = file;
  if (PACKAGE.test(path)) found.push({ language: 'shell', text: readValues(text, (value) => value.includes(' ')) });
  if (DOCKERFILE.test(path)) found.push({ language: 'shell', text: readRuns(text) });
  if (path.endsWith('.ipynb')) found.push({ language: 'python', text: readValues(text, () => true) });
  if (isExecutedText(file, files)) {
    const lines = text.split('\n').map((line) => EXAMPLE.exec(line)?.[1] ?? '');
    found.push({ language: 'python', text: lines.join('\n') });
  }
  return found;
}

/** Whether a file shows a session of Python, in a skill that has such sessions executed. */
export function isExecutedText({ path, text }: ScanFile, files: readonly ScanFile[]): boolean {
  return (
    /\.(?:py|md|rst|txt)$/.test(path) && text.includes('>>> ') && files.some((one) => one.text.includes('doctest'))
  );
}

/** The strings of JSON, each in the line where it is. */
function readValues(text: string, isCode: (value: string) => boolean): string {
  return text
    .split('\n')
    .map((line) =>
      [...line.matchAll(JSON_STRING)]
        .filter(([, value = '', colon]) => colon === undefined && isCode(value))
        .map(([, value = '']) => unescapeJson(value).trimEnd())
        .join('; ')
        .replaceAll('\n', ' ; '),
    )
    .join('\n');
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '', b: '', f: '' };

function unescapeJson(value: string): string {
  return value.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, hex: string | undefined, one: string) =>
    hex === undefined ? (ESCAPES[one] ?? one) : String.fromCodePoint(Number.parseInt(hex, 16)),
  );
}
