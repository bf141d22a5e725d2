import { isSystemError } from '#platform';
import { readProcFile, readProcess, readProcesses, type ProcessRow } from './proc.ts';

/** The environment variable that marks every process of a run; descendants inherit it whatever their session and parent are. */
export const RUN_MARK = 'SKILLWRIGHT_RUN';

/** The processes of the machine; concurrent callers share one scan. */
export interface ProcessTable {
  /** The processes at this time (`performance.now()`) or later. */
  since(time: number): readonly ProcessRow[];
  /** The value of `RUN_MARK` in the environment of a process, or empty. Read on demand, once for all callers. */
  markOf(row: ProcessRow): string;
}

export function processTable(): ProcessTable {
  let rows: readonly ProcessRow[] = [];
  let seen = -Infinity;
  const marks = new WeakMap<ProcessRow, string>();
  return {
    since(time) {
      if (seen >= time) return rows;
      seen = performance.now();
      rows = readProcesses();
      return rows;
    },
    markOf(row) {
      const known = marks.get(row) ?? readMark(row.pid);
      marks.set(row, known);
      return known;
    },
  };
}

function readMark(pid: number): string {
  const environ = readProcFile(pid, 'environ') ?? '';
  const start = environ.startsWith(`${RUN_MARK}=`) ? 0 : environ.indexOf(`\0${RUN_MARK}=`) + 1;
  if (start === 0 && !environ.startsWith(`${RUN_MARK}=`)) return '';
  return environ.slice(start + RUN_MARK.length + 1, environ.indexOf('\0', start));
}

const MAX_ROUNDS = 50;

/**
 * The descendants of one child, including those that left its group, its session and their parents. Remembers every process that it has
 * seen. Linux only; elsewhere it has no members and `kill` reaches the process group alone.
 */
export interface ProcessTree {
  /** The running members among these rows. `thorough` also checks the mark, which costs a read for each younger process. */
  members(rows: readonly ProcessRow[], options?: { readonly thorough?: boolean }): readonly ProcessRow[];
  /** Number of processes that were killed one by one: they had left the group, or outlived the child. */
  hunted(): number;
  killGroup(): void;
  /** Tells the child alone to end what it started. */
  terminate(): void;
  /** Kills all other members and then the group, which is stopped meanwhile: the children of a process that is gone are hard to find. */
  kill(): void;
  /** Kills what is left after the child itself ended at this time; true if members still exist. */
  killSurvivors(ended: number): boolean;
}

export function followTree(root: number, mark: string, table: ProcessTable): ProcessTree {
  const isLinux = process.platform === 'linux';
  const started = readProcess(root)?.started;
  /** Start times by pid, to recognize a reused pid. */
  const known = new Map<number, number>();
  const killed = new Map<number, number>();
  let hunted = 0;

  const members: ProcessTree['members'] = (rows, { thorough = false } = {}) => {
    // Without a start time the child exited before it was read; its mark is still valid.
    const youngest = started ?? 0;
    const candidates = rows.filter((row) => row.started >= youngest && row.pid !== process.pid);
    const found = new Map<number, ProcessRow>();
    const add = (row: ProcessRow): void => {
      found.set(row.pid, row);
      known.set(row.pid, row.started);
    };
    for (const row of candidates) {
      const isRoot = row.pid === root && row.started === started;
      const isKnown = known.get(row.pid) === row.started;
      const isNear = row.group === root || row.session === root;
      if (isRoot || isKnown || isNear || (thorough && table.markOf(row) === mark)) add(row);
    }
    // Repeats until nothing is added, because children may be listed before their parents.
    for (let before = -1; before !== found.size;) {
      before = found.size;
      for (const row of candidates) if (!found.has(row.pid) && found.has(row.parent)) add(row);
    }
    return [...found.values()].filter((row) => !row.isZombie);
  };
  /** Repeats until no new process is found: a member may fork between the scan and the signal. */
  const hunt = (from: number, counts: (row: ProcessRow) => boolean): boolean => {
    let time = from;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const all = members(table.since(time), { thorough: true });
      const living = all.filter((row) => row.pid !== root && killed.get(row.pid) !== row.started);
      if (living.length === 0) return all.length > 0;
      // All are stopped before the first is killed, so that none can fork.
      for (const { pid } of living) send(pid, 'SIGSTOP');
      for (const row of living) {
        if (counts(row)) hunted += 1;
        killed.set(row.pid, row.started);
        send(row.pid, 'SIGKILL');
      }
      time = performance.now();
    }
    return true;
  };
  const killGroup = (): void => send(-root, 'SIGKILL');
  return {
    members,
    hunted: () => hunted,
    killGroup,
    terminate() {
      send(root, 'SIGTERM');
      send(root, 'SIGCONT');
    },
    kill() {
      if (isLinux) {
        send(-root, 'SIGSTOP');
        hunt(performance.now(), (row) => row.group !== root);
      }
      killGroup();
    },
    killSurvivors(ended) {
      if (isLinux) return hunt(ended, () => true);
      killGroup();
      return false;
    },
  };
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Already gone, or the pid belongs to another user by now.
    if (!isSystemError(error) || (error.code !== 'ESRCH' && error.code !== 'EPERM')) throw error;
  }
}
