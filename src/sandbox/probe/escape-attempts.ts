import { shellWord } from '#core';

/** Targets on the host that an attempt tries to reach. */
export interface AttemptTargets {
  /** World-writable folder beside the workspace. */
  readonly outside: string;
  /** Files with a secret, beside the workspace and in the home folder. */
  readonly decoys: readonly string[];
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly socketPath: string;
  /** Without the leading NUL. */
  readonly abstractName: string;
  /** Process id of a decoy process outside, of the same user, with the secret in its environment. */
  readonly decoyPid: number;
}

/** Each is a script for `/bin/sh` that tries to escape with whatever tools it finds and then writes `$OUT/<name>.tried`. */
export const ESCAPE_ATTEMPTS = [
  'writes outside',
  'reads secrets',
  'tcp to this machine',
  'udp to this machine',
  'unix socket by path',
  'abstract unix socket',
  'environment of other processes',
  'kills other processes',
  'nested namespaces',
  'runs as root',
  'leaves a setuid file',
  'more memory than allowed',
  'more processes than allowed',
  'more disk than allowed',
  'survives its time',
] as const;
export type EscapeAttempt = (typeof ESCAPE_ATTEMPTS)[number];

/** Limits that the last attempts try to exceed. */
export const ATTEMPT_LIMITS = { memoryBytes: 96 * 1024 * 1024, processes: 24, diskBytes: 16 * 1024 * 1024 } as const;

export function attemptScript(name: EscapeAttempt, targets: AttemptTargets): string {
  const tried = `: > "$OUT/${fileName(name)}.tried"`;
  return `set +e\n${attempt(name, targets)}\n${tried}\n`;
}

/** The attempt's name as part of a file name. */
export function fileName(name: EscapeAttempt): string {
  return name.replaceAll(' ', '-');
}

function attempt(name: EscapeAttempt, targets: AttemptTargets): string {
  switch (name) {
    case 'writes outside':
      return `echo x > ${shellWord(`${targets.outside}/written`)}; touch /usr/skillwright-escape /etc/skillwright-escape`;
    case 'reads secrets':
      return targets.decoys.map((file, at) => `cat ${shellWord(file)} > "$OUT/secret.${String(at)}"`).join('\n');
    case 'tcp to this machine':
      return connect(`tcp/127.0.0.1/${String(targets.tcpPort)}`, {
        python: `import socket; socket.create_connection(("127.0.0.1", ${String(targets.tcpPort)}), 2).send(b"x")`,
        node: `require("net").connect(${String(targets.tcpPort)}, "127.0.0.1").on("error", () => 0).end("x")`,
      });
    case 'udp to this machine':
      return connect(`udp/127.0.0.1/${String(targets.udpPort)}`, {
        python: `import socket; socket.socket(2, 2).sendto(b"x", ("127.0.0.1", ${String(targets.udpPort)}))`,
        node: `const s = require("dgram").createSocket("udp4"); s.send("x", ${String(targets.udpPort)}, "127.0.0.1", () => s.close())`,
      });
    case 'unix socket by path':
      return connect(undefined, {
        python: `import socket; s = socket.socket(1); s.settimeout(2); s.connect(${text(targets.socketPath)})`,
        node: `require("net").connect(${text(targets.socketPath)}).on("error", () => 0).end("x")`,
      });
    case 'abstract unix socket':
      return connect(undefined, {
        // Some versions of Node pad the name with NULs, and the one in the sandbox need not be ours.
        perl: `for my $n (0, 108) { my $p = "\\0" . ${text(targets.abstractName)}; $p .= "\\0" x ($n - length $p); socket(S, 1, 1, 0); connect(S, pack("S a*", 1, $p)); }`,
        python: `import socket\nfor n in (0, 108):\n  try: socket.socket(1).connect(("\\0" + ${text(targets.abstractName)}).ljust(n, "\\0"))\n  except OSError: pass`,
        node: `require("net").connect("\\0" + ${text(targets.abstractName)}).on("error", () => 0).end("x")`,
      });
    case 'environment of other processes':
      return 'cat /proc/[0-9]*/environ > "$OUT/environ" 2>/dev/null';
    case 'kills other processes':
      return `kill -9 ${String(targets.decoyPid)}`;
    case 'nested namespaces':
      return 'unshare -U true && : > "$OUT/nested"; unshare -m true && : > "$OUT/nested"';
    case 'runs as root':
      return 'id -u > "$OUT/uid"; awk \'/^CapEff/ { print $2 }\' /proc/self/status > "$OUT/capabilities"';
    case 'leaves a setuid file':
      return 'cp /bin/sh "$OUT/setuid"; chmod 6755 "$OUT/setuid"';
    case 'more memory than allowed':
      return `head -c ${String(4 * ATTEMPT_LIMITS.memoryBytes)} /dev/zero | tail -c ${String(4 * ATTEMPT_LIMITS.memoryBytes)} | wc -c > "$OUT/held"`;
    case 'more processes than allowed':
      // They stay until an executor that counts processes from time to time sees them, however slow the machine is.
      return `i=0; while [ $i -lt ${String(3 * ATTEMPT_LIMITS.processes)} ]; do sleep 30 & i=$((i + 1)); echo $i > "$OUT/born"; done; sleep 15`;
    case 'more disk than allowed':
      return 'i=0; while [ $i -lt 32 ]; do head -c 4194304 /dev/zero > "$OUT/large.$i"; i=$((i + 1)); sleep 0.05; done; sleep 1';
    case 'survives its time':
      return 'trap \'\' TERM HUP INT; (setsid sh -c \'while :; do echo x >> "$OUT/heartbeat"; sleep 0.05; done\' &) ; : > "$OUT/survives-its-time.tried"; sleep 60';
  }
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
