import { isObject, type RunResult, type Vocabulary } from '#core';

/** What the record keeps and a model does not need to go on. */
const RECORDED: ReadonlySet<string> = new Set([
  'duration_ms',
  'executor',
  'isolation',
  'stderr_digest',
  'stdout_digest',
  'timed_out',
]);

/** The vocabulary with results of programs that name only what says something: one line of output costs a dozen tokens. */
export function withBriefResults(vocabulary: Vocabulary): Vocabulary {
  return {
    ...vocabulary,
    tools: vocabulary.tools.map((row) =>
      row.action === 'run_script' || row.action === 'run_command'
        ? { ...row, toResult: (done, offer) => briefly(row.toResult(done, offer)) }
        : row,
    ),
  };
}

function briefly(result: unknown): unknown {
  if (!isObject(result)) return result;
  return Object.fromEntries(Object.entries(result).filter(([key, value]) => isNews(key, value, result)));
}

function isNews(key: string, value: unknown, { warnings }: Readonly<Record<string, unknown>>): boolean {
  if (key === 'stdout' || key === 'exit_code') return true;
  if (RECORDED.has(key) || value === undefined || value === '') return false;
  if (key === 'reason') return value !== ('exited' satisfies RunResult['reason']);
  // A reference to the whole output is of use only if less is shown.
  if (key === 'stdout_ref' || key === 'stderr_ref')
    return Array.isArray(warnings) && warnings.includes(`${key.slice(0, 6)} truncated`);
  return !Array.isArray(value) || value.length > 0;
}
