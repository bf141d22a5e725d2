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
      return order >= 0 && compare(found.slice(0, 1), wanted.slice(0, 1)) === 0;
    case '~=':
    case '~':
      return (
        order >= 0 &&
        compare(found.slice(0, keptParts(operator, wanted)), wanted.slice(0, keptParts(operator, wanted))) === 0
      );
    default:
      // `3.11`, `==3.11.*` and `18.x` mean all that start so.
      return compare(found.slice(0, wanted.length), wanted) === 0;
  }
}

/** `~=2.1` stays below 3, `~2.1` below 2.2. */
function keptParts(operator: '~' | '~=', wanted: readonly number[]): number {
  return operator === '~' ? Math.min(2, wanted.length) : Math.max(1, wanted.length - 1);
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
