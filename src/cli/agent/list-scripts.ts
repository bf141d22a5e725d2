/** `exec SKILL` without a script: what of the skill can be run, with a line of help each. */
import { cleanText, isProblem, printable, toRelativePath } from '#core';
import { fitText, inConfined, padText, textWidth, type ConfinedDirectory } from '#platform';
import { listSkillFiles } from '#skills';
import type { Terminal } from '../terminal/terminal.ts';

export interface ListedScript {
  readonly path: string;
  /** The first line of its own description; empty if it has none. */
  readonly about: string;
}

const MAX_BYTES = 1024 * 1024;
const MAX_WIDTH = 48;
const PROGRAM = /\.(?:py|[cm]?[jt]s|sh|bash|zsh|rb|pl|php|ps1|r)$/i;
/** Parts of programs and their tests. */
const NO_PROGRAM =
  /(?:^|\/)(?:node_modules|__pycache__|tests?|__tests__)\/|^scripts\/(?:lib|utils|helpers|common|shared)\/|(?:^|\/)__init__\.py$|\.d\.[cm]?ts$|[._](?:test|spec)\.\w+$/i;

/** Scripts below scripts/ come first. */
export function listScripts(dir: string): readonly ListedScript[] {
  const { files } = listSkillFiles(dir);
  const programs = files.filter(
    ({ path, isExecutable }) => !NO_PROGRAM.test(path) && (PROGRAM.test(path) || (isExecutable && !path.includes('.'))),
  );
  const paths = programs.map(({ path }) => path);
  const isMain = (path: string): boolean => path.startsWith('scripts/');
  const sorted = [...paths.filter(isMain), ...paths.filter((path) => !isMain(path))];
  return inConfined(
    dir,
    (folder) => sorted.map((path) => ({ path, about: descriptionOf(headOf(folder, path)) })),
    () => [],
  );
}

export function scriptLines(scripts: readonly ListedScript[], { width, style }: Terminal): readonly string[] {
  const widest = Math.min(MAX_WIDTH, Math.max(...scripts.map(({ path }) => textWidth(printable(path)))));
  return scripts.map(({ path, about }) =>
    fitText(`${padText(printable(path), widest)}  ${style('dim', about)}`.trimEnd(), width - 1),
  );
}

function headOf(folder: ConfinedDirectory, path: string): string {
  const relative = toRelativePath(path);
  if (isProblem(relative)) return '';
  const read = folder.read(relative, { maxBytes: MAX_BYTES });
  return read.type === 'read' ? read.bytes.toString('utf8') : '';
}

/** The start of a docstring, of a block comment, or the first line comment that is neither a shebang nor a license. */
function descriptionOf(text: string): string {
  const start = text.slice(0, 4_000).replace(/^\uFEFF?(?:#!.*\r?\n)?/, '');
  const block = /^(?:\s*(?:#.*)?\r?\n)*\s*[rRuU]?("""|''')\s*([\s\S]*?)(?:\1|$)|^\s*\/\*+\s*([\s\S]*?)\*\//.exec(start);
  const lines = (block?.[2] ?? block?.[3] ?? start).split(/\r?\n/).map((line) => {
    const comment = block === null ? /^\s*(?:#|\/\/)+(.*)$/.exec(line)?.[1] : line.replace(/^\s*\*/, '');
    return cleanText(comment ?? '').trim();
  });
  const found = lines.find((line) => /\p{L}{2}/u.test(line) && !NO_DESCRIPTION.test(line));
  return printable(found ?? '').slice(0, 200);
}

const NO_DESCRIPTION =
  /^(?:copyright|license|licensed|spdx|eslint|@ts-|-\*-|vim:|\/\/\/|shellcheck|pylint|type:|requires-python|dependencies|script$|!\/)|coding[:=]|oxlint|@license/i;
