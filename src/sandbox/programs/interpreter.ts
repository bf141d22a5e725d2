import { failure, quoted, type ActionProblem } from '#core';

/** A script to run. */
export interface Script {
  /** Path as programs see it. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

export type ScriptCommand =
  | { readonly type: 'command'; readonly argv: readonly string[] }
  | { readonly type: 'refused'; readonly failure: ActionProblem };

/** The longest single argument on Linux, including its NUL. */
const MAX_ARGUMENT_BYTES = 128 * 1024;
/** As much of a script as decides how it is run. */
const HEAD_BYTES = 4096;

/**
 * Chooses the interpreter by the shebang line, then by the extension. Arguments reach the script unchanged; no shell parses them.
 *
 * A shell script with Windows line ends runs as `sh -c <text> <path> <args>` with repaired line ends: `$0` stays the path of the script,
 * so that it finds the files beside it, and no file has to be written. Other languages accept such line ends. The version of Node decides
 * whether TypeScript runs directly.
 */
export function scriptCommand(
  script: Script,
  args: readonly string[],
  nodeVersion = process.versions.node,
): ScriptCommand {
  const head = script.bytes.subarray(0, HEAD_BYTES);
  const found = chooseInterpreter(script, head, nodeVersion);
  if (found.type === 'refused') return found;
  // A leading dash would make the name an option of the interpreter.
  const file = script.path.startsWith('-') ? `./${script.path}` : script.path;
  if (!SHELLS.has(found.argv[0] ?? '') || !needsRepair(head)) return command([...found.argv, file, ...args]);
  const text = new TextDecoder('utf-8').decode(script.bytes).replaceAll('\r\n', '\n');
  if (Buffer.byteLength(text) >= MAX_ARGUMENT_BYTES || text.includes('\0'))
    return refused(script, 'has Windows line ends and is too large to be repaired', 'save it with Unix line ends');
  // `-` and `--` end the options, so `-c` must not follow them.
  const [program = '', ...flags] = found.argv.filter((word) => word !== '-' && word !== '--');
  // Unlike for a file, bash may read start-up files with `-c`.
  const quiet = program === 'bash' ? ['--noprofile', '--norc'] : [];
  return command([program, ...quiet, ...flags, '-c', text, file, ...args]);
}

/**
 * Runs a command line of `skill_run` in bash without start-up files. `python` falls back to `python3`, as nearly every skill expects.
 */
export function shellCommand(line: string): readonly string[] {
  return ['bash', '--noprofile', '--norc', '-c', `${PYTHON_ALIAS}; ${line}`];
}

const PYTHON_ALIAS = 'command -v python >/dev/null || python() { python3 "$@"; }';

function command(argv: readonly string[]): ScriptCommand {
  return { type: 'command', argv };
}

function refused({ path }: Script, problem: string, hint: string): ScriptCommand {
  return {
    type: 'refused',
    failure: failure('script/unknown', `the script ${quoted(path, 200)} ${problem}`, { hint }),
  };
}

function chooseInterpreter(script: Script, head: Uint8Array, nodeVersion: string): ScriptCommand {
  const first = readShebang(head);
  if (first !== undefined) return command(first);
  const byName = byExtension(script, nodeVersion);
  if (byName !== undefined) return byName;
  if (isMachineCode(head)) {
    if (script.isExecutable) return command([]);
    return refused(script, 'is a binary without execute permission', 'run chmod +x on it');
  }
  if (script.isExecutable) return command(['sh']);
  return refused(
    script,
    'has neither a shebang line nor a known extension',
    'add a first line such as #!/usr/bin/env python3, or use a known extension: .py .js .mjs .cjs .ts .sh .rb .pl .php .ps1',
  );
}

const BY_EXTENSION: ReadonlyMap<string, readonly string[]> = new Map([
  ['py', ['python3']],
  ['js', ['node']],
  ['mjs', ['node']],
  ['cjs', ['node']],
  ['sh', ['bash']],
  ['bash', ['bash']],
  ['rb', ['ruby']],
  ['pl', ['perl']],
  ['php', ['php']],
  ['ps1', ['pwsh', '-NoProfile', '-File']],
]);

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ksh', 'zsh', 'ash', 'mksh']);

function byExtension(script: Script, nodeVersion: string): ScriptCommand | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(script.path)?.[1]?.toLowerCase() ?? '';
  if (extension === 'ts' || extension === 'mts' || extension === 'cts') {
    if (runsTypeScript(nodeVersion)) return command(['node', '--experimental-strip-types', '--no-warnings']);
    return refused(
      script,
      `is TypeScript, which Node ${nodeVersion} cannot run`,
      'use Node 22.6 or newer, or ship the script as JavaScript',
    );
  }
  const found = BY_EXTENSION.get(extension);
  return found === undefined ? undefined : command(found);
}

function runsTypeScript(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 6);
}

/** Parses the shebang line. Keeps only the name of the interpreter, because its location differs between machines. */
function readShebang(head: Uint8Array): readonly string[] | undefined {
  const text = new TextDecoder('utf-8').decode(head.subarray(0, 1024));
  const line = /^#![ \t]*([^\r\n]*)/.exec(text)?.[1]?.trim() ?? '';
  const [program = '', ...options] = words(line);
  if (program === '') return undefined;
  if (baseName(program) !== 'env') return [knownName(program), ...options];
  const rest = options[0] === '-S' || options[0] === '--split-string' ? options.slice(1) : splitGlued(options);
  // Assignments and options are for env itself.
  if (rest.length === 0 || /^-|=/.test(rest[0] ?? '')) return ['env', ...rest];
  return [knownName(rest[0] ?? ''), ...rest.slice(1)];
}

/** `-Snode` is `-S node`. */
function splitGlued([first = '', ...rest]: readonly string[]): readonly string[] {
  if (first === '') return [];
  return first.startsWith('-S') ? [first.slice(2), ...rest] : [first, ...rest];
}

function words(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
}

/** Maps `python` and exact versions to `python3`, the one name that every system has. */
function knownName(program: string): string {
  const name = baseName(program);
  return /^python(?:3(?:\.\d+)?)?$/.test(name) ? 'python3' : name;
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

/** Windows line ends, or a byte order mark, which a shell would read as part of the first command. */
function needsRepair(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  return bytes.includes('\r\n') || (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf);
}

/** ELF and the executable formats of macOS and Windows. */
function isMachineCode(head: Uint8Array): boolean {
  const start = Buffer.from(head.subarray(0, 4)).toString('hex');
  return start === '7f454c46' || start.startsWith('4d5a') || /^(?:cafebabe|c[ef]faedfe|feedfac[ef])$/.test(start);
}
