import { DEFAULT_LIMITS, type AttachedWorkspace, type Executor } from '#core';
import { interpreterFolders, PROGRAM_FOLDERS } from '#platform';
import { NO_OUTPUT, textSink } from '../executors/output-sinks.ts';

/** An interpreter as scripts find it. */
export interface Interpreter {
  readonly name: string;
  /** Path inside; absent if it is not installed. */
  readonly path?: string;
  readonly version?: string;
}

const NAMES = ['python3', 'node', 'bash', 'perl'];
const MAX_MS = 20_000;
/** Prints name, path and the first line with a version. */
const SCRIPT = `for name in ${NAMES.join(' ')}; do
  path=$(command -v $name) || continue
  case $name in perl) version=$(perl -e 'print substr $^V, 1') ;; *) version=$($name --version 2>&1 | head -n 1) ;; esac
  printf '%s\\t%s\\t%s\\n' "$name" "$path" "$version"
done`;

/** The interpreters that scripts see in a workspace, by the same search path that they have. */
export async function interpretersIn(
  workspace: AttachedWorkspace,
  executor: Pick<Executor, 'image'>,
): Promise<readonly Interpreter[]> {
  const stdout = textSink();
  await workspace.run(
    {
      argv: ['/bin/sh', '-c', SCRIPT],
      cwd: 'work',
      env: { PATH: [...interpreterFolders(executor), ...PROGRAM_FOLDERS].join(':'), LANG: 'C.UTF-8' },
      stdin: new Uint8Array(),
      limits: { ...DEFAULT_LIMITS, wallMs: MAX_MS },
      network: [],
    },
    { stdout, stderr: NO_OUTPUT },
  );
  const rows = stdout
    .text()
    .split('\n')
    .map((line) => line.split('\t'));
  return NAMES.map((name) => {
    const [, path, said = ''] = rows.find(([first]) => first === name) ?? [];
    const version = /\d+(?:\.\d+)+/.exec(said)?.[0];
    return { name, path, version };
  });
}
