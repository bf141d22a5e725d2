import type { RuleOrigin } from '../src/core/access.ts';
import { hostSubject, lineSubject } from '../src/policy/action-access.ts';
import { readCommandLine } from '../src/policy/command/command-line.ts';
import { builtInRules } from '../src/policy/protected-names.ts';
import { BY_RISK, decide, type Policy } from '../src/policy/policy.ts';
import { isRule, readRule, type PolicyRule } from '../src/policy/policy-rule.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';
import type { Access } from '../src/policy/access.ts';

const RULES = 100;
const BOUND_MICROSECONDS = 20;
const ROUNDS = 9;
const DECISIONS = 2_000;

/** What one decision costs under a hundred rules of one's own, on top of those that are built in. The line is read each time. */
export function benchPolicy(): readonly BenchRow[] {
  const policy = manyRules();
  const cases: Readonly<Record<string, () => readonly Access[]>> = {
    'a line of three commands': () => [
      { tool: 'run_command', subject: lineSubject(readCommandLine('git status && git diff | head')) },
    ],
    'a file to be written': () => [
      {
        tool: 'write_file',
        subject: {
          kind: 'path',
          path: 'src/policy/policy.ts',
          absolute: '/home/ann/project/src/policy/policy.ts',
        },
      },
    ],
    'a host': () => [{ tool: 'network_request', subject: hostSubject('https://h98.example.org/a', 'GET') }],
  };
  const rows = Object.entries(cases).map(([name, accesses]) => {
    const value = microseconds(() => decide(policy, accesses()));
    return {
      name: `decision on ${name}, ${String(RULES)} rules`,
      value,
      unit: 'µs',
      bound: `< ${String(BOUND_MICROSECONDS)}`,
      ok: value < BOUND_MICROSECONDS,
    };
  });
  return [...rows, ...LONG.map(growth)];
}

/** Pieces of long lines for which a parser needed seconds. */
const LONG = ['a ', '$[', 'f() ', '<<E ', '{', 'a[1]=2 ', 'find . -exec a \\; '];
const BOUND_GROWTH = 4;

/** How much longer a line takes to read if it is twice as long. */
function growth(piece: string): BenchRow {
  const time = (length: number): number => {
    const text = `ls ${piece.repeat(length / piece.length)}`;
    const rounds = Array.from({ length: ROUNDS }, () => {
      const start = performance.now();
      readCommandLine(text);
      return performance.now() - start;
    });
    return median(rounds);
  };
  time(60_000);
  // A millisecond more, since most are refused at once.
  const value = (time(120_000) + 1) / (time(60_000) + 1);
  const bound = `< ${String(BOUND_GROWTH)}`;
  return {
    name: `a line twice as long, of ${JSON.stringify(piece)}`,
    value,
    unit: 'times',
    bound,
    ok: value < BOUND_GROWTH,
  };
}

function manyRules(): Policy {
  const origin: RuleOrigin = { layer: 'user', where: '' };
  const texts = Array.from({ length: RULES }, (_, place) => {
    if (place % 3 === 0) return `Bash(tool${String(place)} build:*)`;
    return place % 3 === 1 ? `Write(folder${String(place)}/**)` : `WebFetch(domain:h${String(place)}.example.org)`;
  });
  const own: readonly PolicyRule[] = texts.map((text) => readRule(text, { effect: 'allow', origin })).filter(isRule);
  const rules = [...builtInRules(), ...own];
  return { layers: [{ origin: { layer: 'built-in', where: '' }, rules, otherwise: BY_RISK }], grants: [] };
}

function microseconds(act: () => unknown): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    for (let count = 0; count < DECISIONS; count += 1) act();
    return ((performance.now() - start) / DECISIONS) * 1000;
  });
  return median(rounds);
}
