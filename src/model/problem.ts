import { isSkillError, printable, SkillError, sliceStart, type Problem } from '#core';

/** The failure of a single request to a model, before the retry logic handles it. `model/unavailable`: the server cannot be reached. */
export interface ModelProblem extends Problem<'model/failed' | 'model/unavailable'> {
  readonly status: number;
  readonly isRetryable: boolean;
  readonly retryAfterMs?: number;
}

export function modelProblem(message: string, facts: Partial<Omit<ModelProblem, 'message'>> = {}): ModelProblem {
  const hint = 'try again, or choose another model';
  return { code: 'model/failed', message, hint, status: 0, isRetryable: false, ...facts };
}

export function isModelProblem(problem: Problem): problem is ModelProblem {
  return 'isRetryable' in problem;
}

/** The problem that a caught error carries; undefined for every other error. */
export function findModelProblem(error: unknown): ModelProblem | undefined {
  const raised = isSkillError(error) ? error.raised : undefined;
  return raised !== undefined && isModelProblem(raised) ? raised : undefined;
}

const MAX_TEXT = 300;
/** Shorter strings are not treated as secrets, because they occur by chance. */
const MIN_SECRET = 6;

/** Removes keys from a text, also in their URL, header and JSON encodings. */
export type HideSecrets = (text: string) => string;

export function hideSecrets(secrets: readonly string[]): HideSecrets {
  const spellings = secrets
    .flatMap((secret) => [secret, secret.slice(secret.indexOf(' ') + 1)])
    .filter(({ length }) => length >= MIN_SECRET)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64'),
    ]);
  // Longest first, because a key may be part of another one.
  const longestFirst = [...new Set(spellings)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((rest, spelling) => rest.replaceAll(spelling, '[key]'), text);
}

/** Prints untrusted text on one line. Secrets are removed before truncation, which could leave half of one. */
export function shownWords(text: string, hide: HideSecrets = (same) => same): string {
  const words = printable(hide(text).replaceAll(/\s+/g, ' ').trim());
  return words.length > MAX_TEXT ? `${sliceStart(words, MAX_TEXT - 1)}…` : words;
}

/**
 * The error for the caller of a model. It has no `cause`, because errors of the libraries contain the request, and with it the
 * conversation and sometimes the key.
 */
export function modelError(
  model: string,
  problem: ModelProblem,
  { retries, hide }: { readonly retries: number; readonly hide: HideSecrets },
): SkillError {
  const tried = retries === 0 ? '' : ` (tried ${String(retries + 1)} times)`;
  const message = hide(`${model}: ${problem.message}${tried}`);
  const { code, hint, status, isRetryable } = problem;
  return code === 'model/unavailable'
    ? new SkillError({ code, message, hint, data: { model, reasons: [hide(problem.message)] } })
    : new SkillError({ code, message, hint, data: { model, status, isRetryable } });
}
