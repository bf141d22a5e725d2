import { closeSync, openSync, readFileSync, readSync, readdirSync } from 'node:fs';

import { isSystemError } from '../fs/paths.ts';

/** One process as the kernel shows it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** In ticks since the start of the machine; with the number it names one process for ever. */
  readonly started: number;
  /** Dead, and only waiting for its parent to notice. */
  readonly isZombie: boolean;
  /** Of the run that it belongs to; empty where it has none. Read when asked for. */
  readonly mark: () => string;
}

/** The variable that marks every process of a run, and that children inherit whatever they do with sessions and parents. */
export const RUN_MARK = 'SKILLWRIGHT_RUN';

/** More than the kernel ever writes there: some fifty numbers and a short name. */
const STAT_BYTES = 2048;

/** Every process of this machine; none where there is no /proc. */
function readProcesses(): readonly ProcessRow[] {
  const rows: ProcessRow[] = [];
  const buffer = Buffer.allocUnsafe(STAT_BYTES);
  for (const name of whileThere('/proc', (folder) => readdirSync(folder)) ?? []) {
    if (!/^\d+$/.test(name)) continue;
    const row = readProcess(Number(name), buffer);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

function readProcess(pid: number, buffer: Buffer): ProcessRow | undefined {
  const stat = whileThere(`/proc/${String(pid)}/stat`, (file) => readShort(file, buffer));
  if (stat === undefined) return undefined;
  // The name stands in parentheses and may hold anything, parentheses and spaces included.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  let mark: string | undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    started: Number(fields[19]),
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
    mark: () => (mark ??= readMark(pid)),
  };
}

/** Into a buffer that is used again: reading a file of unknown length in the usual way takes 64 KiB each time. */
function readShort(file: string, buffer: Buffer): string {
  const descriptor = openSync(file, 'r');
  try {
    return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

function readMark(pid: number): string {
  const environ = whileThere(`/proc/${String(pid)}/environ`, (file) => readFileSync(file, 'latin1')) ?? '';
  const start = environ.startsWith(`${RUN_MARK}=`) ? 0 : environ.indexOf(`\0${RUN_MARK}=`) + 1;
  if (start === 0 && !environ.startsWith(`${RUN_MARK}=`)) return '';
  return environ.slice(start + RUN_MARK.length + 1, environ.indexOf('\0', start));
}

/** The processes of the machine, looked at once for everybody who asks at about the same time. */
export class ProcessTable {
  #rows: readonly ProcessRow[] = [];
  #seen = -Infinity;

  /** As they were at this time (of `performance.now()`) or later. */
  since(time: number): readonly ProcessRow[] {
    if (this.#seen >= time) return this.#rows;
    this.#seen = performance.now();
    this.#rows = readProcesses();
    return this.#rows;
  }
}

const HUNTS = 50;

/**
 * The processes that came from one child, also those that left its group, its session and their parents. Knows again whatever it has
 * seen once. Linux; elsewhere it has no members and `kill` reaches the group alone.
 */
export class ProcessTree {
  readonly #root: number;
  readonly #mark: string;
  readonly #table: ProcessTable;
  readonly #started: number | undefined;
  /** By number; the start tells a member from a stranger who got the number later. */
  readonly #known = new Map<number, number>();
  readonly #killed = new Map<number, number>();
  #hunted = 0;

  constructor(root: number, mark: string, table: ProcessTable) {
    this.#root = root;
    this.#mark = mark;
    this.#table = table;
    this.#started = readProcess(root, Buffer.allocUnsafe(STAT_BYTES))?.started;
  }

  /** The living members among these rows. `thorough` also looks for the mark, which costs a read for each younger process. */
  members(
    rows: readonly ProcessRow[],
    { thorough = false }: { readonly thorough?: boolean } = {},
  ): readonly ProcessRow[] {
    // Without its start a child was gone before it could be looked at; its mark is still good.
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
      if (isRoot || isKnown || isNear || (thorough && row.mark() === this.#mark)) add(row);
    }
    // Children may have lower numbers than their parents: until a round adds nobody.
    for (let before = -1; before !== members.size;) {
      before = members.size;
      for (const row of candidates) if (!members.has(row.pid) && members.has(row.parent)) add(row);
    }
    return [...members.values()].filter((row) => !row.isZombie);
  }

  /** How many processes had to be ended one by one: they had left the group, or outlived the child. */
  hunted(): number {
    return this.#hunted;
  }

  killGroup(): void {
    send(-this.#root, 'SIGKILL');
  }

  /** Ends the group and then whatever else belongs to it. */
  kill(): void {
    this.killGroup();
    if (process.platform === 'linux') this.#hunt(performance.now(), (row) => row.group !== this.#root);
  }

  /** After the end of the child itself, at this time: ends whatever it left behind, and says whether anything is still there. */
  killSurvivors(ended: number): boolean {
    if (process.platform === 'linux') return this.#hunt(ended, () => true);
    this.killGroup();
    return false;
  }

  /** Looks again until nobody new is found: a process may be born between the look and the blow. */
  #hunt(from: number, counts: (row: ProcessRow) => boolean): boolean {
    let time = from;
    for (let round = 0; round < HUNTS; round += 1) {
      const members = this.members(this.#table.since(time), { thorough: true });
      const living = members.filter((row) => this.#killed.get(row.pid) !== row.started);
      if (living.length === 0) return members.length > 0;
      // All are stopped before the first is ended: none is left to make another.
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
    // Gone already, or of another user since: there is nothing that we could do to it.
    if (!isSystemError(error) || (error.code !== 'ESRCH' && error.code !== 'EPERM')) throw error;
  }
}

/** What /proc says; nothing where the process is gone or another user's. */
function whileThere<T>(file: string, read: (file: string) => T): T | undefined {
  try {
    return read(file);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
