import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { shellWord, type ProgramEnd } from '#core';
import { isPresent, quietly } from '#platform';
import { tryRead } from '../process/proc.ts';
import type { AttemptTargets, DecoyListener, HostDecoys } from './host-decoys.ts';
import type { RunLimits } from '../program-types.ts';

/** What is left of an attempt, in the folder that it wrote to. */
export interface Aftermath {
  readonly decoys: HostDecoys;
  /** Path on the host of a file that the attempt may have left. */
  readonly file: (name: string) => string;
  readonly end?: ProgramEnd;
  /** Length of the heartbeat when the program ended. */
  readonly beats?: number;
}

type Damage = (aftermath: Aftermath & { readonly read: (name: string) => string }) => readonly string[];

interface Attempt {
  /** A script for `/bin/sh` that tries to escape with whatever tools it finds. */
  readonly script: (targets: AttemptTargets) => string;
  /** The effects on the host, or the limit that was exceeded. */
  readonly damage: Damage;
  /** An executor isolates only if this is known to be blocked. */
  readonly isEssential?: boolean;
  /**
   * Runs alone, after all others ran concurrently: one kills the decoy process that others read, and some executors apply their limits to
   * all programs together.
   */
  readonly isAlone?: boolean;
  readonly limits?: Partial<RunLimits>;
}

const ESCAPED_FILES = ['/usr/skillwright-escape', '/etc/skillwright-escape'];
/** Limits that the last attempts try to exceed. */
const MEMORY_BYTES = 96 * 1024 * 1024;
const PROCESSES = 24;

function listIf(isDamaged: boolean, damage: string): readonly string[] {
  return isDamaged ? [damage] : [];
}

function reaches(listener: DecoyListener): Damage {
  return ({ decoys }) => listIf(decoys.wasReached(listener), `${listener} was reached`);
}

const TABLE = {
  'writes outside': {
    script: (targets) =>
      `echo x > ${shellWord(`${targets.outside}/written`)}; touch /usr/skillwright-escape /etc/skillwright-escape`,
    damage: ({ decoys: { targets } }) => [
      ...readdirSync(targets.outside).filter((name) => !targets.decoys.includes(path.join(targets.outside, name))),
      ...ESCAPED_FILES.filter(isPresent),
    ],
    isEssential: true,
  },
  'reads secrets': {
    script: (targets) =>
      targets.decoys.map((file, at) => `cat ${shellWord(file)} > "$OUT/secret.${String(at)}"`).join('\n'),
    damage: ({ decoys, read }) =>
      decoys.targets.decoys.filter((_, at) => read(`secret.${String(at)}`).includes(decoys.secret)),
    isEssential: true,
  },
  'tcp to this machine': {
    script: (targets) =>
      connect(`tcp/127.0.0.1/${String(targets.tcpPort)}`, {
        python: `import socket; socket.create_connection(("127.0.0.1", ${String(targets.tcpPort)}), 2).send(b"x")`,
        node: `require("net").connect(${String(targets.tcpPort)}, "127.0.0.1").on("error", () => 0).end("x")`,
      }),
    damage: reaches('tcp'),
  },
  'udp to this machine': {
    script: (targets) =>
      connect(`udp/127.0.0.1/${String(targets.udpPort)}`, {
        python: `import socket; socket.socket(2, 2).sendto(b"x", ("127.0.0.1", ${String(targets.udpPort)}))`,
        node: `const s = require("dgram").createSocket("udp4"); s.send("x", ${String(targets.udpPort)}, "127.0.0.1", () => s.close())`,
      }),
    damage: reaches('udp'),
  },
  'unix socket by path': {
    script: (targets) =>
      connect(undefined, {
        // A pair for datagrams that gets as far as the socket is told that it is of another type (EPROTOTYPE).
        perl: `my $a = pack("S a*", 1, ${text(targets.socketPath)}); socket(S, 1, 1, 0) && connect(S, $a); socketpair(A, B, 1, 2, 0) or exit; for my $try (sub { connect(A, $a) }, sub { send(A, "x", 0, $a) }) { $try->() || $! == 91 and open(F, ">", "$ENV{OUT}/datagrams") }`,
        python: `import socket; s = socket.socket(1); s.settimeout(2); s.connect(${text(targets.socketPath)})`,
        node: `require("net").connect(${text(targets.socketPath)}).on("error", () => 0).end("x")`,
      }),
    damage: ({ decoys, file }) => [
      ...listIf(decoys.wasReached('socket'), 'socket was reached'),
      ...listIf(isPresent(file('datagrams')), 'socket was reached by datagrams'),
    ],
  },
  'abstract unix socket': {
    script: (targets) =>
      connect(undefined, {
        // Some versions of Node pad the name with NULs, and the one in the sandbox need not be ours.
        perl: `for my $n (0, 108) { my $p = "\\0" . ${text(targets.abstractName)}; $p .= "\\0" x ($n - length $p); socket(S, 1, 1, 0); connect(S, pack("S a*", 1, $p)); }`,
        python: `import socket\nfor n in (0, 108):\n  try: socket.socket(1).connect(("\\0" + ${text(targets.abstractName)}).ljust(n, "\\0"))\n  except OSError: pass`,
        node: `require("net").connect("\\0" + ${text(targets.abstractName)}).on("error", () => 0).end("x")`,
      }),
    damage: reaches('abstract'),
  },
  'environment of other processes': {
    script: () => 'cat /proc/[0-9]*/environ > "$OUT/environ" 2>/dev/null',
    damage: ({ decoys, read }) => listIf(read('environ').includes(decoys.secret), 'the environment was read'),
  },
  'kills other processes': {
    script: (targets) => `kill -9 ${String(targets.decoyPid)}`,
    damage: ({ decoys }) => listIf(!decoys.isProcessAlive(), 'the process was killed'),
    isEssential: true,
    isAlone: true,
  },
  'nested namespaces': {
    script: () => 'unshare -U true && : > "$OUT/nested"; unshare -m true && : > "$OUT/nested"',
    damage: ({ file }) => listIf(isPresent(file('nested')), 'a namespace was made'),
  },
  'runs as root': {
    script: () => 'id -u > "$OUT/uid"; awk \'/^CapEff/ { print $2 }\' /proc/self/status > "$OUT/capabilities"',
    damage: ({ read }) => [
      ...listIf(read('uid').trim() === '0', 'root'),
      ...listIf(/[1-9a-f]/.test(read('capabilities')), read('capabilities').trim()),
    ],
    isEssential: true,
  },
  'leaves a setuid file': {
    script: () => 'cp /bin/sh "$OUT/setuid"; chmod 6755 "$OUT/setuid"',
    damage: ({ file }) =>
      listIf(((quietly(() => lstatSync(file('setuid')))?.mode ?? 0) & 0o6000) !== 0, 'the bits were set'),
  },
  'more memory than allowed': {
    script: () =>
      `head -c ${String(4 * MEMORY_BYTES)} /dev/zero | tail -c ${String(4 * MEMORY_BYTES)} | wc -c > "$OUT/held"`,
    damage: ({ read }) => listIf(Number(read('held')) >= 4 * MEMORY_BYTES, 'the memory was held'),
    isAlone: true,
    limits: { memoryBytes: MEMORY_BYTES },
  },
  'more processes than allowed': {
    // They stay until an executor that counts processes from time to time sees them, however slow the machine is.
    script: () =>
      `i=0; while [ $i -lt ${String(3 * PROCESSES)} ]; do sleep 30 & i=$((i + 1)); echo $i > "$OUT/born"; done; sleep 15`,
    damage: ({ read, end }) =>
      listIf(end?.reason !== 'processes' && Number(read('born')) >= 3 * PROCESSES, 'the processes were born'),
    isAlone: true,
    limits: { processes: PROCESSES },
  },
  'more disk than allowed': {
    script: () =>
      'i=0; while [ $i -lt 32 ]; do head -c 4194304 /dev/zero > "$OUT/large.$i"; i=$((i + 1)); sleep 0.05; done; sleep 1',
    damage: ({ end }) => listIf(end?.reason !== 'disk', 'the disk was filled'),
    isAlone: true,
    limits: { diskBytes: 16 * 1024 * 1024 },
  },
  'survives its time': {
    script: () =>
      'trap \'\' TERM HUP INT; (setsid sh -c \'while :; do echo x >> "$OUT/heartbeat"; sleep 0.05; done\' &) ; : > "$OUT/survives-its-time.tried"; sleep 60',
    damage: ({ read, end, beats }) =>
      listIf(end?.reason !== 'timeout' || read('heartbeat').length !== beats, 'it went on'),
    isAlone: true,
    limits: { wallMs: 700 },
  },
} as const satisfies Readonly<Record<string, Attempt>>;

