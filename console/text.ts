/** Text of strangers as text: invisible and direction-changing characters are escaped, in one line or in several. */
import { printable as line } from '#core';

export { line };

export function visible(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, line);
}

export function number(value: number): string {
  return value.toLocaleString('en');
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${String(Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${String(minutes)} min ${String(Math.round(seconds % 60))} s`
    : `${String(Math.floor(minutes / 60))} h ${String(minutes % 60)} min`;
}

export function bytes(count: number): string {
  if (count < 1_000) return `${String(count)} B`;
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}

/** Local date and time to the minute; an invalid date as it is. */
export function date(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return line(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${String(at.getFullYear())}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function short(digest: string): string {
  const [, hex = digest] = /:([0-9a-f]{12})/.exec(digest) ?? [];
  return hex;
}
