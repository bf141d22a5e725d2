/** Whether a version fulfils a range such as `>=3.11,<4`, `^18`, `~=2.1` or `18.x`. A range that is not understood is fulfilled. */
export function isInRange(version: string, range: string): boolean {
  const found = numbers(version);
  if (found === undefined) return true;
  const choices = range.replaceAll(/([<>=!~^])\s+/g, '$1').split('||');
  return choices.some((choice) =>
    choice
      .trim()
      .split(/[\s,]+/)
      .every((part) => holds(found, part)),
  );
}

/** Whether every part of a range is understood, so that `isInRange` says yes only to what was meant. */
export function isRange(range: string): boolean {
  const parts = range
    .replaceAll(/([<>=!~^])\s+/g, '$1')
    .split('||')
    .flatMap((choice) => choice.trim().split(/[\s,]+/));
  return parts.every((part) => part === '*' || PART.test(part));
}

const PART = /^(>=|<=|>|<|===|==|!=|~=|=|\^|~)?\s*v?(\d[\w.*+-]*)$/;

function holds(found: readonly number[], part: string): boolean {
  const [, operator = '=', text = ''] = PART.exec(part) ?? [];
  const wanted = numbers(text);
  if (wanted === undefined) return true;
  const order = compare(found, wanted);
  switch (operator) {
    case '>=':
      return order >= 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '<':
      return order < 0;
    case '!=':
      return order !== 0;
    case '^':
    case '~=':
    case '~': {
      const kept = keptParts(operator, wanted);
      return order >= 0 && compare(found.slice(0, kept), wanted.slice(0, kept)) === 0;
    }
    default:
      // `3.11`, `==3.11.*` and `18.x` mean all that start so.
      return compare(found.slice(0, wanted.length), wanted) === 0;
  }
}

/** `~=2.1` stays below 3, `~2.1` below 2.2; `^2.1` below 3, and `^0.2.1` below 0.3: before 1 the next number counts. */
function keptParts(operator: '^' | '~' | '~=', wanted: readonly number[]): number {
  if (operator === '~') return Math.min(2, wanted.length);
  if (operator === '~=') return Math.max(1, wanted.length - 1);
  const first = wanted.findIndex((number) => number !== 0);
  return first === -1 ? wanted.length : first + 1;
}

/** The numbers that a version starts with. */
function numbers(text: string): readonly number[] | undefined {
  const start = /^v?(\d+(?:\.\d+)*)/.exec(text)?.[1];
  return start?.split('.').map(Number);
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
