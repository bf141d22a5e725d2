/** What a canary needs to know to try something, and what the host looks at afterwards. */
export interface CanaryPlace {
  /** Beside the workspace, open to everybody. */
  readonly outside: string;
  /** Files with a secret of ours: beside the workspace and in the home folder. */
  readonly decoys: readonly string[];
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly socketPath: string;
  /** Without the leading NUL. */
  readonly abstractName: string;
  /** A process of ours outside, of the same user, with the secret in its environment. */
  readonly victim: number;
}

/** Each is a program for `/bin/sh` that tries something, whatever else is there to help, and leaves `$OUT/<name>.tried` at its end. */
export const CANARY_NAMES = [
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
export type CanaryName = (typeof CANARY_NAMES)[number];

/** Limits the last ones try to pass. */
export const CANARY_LIMITS = { memoryBytes: 96 * 1024 * 1024, processes: 24, diskBytes: 16 * 1024 * 1024 } as const;

export function canaryScript(name: CanaryName, place: CanaryPlace): string {
  const tried = `: > "$OUT/${fileName(name)}.tried"`;
  return `set +e\n${attempt(name, place)}\n${tried}\n`;
}

/** The name of a canary in names of files. */
export function fileName(name: CanaryName): string {
  return name.replaceAll(' ', '-');
}

function attempt(name: CanaryName, place: CanaryPlace): string {
  switch (name) {
    case 'writes outside':
      return `echo x > ${word(`${place.outside}/written`)}; touch /usr/skillwright-canary /etc/skillwright-canary`;
    case 'reads secrets':
      return place.decoys.map((file, at) => `cat ${word(file)} > "$OUT/secret.${String(at)}"`).join('\n');
    case 'tcp to this machine':
      return reach(`tcp/127.0.0.1/${String(place.tcpPort)}`, {
        python: `import socket; socket.create_connection(("127.0.0.1", ${String(place.tcpPort)}), 2).send(b"x")`,
        node: `require("net").connect(${String(place.tcpPort)}, "127.0.0.1").on("error", () => 0).end("x")`,
      });
    case 'udp to this machine':
      return reach(`udp/127.0.0.1/${String(place.udpPort)}`, {
        python: `import socket; socket.socket(2, 2).sendto(b"x", ("127.0.0.1", ${String(place.udpPort)}))`,
        node: `const s = require("dgram").createSocket("udp4"); s.send("x", ${String(place.udpPort)}, "127.0.0.1", () => s.close())`,
      });
    case 'unix socket by path':
      return reach(undefined, {
        python: `import socket; s = socket.socket(1); s.settimeout(2); s.connect(${text(place.socketPath)})`,
        node: `require("net").connect(${text(place.socketPath)}).on("error", () => 0).end("x")`,
      });
    case 'abstract unix socket':
      return reach(undefined, {
        // Node fills the name up with NULs in some versions and not in others.
        python: `import socket\nfor n in (0, 108):\n  try: socket.socket(1).connect(("\\0" + ${text(place.abstractName)}).ljust(n, "\\0"))\n  except OSError: pass`,
        node: `require("net").connect("\\0" + ${text(place.abstractName)}).on("error", () => 0).end("x")`,
      });
    case 'environment of other processes':
      return 'cat /proc/[0-9]*/environ > "$OUT/environ" 2>/dev/null';
    case 'kills other processes':
      return `kill -9 ${String(place.victim)}`;
    case 'nested namespaces':
      return 'unshare -U true && : > "$OUT/nested"; unshare -m true && : > "$OUT/nested"';
    case 'runs as root':
      return 'id -u > "$OUT/uid"; awk \'/^CapEff/ { print $2 }\' /proc/self/status > "$OUT/capabilities"';
    case 'leaves a setuid file':
      return 'cp /bin/sh "$OUT/setuid"; chmod 6755 "$OUT/setuid"';
    case 'more memory than allowed':
      return `head -c ${String(4 * CANARY_LIMITS.memoryBytes)} /dev/zero | tail -c ${String(4 * CANARY_LIMITS.memoryBytes)} | wc -c > "$OUT/held"`;
    case 'more processes than allowed':
      return `i=0; while [ $i -lt ${String(3 * CANARY_LIMITS.processes)} ]; do sleep 2 & i=$((i + 1)); echo $i > "$OUT/born"; done; sleep 1`;
    case 'more disk than allowed':
      return 'i=0; while [ $i -lt 32 ]; do head -c 4194304 /dev/zero > "$OUT/large.$i"; i=$((i + 1)); sleep 0.05; done; sleep 1';
    case 'survives its time':
      return 'trap \'\' TERM HUP INT; (setsid sh -c \'while :; do echo x >> "$OUT/heartbeat"; sleep 0.05; done\' &) ; : > "$OUT/survives-its-time.tried"; sleep 60';
  }
}

interface Helpers {
  readonly python: string;
  readonly node: string;
}

/** By whatever is there; where nothing is, the attempt is not marked as made. */
function reach(device: string | undefined, { python, node }: Helpers): string {
  const ways = [
    ...(device === undefined ? [] : [`bash -c ${word(`echo x > /dev/${device}`)}`]),
    `python3 -c ${word(python)}`,
    `node -e ${word(node)}`,
  ];
  const tools = [...(device === undefined ? [] : ['bash']), 'python3', 'node'];
  return [
    `has=; for tool in ${tools.join(' ')}; do command -v $tool > /dev/null && has=1; done`,
    '[ -n "$has" ] || exit 0',
    ...ways.map((way) => `${way} 2> /dev/null`),
  ].join('\n');
}

function word(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

function text(value: string): string {
  return JSON.stringify(value);
}
