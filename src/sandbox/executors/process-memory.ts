import { readProcFile } from '#platform';

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
