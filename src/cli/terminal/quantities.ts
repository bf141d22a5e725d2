import { quoted } from '#core';
import { usageError } from '../exit.ts';

const HOUR_MS = 3_600_000;
const TIMES: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS };
const SIZES: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** Parses the value of a flag that takes a duration: `90m`, `12h`, `30d`, `8w`. */
export function milliseconds(value: string | undefined, flag: string): number | undefined {
  return quantity(value, flag, {
    pattern: /^(\d{1,6})([mhdw])$/,
    units: TIMES,
    expected: 'a duration such as 12h, 30d or 8w',
  });
}

/** Parses the value of a flag that takes a number of bytes: `500M`, `1G`. */
export function byteCount(value: string | undefined, flag: string): number | undefined {
  return quantity(value, flag, {
    pattern: /^(\d{1,12})([KMGT]?)B?$/i,
    units: SIZES,
    expected: 'a size such as 500M or 1G',
  });
}

interface Quantity {
  readonly pattern: RegExp;
  readonly units: Readonly<Record<string, number>>;
  readonly expected: string;
}

function quantity(value: string | undefined, flag: string, { pattern, units, expected }: Quantity): number | undefined {
  if (value === undefined) return undefined;
  const [, number, unit = ''] = pattern.exec(value) ?? [];
  const factor = units[unit] ?? units[unit.toUpperCase()];
  if (number === undefined || factor === undefined)
    throw usageError(`${flag} must be ${expected}`, `got ${quoted(value, 200)}`);
  return Number(number) * factor;
}

/** `812 bytes`, `4.2 kB`, `1.5 MB` */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${String(bytes)} bytes`;
  const [value, unit] = bytes < 1_000_000 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${unit}`;
}
