import { failure } from '../../core/failure-codes.ts';
import type { Failure } from '../../core/failure-codes.ts';
import { quoted } from '../../core/text/text.ts';

/** A script that is to be run. */
export interface Script {
  /** As the program sees it. */
  readonly path: string;
  /** Its first 4 KiB, or all of it. */
  readonly head: Uint8Array;
  readonly isExecutable: boolean;
  /** Asked only for a shell script that cannot run as it is; nothing where it cannot be read whole. */
  readonly readWhole: () => Uint8Array | undefined;
}

/** What is known about the place where the script will run. */
export interface ScriptPlace {
  /** Whether a program is there; without it all are taken to be. */
  readonly hasProgram?: (program: string) => boolean;
  /** Of the Node there, `20.19.0`; decides whether TypeScript runs as it is. */
  readonly nodeVersion?: string;
}

export type ScriptCommand =
  | { readonly type: 'command'; readonly argv: readonly string[] }
  | { readonly type: 'refused'; readonly failure: Failure };

/** The longest single argument that Linux passes to a program, its NUL included. */
const MAX_ARGUMENT_BYTES = 128 * 1024;

/**
 * What runs a script: its first line, else its extension. Arguments reach the script as they are; no shell reads them.
 *
 * A shell script with Windows line ends runs as `sh -c <text> <path> <args>`, its line ends repaired: `$0` stays the script's own path,
 * so that it finds what lies beside it, and nothing has to be written anywhere. Other languages take such line ends.
 */
export function scriptCommand(script: Script, args: readonly string[], place: ScriptPlace = {}): ScriptCommand {
  const found = interpreterOf(script, place);
  if (found.type === 'refused') return found;
  // A name that starts with a dash would be an option of the interpreter.
  const file = script.path.startsWith('-') ? `./${script.path}` : script.path;
  if (!SHELLS.has(found.argv[0] ?? '') || !needsRepair(script.head)) return command([...found.argv, file, ...args]);
  const whole = script.readWhole();
  const text = whole === undefined ? undefined : new TextDecoder('utf-8').decode(whole).replaceAll('\r\n', '\n');
  if (text === undefined || Buffer.byteLength(text) >= MAX_ARGUMENT_BYTES || text.includes('\0'))
    return refused(
      script,
      'has Windows line ends and cannot be run through a shell that way',
      'save it with Unix line ends',
    );
  // `-` and `--` end the options, and `-c` is one.
  const [program = '', ...flags] = found.argv.filter((word) => word !== '-' && word !== '--');
  // With `-c` bash may read start-up files, which it does not for a file.
  const quiet = program === 'bash' ? ['--noprofile', '--norc'] : [];
  return command([program, ...quiet, ...flags, '-c', text, file, ...args]);
}

/**
 * A command line for bash, as `skill_run` takes it. `python` means `python3` where the system has only that, as nearly every skill
 * expects; no start-up file is read.
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

function interpreterOf(script: Script, place: ScriptPlace): ScriptCommand {
  const has = place.hasProgram ?? (() => true);
  const first = shebangOf(script.head);
  const byName = byExtension(script, place);
  if (first !== undefined) {
    // What the author named may be missing here (`uv run --script`, a Python of his own) while the plain interpreter is not.
    const isMissing = !has(first[0] ?? '');
    return isMissing && byName?.type === 'command' && has(byName.argv[0] ?? '') ? byName : command(first);
  }
  if (byName !== undefined) return byName;
  if (isMachineCode(script.head)) {
    if (script.isExecutable) return command([]);
    return refused(script, 'is a program without the permission to be executed', 'give it the permission: chmod +x');
  }
  if (script.isExecutable) return command(['sh']);
  return refused(
    script,
    'does not say what runs it',
    'give it a first line such as #!/usr/bin/env python3, or a known extension: .py .js .mjs .cjs .ts .sh .rb .pl .php .ps1',
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

function byExtension(script: Script, { hasProgram, nodeVersion }: ScriptPlace): ScriptCommand | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(script.path)?.[1]?.toLowerCase() ?? '';
  if (extension === 'ts' || extension === 'mts' || extension === 'cts') {
    if (nodeVersion === undefined || runsTypeScript(nodeVersion))
      return command(['node', '--experimental-strip-types', '--no-warnings']);
    if (hasProgram?.('tsx') === true) return command(['tsx']);
    return refused(
      script,
      `is TypeScript: Node ${nodeVersion} does not run it and there is no tsx`,
      'use Node 22.6 or newer, install tsx, or ship the script as JavaScript',
    );
  }
  const found = BY_EXTENSION.get(extension);
  return found === undefined ? undefined : command(found);
}

function runsTypeScript(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 6);
}

/** The words of the first line, the interpreter by its name alone: where it lies is for `PATH` to say, which differs by machine. */
function shebangOf(head: Uint8Array): readonly string[] | undefined {
  const text = new TextDecoder('utf-8').decode(head.subarray(0, 1024));
  const line = /^#![ \t]*([^\r\n]*)/.exec(text)?.[1]?.trim() ?? '';
  const [program = '', ...options] = words(line);
  if (program === '') return undefined;
  if (baseName(program) !== 'env') return [knownName(program), ...options];
  const rest = options[0] === '-S' || options[0] === '--split-string' ? options.slice(1) : splitGlued(options);
  // Assignments and options of env itself: it has to do them.
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

/** `python` is Python 3 everywhere by now, but not everywhere under that name; the same for exact versions. */
function knownName(program: string): string {
  const name = baseName(program);
  return /^python(?:3(?:\.\d+)?)?$/.test(name) ? 'python3' : name;
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

/** Windows line ends, or a byte order mark, which a shell takes for a part of the first command. */
function needsRepair(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  return bytes.includes('\r\n') || (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf);
}

/** ELF, and the formats of macOS and Windows. */
function isMachineCode(head: Uint8Array): boolean {
  const start = Buffer.from(head.subarray(0, 4)).toString('hex');
  return start === '7f454c46' || start.startsWith('4d5a') || /^(?:cafebabe|c[ef]faedfe|feedfac[ef])$/.test(start);
}
