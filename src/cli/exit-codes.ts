/** Exit codes, documented in docs/cli.md. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  impossible: 4,
  invalidEvaluation: 5,
  interrupted: 130,
} as const;
