/** Steps over the data: each compares one character of a secret in the forms that it may have. */
import { NOTHING, UNDECIDED, type Pattern } from './redact-scan.ts';

/** Results of a step, instead of the position behind it. */
export const NO = -1;
/** The data ends inside of what may match. */
export const END = -2;

export type Step = (data: Uint8Array, at: number) => number;

export const BACKSLASH = 0x5c;

/** The steps are made when a start is first found. */
export function toPatterns(
  starts: Iterable<string>,
  makeSteps: () => readonly Step[],
  mark: Uint8Array,
): readonly Pattern[] {
  let steps: readonly Step[] | undefined;
  const measure: Pattern['measure'] = (data, at, { isLast }) => {
    let position = at;
    for (const step of (steps ??= makeSteps())) {
      position = step(data, position);
      if (position < 0) return position === END && !isLast ? UNDECIDED : NOTHING;
    }
    return position - at;
  };
  return [...new Set(starts)].map((start) => ({ start: Buffer.from(start, 'latin1'), mark, measure }));
}

/** Steps depend on few characters, and a secret may have many. */
export const MAX_KNOWN = 2_000;
const known = new Map<string, Step>();

export function knownStep(key: string, make: () => Step): Step {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= MAX_KNOWN) known.clear();
  const step = make();
  known.set(key, step);
  return step;
}

function isHexText(form: string): boolean {
  return /^(?:%|u|U|x|&#x|&amp;#x)/.test(form);
}

/** Compares a form; its hexadecimal digits in either case, and each backslash inside as one or more. */
export function formStep(form: string): Step {
  const codes = Array.from(form, (each) => each.charCodeAt(0));
  const folds = isHexText(form);
  return (data, at) => {
    let position = at;
    for (const code of codes) {
      if (position >= data.length) return END;
      const byte = data[position] ?? 0;
      if (byte !== code && !(folds && code >= 0x61 && code <= 0x66 && byte === code - 0x20)) return NO;
      position += 1;
      if (code === BACKSLASH) while (data[position] === BACKSLASH) position += 1;
    }
    return position;
  };
}

/** The first form that matches; the end of the data counts only if no other does. */
export function anyStep(steps: readonly Step[]): Step {
  return (data, at) => {
    let result = NO;
    for (const step of steps) {
      const found = step(data, at);
      if (found >= 0) return found;
      if (found === END) result = END;
    }
    return result;
  };
}

/** How a unit can begin. `isOpen`: what follows is not known. */
export interface Head {
  readonly text: string;
  readonly isOpen: boolean;
}

export function toHead(text: string): Head {
  return { text, isOpen: false };
}

export function bothCases(form: string): readonly string[] {
  if (form.length === 1 || !isHexText(form)) return [form];
  const upper = form.replaceAll(/[a-f](?=[0-9a-f]*(?:[%\\;}]|$))/g, (digit) => digit.toUpperCase());
  // Mixed cases within the first digits.
  return [...new Set([form, upper, form.slice(0, 2) + upper.slice(2), upper.slice(0, 2) + form.slice(2)])];
}

/** The possible first three bytes of texts that consist of these units. */
export function firstBytes(units: readonly (readonly Head[])[], before = ''): readonly string[] {
  const [heads, ...others] = units;
  if (heads === undefined) return [];
  return heads.flatMap(({ text, isOpen }) => {
    const start = before + text;
    if (start.length >= 3) return [start.slice(0, 3)];
    return isOpen ? [] : firstBytes(others, start);
  });
}
