import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { SHARED_CACHE } from '../cli/run-cli.ts';
import { atTerminal } from '../cli/pseudo-terminal.ts';
import { PROJECT } from '../files-below.ts';
import { readSteps, rewritten, withFences, wrongOutputs, type CommandResult, type PageStep } from './shown-commands.ts';

/** What pages show for the home folder and the folder of a reader. */
const HOME_SHOWN = '/home/you';

export interface PageOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Keep the escape sequences for colors in the output. */
  readonly isColored?: boolean;
  /** A text of the page and what takes its place, such as a port that is free here. */
  readonly replace?: readonly [string, string];
  /** Called with the empty folder before the first step. */
  readonly prepare?: (folder: string) => void;
}

/**
 * Runs the commands of a page and returns those whose output is not what the page shows. `UPDATE_DOCS=1` writes today's output into the
 * page and its translation first.
 */
export async function wrongCommands(
  page: string,
  translation: string,
  options?: PageOptions,
): Promise<readonly unknown[]> {
  const read = (name: string): string => readFileSync(path.join(PROJECT, name), 'utf8');
  const steps = readSteps(read(page));
  const results = await runSteps(steps, options);
  if (process.env['UPDATE_DOCS'] === '1') {
    const today = rewritten(read(page), steps, results);
    writeFileSync(path.join(PROJECT, page), today);
    writeFileSync(path.join(PROJECT, translation), withFences(read(translation), today));
  }
  return wrongOutputs(readSteps(read(page)), results);
}

/**
 * Runs the steps of a page in one shell, at a terminal of 80 columns, in an empty folder with an empty home. The shell is one process, so
 * that `cd`, variables and background jobs last.
 */
export async function runSteps(
  steps: readonly PageStep[],
  { env = {}, isColored = false, replace = ['', ''], prepare }: PageOptions = {},
): Promise<readonly CommandResult[]> {
  const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'skillwright-page-')));
  // Programs in a sandbox of root run as another user, who must be able to enter the project.
  chmodSync(base, 0o755);
  const [home, scripts] = ['home', 'scripts'].map((name) => path.join(base, name)) as [string, string];
  const folder = path.join(home, 'project');
  const bin = path.join(base, 'bin');
  for (const made of [folder, scripts, bin]) mkdirSync(made, { recursive: true });
  const command = path.join(bin, 'skillwright');
  writeFileSync(
    command,
    `#!/bin/sh\nexec '${process.execPath}' '${path.join(PROJECT, 'dist/command/skillwright.js')}' "$@"\n`,
  );
  chmodSync(command, 0o755);
  // `npx skillwright` would fetch the package.
  writeFileSync(path.join(bin, 'npx'), `#!/bin/sh\nexec "$@"\n`);
  chmodSync(path.join(bin, 'npx'), 0o755);
  prepare?.(folder);
  const script = path.join(scripts, 'all.sh');
  const [shown, used] = replace;
  writeFileSync(
    script,
    shellScript(steps, scripts, (text) => (shown === '' ? text : text.replaceAll(shown, used))),
  );
  try {
    const { text } = await atTerminal(['bash', '--norc', '--noprofile', script], [], {
      cwd: folder,
      seconds: 500,
      env: {
        PATH: `${bin}:${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
        HOME: home,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'You',
        GIT_AUTHOR_EMAIL: 'you@example.org',
        GIT_COMMITTER_NAME: 'You',
        GIT_COMMITTER_EMAIL: 'you@example.org',
        ...(isColored ? { NO_COLOR: '' } : {}),
        ...SHARED_CACHE,
        ...env,
      },
    });
    return resultsIn(text.replaceAll(home, HOME_SHOWN), isColored);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function shellScript(steps: readonly PageStep[], scripts: string, adapt: (text: string) => string): string {
  const lines = steps.map((step, index) => {
    const file = path.join(scripts, String(index));
    if (step.type === 'command') {
      writeFileSync(file, adapt(`${step.command}\n`));
      // The status is printed and set again, for `echo $?`.
      return `. '${file}'\ncode=$?; printf '\\036%d\\037' "$code"; (exit "$code")`;
    }
    writeFileSync(file, adapt(step.text));
    return `mkdir -p "$(dirname '${step.path}')" && cp '${file}' '${step.path}'`;
  });
  return ['stty cols 80 rows 24', ...lines, 'kill $(jobs -p) 2>/dev/null; wait', ''].join('\n');
}

function resultsIn(text: string, isColored: boolean): readonly CommandResult[] {
  return [...text.matchAll(/([^]*?)\u001e(\d+)\u001f/g)].map(([, output = '', status]) => ({
    status: Number(status),
    output: screenLines(output, isColored),
  }));
}

/** What stays on the screen: a line that was drawn again is there once. */
function screenLines(output: string, isColored: boolean): readonly string[] {
  const sequences = isColored ? /\u001b\[[\d;?]*[A-Zad-ln-z]/g : /\u001b\[[\d;?]*[A-Za-z]/g;
  const lines = output
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => (line.split(/\r(?:\u001b\[K)?/).at(-1) ?? '').replaceAll(sequences, '').trimEnd());
  while (lines.at(-1) === '') lines.pop();
  return lines;
}

/** What `npm install` of a page brings; for `prepare`. */
export function installPackages(folder: string): void {
  const modules = path.join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(PROJECT, path.join(modules, 'skillwright'));
  for (const name of readdirSync(path.join(PROJECT, 'node_modules')))
    if (name !== 'skillwright' && !name.startsWith('.'))
      symlinkSync(path.join(PROJECT, 'node_modules', name), path.join(modules, name));
}
