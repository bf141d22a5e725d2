import { isSystemError } from '#platform';
import { readProcFile, readProcess, readProcesses, type ProcessRow } from './proc.ts';

/** The environment variable that marks every process of a run; descendants inherit it whatever their session and parent are. */
export const RUN_MARK = 'SKILLWRIGHT_RUN';

/** The processes of the machine; concurrent callers share one scan. */
export class ProcessTable {
  #rows: readonly ProcessRow[] = [];
  #seen = -Infinity;
  readonly #marks = new WeakMap<ProcessRow, string>();

  /** The processes at this time (`performance.now()`) or later. */
  since(time: number): readonly ProcessRow[] {
    if (this.#seen >= time) return this.#rows;
    this.#seen = performance.now();
    this.#rows = readProcesses();
    return this.#rows;
  }

  /** The value of `RUN_MARK` in the environment of a process, or empty. Read on demand, once for all callers. */
  markOf(row: ProcessRow): string {
    const known = this.#marks.get(row) ?? readMark(row.pid);
    this.#marks.set(row, known);
    return known;
  }
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
export class ProcessTree {
  readonly #root: number;
  readonly #mark: string;
  readonly #table: ProcessTable;
  readonly #started: number | undefined;
  /** Start times by pid, to recognize a reused pid. */
  readonly #known = new Map<number, number>();
  readonly #killed = new Map<number, number>();
  #hunted = 0;

  constructor(root: number, mark: string, table: ProcessTable) {
    this.#root = root;
    this.#mark = mark;
    this.#table = table;
    this.#started = readProcess(root)?.started;
  }

  /** The running members among these rows. `thorough` also checks the mark, which costs a read for each younger process. */
  members(
    rows: readonly ProcessRow[],
    { thorough = false }: { readonly thorough?: boolean } = {},
  ): readonly ProcessRow[] {
    // Without a start time the child exited before it was read; its mark is still valid.
    const youngest = this.#started ?? 0;
    const candidates = rows.filter((row) => row.started >= youngest && row.pid !== process.pid);
    const members = new Map<number, ProcessRow>();
    const add = (row: ProcessRow): void => {
      members.set(row.pid, row);
      this.#known.set(row.pid, row.started);
    };
    for (const row of candidates) {
      const isRoot = row.pid === this.#root && row.started === this.#started;
      const isKnown = this.#known.get(row.pid) === row.started;
      const isNear = row.group === this.#root || row.session === this.#root;
      if (isRoot || isKnown || isNear || (thorough && this.#table.markOf(row) === this.#mark)) add(row);
    }
    // Repeats until nothing is added, because children may be listed before their parents.
    for (let before = -1; before !== members.size;) {
      before = members.size;
      for (const row of candidates) if (!members.has(row.pid) && members.has(row.parent)) add(row);
    }
    return [...members.values()].filter((row) => !row.isZombie);
  }

  /** Number of processes that were killed one by one: they had left the group, or outlived the child. */
  hunted(): number {
    return this.#hunted;
  }

  killGroup(): void {
    send(-this.#root, 'SIGKILL');
  }

  /** Kills all other members and then the group, which is stopped meanwhile: the children of a process that is gone are hard to find. */
  kill(): void {
    if (process.platform === 'linux') {
      send(-this.#root, 'SIGSTOP');
      this.#hunt(performance.now(), (row) => row.group !== this.#root);
    }
    this.killGroup();
  }

  /** Kills what is left after the child itself ended at this time; true if members still exist. */
  killSurvivors(ended: number): boolean {
    if (process.platform === 'linux') return this.#hunt(ended, () => true);
    this.killGroup();
    return false;
  }

  /** Repeats until no new process is found: a member may fork between the scan and the signal. */
  #hunt(from: number, counts: (row: ProcessRow) => boolean): boolean {
    let time = from;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const members = this.members(this.#table.since(time), { thorough: true });
      const living = members.filter((row) => row.pid !== this.#root && this.#killed.get(row.pid) !== row.started);
      if (living.length === 0) return members.length > 0;
      // All are stopped before the first is killed, so that none can fork.
      for (const { pid } of living) send(pid, 'SIGSTOP');
      for (const row of living) {
        if (counts(row)) this.#hunted += 1;
        this.#killed.set(row.pid, row.started);
        send(row.pid, 'SIGKILL');
      }
      time = performance.now();
    }
    return true;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Already gone, or the pid belongs to another user by now.
    if (!isSystemError(error) || (error.code !== 'ESRCH' && error.code !== 'EPERM')) throw error;
  }
}
