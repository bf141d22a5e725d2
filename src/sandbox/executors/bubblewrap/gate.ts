import { shellWord } from '#core';
import type { ProcessLimits } from '../linux/launcher.ts';

/** Holds the arguments of a program that are too many for the command line of bubblewrap. */
export const WORDS_FILE = '/run/skillwright/words';

export interface Gate {
  readonly argv: readonly string[];
  readonly limits: ProcessLimits;
  readonly storesInput?: boolean;
  /** Variables that would affect the gate's own shell: exported after its checks. */
  readonly lateEnv: Readonly<Record<string, string>>;
}

/** bubblewrap accepts 9000 arguments in total; longer commands are passed through a file. */
const MAX_WORDS = 4096;

export interface GatedCommand {
  readonly argv: readonly string[];
  /** Content of `WORDS_FILE`. */
  readonly wordsFile?: string;
}

/**
 * The first command inside. It sets the limits that only work in the sandbox's own user namespace, writes READY, waits for a line on
 * stdin, and becomes the program.
 */
export function gatedCommand(gate: Gate): GatedCommand {
  const { limits, argv: words } = gate;
  const isLong = words.length > MAX_WORDS;
  const script = [
    'set -e',
    // The inherited limit may be lower already, and a lower limit cannot be raised.
    'limit() { ulimit "$1" "$2" 2>/dev/null || [ "$(ulimit "$1" 2>/dev/null)" -le "$2" ] 2>/dev/null; }',
    // The process limit is -u in bash and -p in dash.
    `limit -u ${String(limits.processes)} || limit -p ${String(limits.processes)}`,
    // Both shells count blocks of 512 bytes, as POSIX says.
    `limit -f ${String(Math.max(1, Math.floor(limits.fileBytes / 512)))}`,
    ...(limits.dataBytes === undefined
      ? []
      : [`limit -d ${String(Math.max(1024, Math.floor(limits.dataBytes / 1024)))}`]),
    `limit -n ${String(limits.openFiles)}`,
    `limit -t ${String(limits.cpuSeconds)}`,
    'limit -c 0',
    "printf '\\006' >&2",
    // The host answers once the processes are in their control group.
    'read -r held',
    // Programs cannot open a socket by /dev/stdin.
    ...(gate.storesInput === true ? ['cat > /tmp/.input', 'exec < /tmp/.input', 'rm /tmp/.input'] : []),
    ...Object.entries(gate.lateEnv).map(([name, value]) => `export ${name}=${shellWord(value)}`),
    ...(isLong ? [`. ${WORDS_FILE}`] : []),
    'exec "$@"',
  ].join('\n');
  const shell = ['/bin/sh', '-c', script, 'sh'];
  if (!isLong) return { argv: [...shell, ...words] };
  return { argv: shell, wordsFile: `set -- ${words.map(shellWord).join(' ')}\n` };
}

/** Variables that change the behaviour of a shell or of the dynamic loader. */
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
