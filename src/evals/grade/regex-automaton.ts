/** The tree of an expression as an automaton. Counted repetitions are written out, so that the number of states is bounded. */
import { RegexProblem } from './regex-syntax.ts';
import type { AssertKind, RegexNode, RegexOptions } from './regex-syntax.ts';

export type RegexState =
  | { readonly type: 'end' }
  | { readonly type: 'split'; readonly next: number[] }
  | { readonly type: 'assert'; readonly holds: (text: string, at: number) => boolean; readonly next: number }
  | { readonly type: 'character'; readonly matches: (character: string) => boolean; readonly next: number };

export interface RegexProgram {
  readonly states: readonly RegexState[];
  readonly start: number;
}

const MOST_STATES = 20_000;
/** Repetitions of nothing make no states and take time all the same. */
const MOST_STEPS = 100_000;

/** From the end to the start: each state knows the one that follows it. */
export function assembleRegex(tree: RegexNode, options: RegexOptions): RegexProgram {
  const states: RegexState[] = [{ type: 'end' }];
  const matchers = new Map<string, (character: string) => boolean>();
  const add = (state: RegexState): number => {
    if (states.length >= MOST_STATES) throw new RegexProblem('written out it is too large');
    return states.push(state) - 1;
  };
  const matcherOf = (source: string): ((character: string) => boolean) => {
    const known = matchers.get(source) ?? characterMatcher(source, options);
    matchers.set(source, known);
    return known;
  };

  let steps = 0;
  const assemble = (node: RegexNode, next: number): number => {
    steps += 1;
    if (steps > MOST_STEPS) throw new RegexProblem('written out it is too large');
    switch (node.type) {
      case 'character':
        return add({ type: 'character', matches: matcherOf(node.source), next });
      case 'assert':
        return add({ type: 'assert', holds: assertion(node.kind, options), next });
      case 'sequence':
        return node.parts.reduceRight((following, part) => assemble(part, following), next);
      case 'choice':
        return add({ type: 'split', next: node.options.map((option) => assemble(option, next)) });
      case 'repeat':
        return assembleRepeat(node, next);
    }
  };

  const assembleRepeat = (
    { part, least, most }: Extract<RegexNode, { readonly type: 'repeat' }>,
    next: number,
  ): number => {
    let following = next;
    if (most === Number.POSITIVE_INFINITY) {
      const again: number[] = [next];
      following = add({ type: 'split', next: again });
      again.push(assemble(part, following));
    } else
      for (let count = least; count < most; count += 1)
        following = add({ type: 'split', next: [next, assemble(part, following)] });
    for (let count = 0; count < least; count += 1) following = assemble(part, following);
    return following;
  };

  const start = assemble(tree, 0);
  return { states, start };
}

/** One character alone: nothing in such an expression can take long. */
function characterMatcher(source: string, { ignoreCase }: RegexOptions): (character: string) => boolean {
  const known = new Map<string, boolean>();
  const expression = compiled(`^(?:${source})$`, `us${ignoreCase ? 'i' : ''}`, source);
  const dot = source === '.' ? /^[^\n\r\u2028\u2029]$/u : expression;
  return (character) => {
    const isMatch = known.get(character) ?? dot.test(character);
    if (known.size < 256) known.set(character, isMatch);
    return isMatch;
  };
}

function compiled(text: string, flags: string, source: string): RegExp {
  try {
    return new RegExp(text, flags);
  } catch (error) {
    if (error instanceof SyntaxError) throw new RegexProblem(`${source} is no valid class or escape`);
    throw error;
  }
}

function assertion(kind: AssertKind, options: RegexOptions): (text: string, at: number) => boolean {
  const { multiline } = options;
  switch (kind) {
    case 'start':
      return (text, at) => at === 0 || (multiline && isLineEnd(text, at - 1));
    case 'end':
      return (text, at) => at === text.length || (multiline && isLineEnd(text, at));
    case 'boundary':
      return (text, at) => isWord(text, at - 1, options) !== isWord(text, at, options);
    case 'inside':
      return (text, at) => isWord(text, at - 1, options) === isWord(text, at, options);
  }
}

function isLineEnd(text: string, at: number): boolean {
  return /[\n\r\u2028\u2029]/.test(text.charAt(at));
}

/** With `i` two letters beyond ASCII fold into it, and count as word characters. */
function isWord(text: string, at: number, { ignoreCase }: RegexOptions): boolean {
  return (ignoreCase ? /\w/iu : /\w/).test(text.charAt(at));
}