export type EscapeAttempt = keyof typeof TABLE;
export const ATTEMPTS: Readonly<Record<EscapeAttempt, Attempt>> = TABLE;
export const ESCAPE_ATTEMPTS: readonly EscapeAttempt[] = Object.keys(TABLE).filter((name): name is EscapeAttempt =>
  Object.hasOwn(TABLE, name),
);

/** The script of an attempt, which writes `$OUT/<name>.tried` in the end. */
export function attemptScript(name: EscapeAttempt, targets: AttemptTargets): string {
  return `set +e\n${ATTEMPTS[name].script(targets)}\n: > "$OUT/${fileName(name)}.tried"\n`;
}

/** The attempt's name as part of a file name. */
export function fileName(name: EscapeAttempt): string {
  return name.replaceAll(' ', '-');
}

/** The effects of an attempt, seen on the host. Only a socket for datagrams, which Node cannot open there, is reported by the program. */
export function findDamage(name: EscapeAttempt, aftermath: Aftermath): readonly string[] {
  return ATTEMPTS[name].damage({ ...aftermath, read: (file) => tryRead(aftermath.file(file)) ?? '' });
}

interface Helpers {
  readonly perl?: string;
  readonly python: string;
  readonly node: string;
}

/** Connects with every tool that is installed. Without any, the attempt is not marked as tried. */
function connect(device: string | undefined, { perl, python, node }: Helpers): string {
  const ways = [
    ...(device === undefined ? [] : [`bash -c ${shellWord(`echo x > /dev/${device}`)}`]),
    ...(perl === undefined ? [] : [`perl -e ${shellWord(perl)}`]),
    `python3 -c ${shellWord(python)}`,
    `node -e ${shellWord(node)}`,
  ];
  const tools = [...(device === undefined ? [] : ['bash']), ...(perl === undefined ? [] : ['perl']), 'python3', 'node'];
  return [
    `has=; for tool in ${tools.join(' ')}; do command -v $tool > /dev/null && has=1; done`,
    '[ -n "$has" ] || exit 0',
    ...ways.map((way) => `${way} 2> /dev/null`),
  ].join('\n');
}

function text(value: string): string {
  return JSON.stringify(value);
}
