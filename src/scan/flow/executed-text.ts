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

/** With as many lines as the file, so that places stay right. */
export function readExecutedTexts(file: ScanFile, files: readonly ScanFile[]): readonly ExecutedText[] {
  const found: ExecutedText[] = [];
  const { path, text } = file;
  if (PACKAGE.test(path)) found.push({ language: 'shell', text: readValues(text, (value) => value.includes(' ')) });
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
