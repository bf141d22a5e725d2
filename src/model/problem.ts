import { SkillError } from '../core/errors.ts';
import { printable } from '../core/text/text.ts';

/** What went wrong with one request to a model, before anybody decided whether to try again. */
export class ModelProblem extends Error {
  override readonly name = 'ModelProblem';
  readonly hint: string;
  /** Of HTTP; 0 where there was no answer. */
  readonly status: number;
  /** The same request may succeed later. */
  readonly isRetryable: boolean;
  /** Nobody is there to be asked, as opposed to somebody who gives no usable answer. */
  readonly isUnavailable: boolean;
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: Partial<Omit<ModelProblem, 'name' | 'message' | 'stack' | 'cause'>> = {}) {
    super(message);
    this.hint = facts.hint ?? 'try again, or name another model';
    this.status = facts.status ?? 0;
    this.isRetryable = facts.isRetryable ?? false;
    this.isUnavailable = facts.isUnavailable ?? false;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** Of a server's own words. */
const MAX_TEXT = 300;
/** Shorter than this nothing is a key, and would be found by chance. */
const MIN_SECRET = 6;

/** Takes keys out of a text, in the spellings that a URL, a header and JSON have for them. */
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
  // The longest first: a key may be a part of another one.
  const wanted = [...new Set(spellings)].sort((a, b) => b.length - a.length);
  return (text) => wanted.reduce((rest, spelling) => rest.replaceAll(spelling, '[key]'), text);
}

/** A stranger's words on one line. Secrets go first: a cut could leave the half of one. */
export function shownWords(text: string, hide: HideSecrets = (same) => same): string {
  const words = printable(hide(text).replaceAll(/\s+/g, ' ').trim());
  return words.length > MAX_TEXT ? `${words.slice(0, MAX_TEXT - 1)}…` : words;
}

/**
 * What the caller of a model is told. It has no `cause`: the errors of libraries hold the request, and with it the conversation and
 * sometimes the key.
 */
export function modelError(
  model: string,
  problem: ModelProblem,
  { retries, hide }: { readonly retries: number; readonly hide: HideSecrets },
): SkillError {
  const tried = retries === 0 ? '' : ` (tried ${String(retries + 1)} times)`;
  const message = hide(`${model}: ${problem.message}${tried}`);
  const { hint, status, isRetryable } = problem;
  return problem.isUnavailable
    ? new SkillError({ code: 'model/unavailable', message, hint, data: { model, reasons: [hide(problem.message)] } })
    : new SkillError({ code: 'model/failed', message, hint, data: { model, status, isRetryable } });
}
