import { readlinkSync } from 'node:fs';

import { namesIn, quietly } from '#platform';
import { readProcFile, tryRead } from '../process/proc.ts';

/**
 * Memory in socket buffers, which belongs to no process. It is needed where no control group counts it. A socket counts with the most that
 * its buffer can hold, because the kernel does not report what a local socket holds.
 */

/** Most of a TCP connection's two buffers, which the kernel enlarges by itself. */
const TCP_BYTES = 10 * 1024 * 1024;
const DEFAULT_BUFFER = 212_992;

/** The default size of a buffer; the seccomp filter does not let programs change it. */
function bufferBytes(): number {
  return Number(tryRead('/proc/sys/net/core/wmem_default') ?? DEFAULT_BUFFER);
}

/** Of all sockets in the network namespace of a process. Reads the queues of connections only if `room` could be exceeded. */
export function namespaceSockets(pid: number, room: number): number {
  const count = (file: string, row: RegExp): number => Number(row.exec(readProcFile(pid, file) ?? '')?.[1] ?? 0);
  const all = count('net/sockstat', /^sockets: used (\d+)/m) * bufferBytes();
  const connections = count('net/sockstat', /^TCP: inuse (\d+)/m) + count('net/sockstat6', /^TCP6: inuse (\d+)/m);
  const most = all + connections * TCP_BYTES;
  if (connections === 0 || most <= room) return most;
  // Bytes in a queue take up to twice as much memory.
  return all + 2 * (queuedBytes(pid, 'net/tcp') + queuedBytes(pid, 'net/tcp6'));
}

/** The fifth column is `transmit:receive`, in hexadecimal. */
function queuedBytes(pid: number, file: string): number {
  let bytes = 0;
  for (const [, sent = '', received = ''] of (readProcFile(pid, file) ?? '').matchAll(/ ([0-9A-F]{8}):([0-9A-F]{8}) /g))
    bytes += Number.parseInt(sent, 16) + Number.parseInt(received, 16);
  return bytes;
}

/** Of the sockets that these processes have open, for programs that share the network namespace of this machine. */
export function openSockets(pids: readonly number[], room: number): number {
  const buffer = bufferBytes();
  const descriptors = pids.flatMap((pid) => {
    const folder = `/proc/${String(pid)}/fd`;
    return namesIn(folder).map((name) => `${folder}/${name}`);
  });
  if (descriptors.length * buffer <= room) return 0;
  const targets = descriptors.map((file) => quietly(() => readlinkSync(file), ''));
  return new Set(targets.filter((target) => target.startsWith('socket:'))).size * buffer;
}

/**
 * The memory of these processes together, in bytes. Pages shared since a fork are counted for each process first; only if that sum
 * exceeds the limit, the exact share (PSS) is read, which costs more.
 */
export function measureMemory(pids: readonly number[], limit: number): number {
  const tables = total(pids, 'status', TABLES);
  const sum = tables + total(pids, 'status', OWN_PAGES);
  return sum <= limit ? sum : tables + total(pids, 'smaps_rollup', SHARES);
}

/** Without file pages, which the system reclaims when needed. */
const OWN_PAGES = /^Rss(?:Anon|Shmem):\s+(\d+) kB/gm;
const SHARES = /^Pss_(?:Anon|Shmem):\s+(\d+) kB/gm;
/** A program that reads one byte of every second mebibyte of a large mapping has page tables and no pages. */
const TABLES = /^(?:VmPTE|HugetlbPages):\s+(\d+) kB/gm;

function total(pids: readonly number[], file: string, pattern: RegExp): number {
  let kibibytes = 0;
  for (const pid of pids)
    for (const [, count] of (readProcFile(pid, file) ?? '').matchAll(pattern)) kibibytes += Number(count);
  return kibibytes * 1024;
}
