/**
 * Commands and files of a Markdown page, and whether the output that the page shows is the output of today.
 *
 * - A fence `console` is run: a line that starts with `$ ` is a command (one that ends with `\` goes on), the lines below it are what the
 *   terminal shows. A command that fails must be followed by `$ echo $?`, or its fence says `status=N`.
 * - A fence with `file=PATH` is written to PATH.
 * - A line `...` in the output stands for any number of lines.
 * - What differs from run to run (`VARIES`) is compared by its kind, and so are line breaks: a longer path wraps elsewhere.
 * - Other fences are only read. `UPDATE_DOCS=1` writes today's output into the page.
 */

export type PageStep =
  | { readonly type: 'file'; readonly path: string; readonly text: string }
  | {
      readonly type: 'command';
      readonly command: string;
      readonly output: readonly string[];
      readonly at: LineRange;
      readonly status: number;
    };

interface LineRange {
  readonly from: number;
  /** The line after the last one. */
  readonly to: number;
}

export interface CommandResult {
  readonly status: number;
  readonly output: readonly string[];
}

/** Lines that come once a day only. */
const SOMETIMES = /^testing the isolation of .*$/gm;

const VARIES: readonly (readonly [RegExp, string])[] = [
  [/\b\d{8}T\d{6}Z-[0-9a-f]{8}\b/g, 'RUN'],
  [/\b\d{8}T\d{6}(?:-\d+)?\b/g, 'FOLDER'],
  [/\btrash\/\S+/g, 'TRASH'],
  [/\bsw_[0-9a-f]{12}(?:_[\w-]{43})?/g, 'KEY'],
  // The digest of a skill follows from its files, which the page shows or makes.
  [/(?<!sha256-tree:)\b[0-9a-f]{12,64}\b/g, 'DIGEST'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g, 'TIME'],
  [/\b(?:\d+ min )?\d+(?:\.\d+)? (?:ms|s)\b/g, 'DURATION'],
  [/\b\d[\d,]* tokens\b/g, 'TOKENS'],
  [/\b(?:bubblewrap|namespaces)\b/g, 'SANDBOX'],
];

export function readSteps(page: string): readonly PageStep[] {
  const lines = page.split('\n');
  const steps: PageStep[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const fence = /^(`{3,})(.*)$/.exec(lines[index] ?? '');
    if (fence === null) continue;
    const end = lines.indexOf(fence[1] ?? '', index + 1);
    if (end === -1) throw new Error(`line ${String(index + 1)}: the fence is not closed`);
    const [language = '', ...attributes] = (fence[2] ?? '').split(' ');
    const attribute = (name: string): string | undefined =>
      attributes.find((text) => text.startsWith(`${name}=`))?.slice(name.length + 1);
    const file = attribute('file');
    if (file !== undefined)
      steps.push({ type: 'file', path: file, text: `${lines.slice(index + 1, end).join('\n')}\n` });
    if (language === 'console')
      steps.push(...commandsOf(lines, { from: index + 1, to: end }, Number(attribute('status') ?? 0)));
    index = end;
  }
  return steps;
}

function commandsOf(lines: readonly string[], { from, to }: LineRange, status: number): readonly PageStep[] {
  const steps: PageStep[] = [];
  let index = from;
  while (index < to) {
    let last = index;
    while (lines[last]?.endsWith('\\') === true) last += 1;
    const command = lines.slice(index, last + 1).join('\n');
    if (!command.startsWith('$ '))
      throw new Error(`line ${String(index + 1)}: expected a command that starts with "$ "`);
    let next = last + 1;
    while (next < to && lines[next]?.startsWith('$ ') !== true) next += 1;
    const at = { from: last + 1, to: next };
    steps.push({ type: 'command', command: command.slice(2), output: lines.slice(at.from, at.to), at, status });
    index = next;
  }
  return steps;
}

/** The commands whose shown output is not what came; empty if the page is right. */
export function wrongOutputs(steps: readonly PageStep[], results: readonly CommandResult[]): readonly unknown[] {
  const commands = steps.filter((step) => step.type === 'command');
  return commands.flatMap(({ command, output, status }, index): readonly unknown[] => {
    const result = results[index];
    if (result === undefined) return [{ command, problem: 'it did not end' }];
    const isTold = commands[index + 1]?.command === 'echo $?';
    if (result.status !== status && !isTold)
      return [
        { command, problem: `exit code ${String(result.status)} instead of ${String(status)}`, came: result.output },
      ];
    return isShown(output, result.output) ? [] : [{ command, shown: output, came: result.output }];
  });
}

/** Whether the shown lines stand for the lines that came. */
export function isShown(shown: readonly string[], came: readonly string[]): boolean {
  const parts = shown
    .join('\n')
    .split(/^\.\.\.$/m)
    .map(comparable);
  const text = comparable(came.join('\n'));
  if (parts.length === 1) return parts[0] === text;
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at + last.length <= text.length;
}

function comparable(text: string): string {
  let found = text.replaceAll(SOMETIMES, '');
  for (const [pattern, kind] of VARIES) found = found.replaceAll(pattern, kind);
  return found.replaceAll(/\s+/g, ' ').trim();
}

/** The page with the output of today where it differs. */
export function rewritten(page: string, steps: readonly PageStep[], results: readonly CommandResult[]): string {
  const lines = page.split('\n');
  const commands = steps.filter((step) => step.type === 'command');
  for (const [index, { output, at }] of [...commands.entries()].toReversed()) {
    const came = results[index]?.output;
    if (came !== undefined && !isShown(output, came)) lines.splice(at.from, at.to - at.from, ...came);
  }
  return lines.join('\n');
}

const FENCE = /^(`{3,})(.*)$[^]*?^\1$/gm;

/** Fences that are run or written, with their content: a translation has the same. Comments in the others are translated. */
export function fencesOf(page: string): readonly string[] {
  return [...page.matchAll(FENCE)].filter(([, , info = '']) => isTried(info)).map(([fence]) => fence);
}

/** A translation with the fences of the page. */
export function withFences(translation: string, page: string): string {
  const fences = fencesOf(page).values();
  return translation.replaceAll(FENCE, (fence: string, _: string, info: string) =>
    isTried(info) ? (fences.next().value ?? fence) : fence,
  );
}

function isTried(info: string): boolean {
  return info.startsWith('console') || info.includes(' file=');
}
