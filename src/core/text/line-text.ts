import { sliceStart } from './code-point.ts';
import { printable } from './text.ts';

/** A word that needs no quotes. */
const PLAIN_WORD = /^[A-Za-z0-9_@./+*=~-](?:[A-Za-z0-9_@./+*=~:-]*[A-Za-z0-9_@./+*=~-])?$/;

/** Untrusted text inside a sentence: bare if it is a plain word, otherwise quoted and escaped. */
export function shownText(text: string, limit = 80): string {
  const start = sliceStart(text, limit);
  if (start === text && PLAIN_WORD.test(text)) return text;
  const quoted = printable(start.replaceAll(/["\\]/g, '\\$&'));
  return `"${quoted}${start === text ? '' : '…'}"`;
}

/** References to workspace files are for models: a person cannot open `workspace://out/x`. Has the same length, so lines stay wrapped. */
export function forPeople(text: string): string {
  return text.replaceAll('workspace://', '[workspace] ');
}

export function durationText(ms: number): string {
  if (ms < 1000) return `${String(Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${String(Math.floor(seconds / 60))} min ${String(seconds % 60)} s`;
}

/** `1 file`, `2 files`. */
export function countText(
  count: number,
  one: string,
  many = `${one}s`,
  format: (count: number) => string = String,
): string {
  return `${format(count)} ${count === 1 ? one : many}`;
}
