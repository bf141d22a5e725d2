import type { SkillErrorCode } from './errors.ts';

/** What an error means at the edges: the exit code of a command (docs/cli.md) and the status of an HTTP answer (docs/server.md). */
interface ErrorOutcome {
  readonly exit: 1 | 3 | 4;
  readonly status: number;
}

const INVALID = { exit: 1, status: 400 } as const;
const UNKNOWN = { exit: 1, status: 404 } as const;
const BROKEN = { exit: 1, status: 500 } as const;
/** This machine lacks what is needed. */
const IMPOSSIBLE = { exit: 4, status: 503 } as const;

const OUTCOMES: ReadonlyMap<string, ErrorOutcome> = new Map(
  Object.entries({
    'skill/unknown': UNKNOWN,
    'skill/invalid': INVALID,
    'root/unknown': INVALID,
    'config/invalid': INVALID,
    'input/invalid': INVALID,
    'io/failed': BROKEN,
    'io/exists': INVALID,
    'executor/unavailable': IMPOSSIBLE,
    'executor/failed': INVALID,
    'workspace/invalid': INVALID,
    'record/failed': BROKEN,
    'run/unknown': UNKNOWN,
    'policy/refused': { exit: 3, status: 403 },
    'model/unavailable': IMPOSSIBLE,
    'model/failed': INVALID,
    'package/missing': IMPOSSIBLE,
    'artifact/unknown': INVALID,
    'run/invalid': UNKNOWN,
    'run/resumed': { exit: 4, status: 400 },
  } satisfies Record<SkillErrorCode, ErrorOutcome>),
);

/** Codes that parts raise for themselves mean what `input/invalid` does. */
export function errorOutcome(code: string): ErrorOutcome {
  return OUTCOMES.get(code) ?? INVALID;
}
