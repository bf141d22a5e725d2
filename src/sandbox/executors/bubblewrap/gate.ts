import type { RunLimits } from '../../../core/execution.ts';
import { shellWord } from '../../../core/text/shell-word.ts';
import { WORDS_FILE } from './profile.ts';

/** The first byte on stderr: everything before it is bubblewrap's, everything after it the program's. */
export const READY = 0x06;

export interface Gate {
  readonly argv: readonly string[];
  readonly limits: RunLimits;
  /** Memory of one process; without it a control group bounds all of them together. */
  readonly dataBytes?: number;
  readonly processes: number;
  /** Of one process. */
  readonly cpuSeconds: number;
  /** Variables that would change the shell of the gate itself: set behind it. */
  readonly lateEnv: Readonly<Record<string, string>>;
  readonly terminal: boolean;
  /** Where a control group is entered; one digit, as a shell knows them. */
  readonly entryDescriptor?: number;
}

const OPEN_FILES = 1024;
/** bubblewrap takes 9000 words at most; what is more goes by a file. */
const MAX_WORDS = 4096;

export interface GatedCommand {
  readonly argv: readonly string[];
  /** Has to be shown at `WORDS_FILE`. */
  readonly wordsFile?: string;
}

/**
 * The command that runs first inside: it takes the limits upon itself that only hold in the sandbox's own user namespace, says that the
 * sandbox stands, waits to be let go, and becomes the program.
 */
export function gatedCommand(gate: Gate): GatedCommand {
  const { fileBytes } = gate.limits;
  const words = gate.terminal ? inTerminal(gate.argv) : gate.argv;
  const isLong = words.length > MAX_WORDS;
  const script = [
    'set -e',
    // Whoever started us may have left less, which cannot be raised.
    'limit() { ulimit "$1" "$2" 2>/dev/null || [ "$(ulimit "$1" 2>/dev/null)" -le "$2" ] 2>/dev/null; }',
    // bash has -u for processes, dash -p.
    `limit -u ${String(gate.processes)} || limit -p ${String(gate.processes)}`,
    // A block of 512 bytes is what POSIX says, and what both take it for.
    `limit -f ${String(Math.max(1, Math.floor(fileBytes / 512)))}`,
    ...(gate.dataBytes === undefined ? [] : [`limit -d ${String(Math.max(1024, Math.floor(gate.dataBytes / 1024)))}`]),
    `limit -n ${String(OPEN_FILES)}`,
    `limit -t ${String(gate.cpuSeconds)}`,
    'limit -c 0',
    ...(gate.entryDescriptor === undefined ? [] : enterGroup(String(gate.entryDescriptor))),
    "printf '\\006' >&2",
    // Until the host has seen that everybody here is in the control group.
    'read -r held',
    ...Object.entries(gate.lateEnv).map(([name, value]) => `export ${name}=${shellWord(value)}`),
    ...(isLong ? [`. ${WORDS_FILE}`] : []),
    'exec "$@"',
  ].join('\n');
  const shell = ['/bin/sh', '-c', script, 'sh'];
  if (!isLong) return { argv: [...shell, ...words] };
  return { argv: shell, wordsFile: `set -- ${words.map(shellWord).join(' ')}\n` };
}

/** Into the control group, and the way in is shut: the program does not find it. */
function enterGroup(descriptor: string): readonly string[] {
  return [`echo 0 >&${descriptor}`, `exec ${descriptor}>&-`];
}

/** A pseudo terminal of the sandbox's own: what is typed into it reaches nobody outside. */
function inTerminal(argv: readonly string[]): readonly string[] {
  return ['/usr/bin/script', '-qefc', `exec ${argv.map(shellWord).join(' ')}`, '/dev/null'];
}

/** Names that change what a shell or the loader of programs does before the first line. */
const LATE_NAME = /^(?:LD_\w*|GLIBC_\w*|GCONV_PATH|LOCPATH|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PS4|IFS|POSIXLY_CORRECT)$/;

export interface SplitEnvironment {
  readonly early: Readonly<Record<string, string>>;
  readonly late: Readonly<Record<string, string>>;
}

export function splitEnvironment(env: Readonly<Record<string, string>>): SplitEnvironment {
  const entries = Object.entries(env);
  return {
    early: Object.fromEntries(entries.filter(([name]) => !LATE_NAME.test(name))),
    late: Object.fromEntries(entries.filter(([name]) => LATE_NAME.test(name))),
  };
}
